"""The difference of gaps to joint training: by hand, free of what joint training loses as well, and covered."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqsearch.distribution.drop import ImageShares, drop
from seqsearch.distribution.gap import gap_difference

CLASSES = np.repeat(np.arange(4), 5)
FOUND = np.array([[0.4, 0.42, 0.44]])
RANDOM = np.array([[0.7], [0.8], [0.75], [0.9]])


def test_by_hand():
    """Joint training is right in .9 on all found and .95 on all random sequences."""
    g = gap_difference((np.full((1, 3), 0.9), FOUND), (np.full((4, 1), 0.95), RANDOM))
    assert (g.joint_found, g.joint_random, g.found, g.random) == pytest.approx((0.9, 0.95, 0.48, 0.95 - 0.7875))
    assert g.difference.value == pytest.approx(0.48 - 0.1625)
    assert g.variances == pytest.approx(
        {"random sequences": np.var(RANDOM, ddof=1) / 4, "training seeds": np.var(FOUND, ddof=1) * 2 / 3}
    )
    assert (g.unavailable_because, g.nothing_differs, g.these_images) == ("", False, True)
    assert g.conditional.low > g.difference.low, "without other training seeds"


def test_it_is_the_drop_where_joint_training_is_never_wrong():
    """Its intervals then are those of the drop of final accuracy."""
    g, d = gap_difference((FOUND * 0 + 1, FOUND), (RANDOM * 0 + 1, RANDOM)), drop(FOUND, RANDOM)
    assert (g.difference.value, g.difference.low, g.difference.high) == pytest.approx(
        (d.absolute.value, d.absolute.low, d.absolute.high)
    )


def images(rng, n, seeds):
    return (rng.random((n, seeds, len(CLASSES))) < 0.5) / len(CLASSES)


@given(st.integers(0, 2**32 - 1), st.floats(-0.3, 0.3), st.floats(-0.3, 0.3))
def test_what_joint_and_final_accuracy_lose_alike_leaves_the_difference_where_it_is(seed, of_found, of_random):
    rng = np.random.default_rng(seed)
    joint, final = ((images(rng, 1, 3), images(rng, 5, 1)) for _ in range(2))
    shares = ImageShares(joint[0] - final[0], joint[1] - final[1], CLASSES)
    (jf, jr), (af, ar) = ([side.sum(axis=2) for side in sides] for sides in (joint, final))
    g = gap_difference((jf, af), (jr, ar), shares)
    moved = gap_difference((jf + of_found, af + of_found), (jr + of_random, ar + of_random), shares)
    assert moved.difference.value == pytest.approx(g.difference.value, abs=1e-12)
    assert (moved.difference.low, moved.difference.high) == pytest.approx(
        (g.difference.low, g.difference.high), nan_ok=True
    )
    alone = gap_difference((af + of_found, af), (ar + of_found, ar))
    assert (alone.difference.value, alone.nothing_differs) == (0, True), (
        "harder by the same for both: no difference at all"
    )


def test_few_images_of_different_answers_give_no_interval():
    """Joint training and the method disagree on one image of the found sequence."""
    rng = np.random.default_rng(0)
    final = images(rng, 1, 2)
    joint = final.copy()
    joint[..., 0] = 1 / len(CLASSES) - joint[..., 0]
    random = [images(rng, 5, 1) for _ in range(2)]
    shares = ImageShares(joint - final, random[0] - random[1], CLASSES)
    g = gap_difference((joint.sum(2), final.sum(2)), (random[0].sum(2), random[1].sum(2)), shares)
    assert g.unavailable_because.startswith("joint training and the method disagree on fewer than 5 images")
    assert math.isnan(g.difference.low)
    assert not g.nothing_differs
    few = gap_difference((joint.sum(2), final.sum(2)), (random[0].sum(2)[:2], random[1].sum(2)[:2]))
    assert few.unavailable_because == "too few random sequences, 1 more needed"


def test_the_same_gap_on_one_side_and_the_other_is_no_variation():
    g = gap_difference(([[0.9]], [[0.5]]), ([[0.9]] * 3, [[0.6]] * 3))
    assert g.unavailable_because.startswith("the random sequences score alike")


def test_shapes_that_do_not_pair():
    with pytest.raises(ValueError, match="joint training"):
        gap_difference(([[0.9]], [[0.5, 0.5]]), ([[0.9]], [[0.6]]))
    with pytest.raises(ValueError, match="first of them"):
        gap_difference(([[0.9]], [[0.5]]), ([[0.9, 0.9]], [[0.6, 0.7]]))
