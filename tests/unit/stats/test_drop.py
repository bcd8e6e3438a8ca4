"""The drop from random to found sequences, and that of gaps to joint training."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqsearch.stats.drop import ImageShares, drop, gap_difference


def replace_found(images, more):
    """With as much more accuracy of the found sequence with the first seed."""
    found = images.found.copy()
    found[0, 0] += more / found.shape[2]
    return ImageShares(found, images.random, images.classes)


def shares(weights, right):
    """``[S, R, I]`` of sequences that hold some images (``weights [S, I]``), of which some were ``right [S, R, I]``."""
    return weights[:, None] * right


def test_by_hand():
    d = drop([[0.4, 0.5]], [[0.8, 0.9], [0.6, 0.7], [0.7, 0.8]])
    assert (d.found, d.random) == pytest.approx((0.45, 0.75))
    assert (d.absolute.value, d.relative.value) == pytest.approx((0.3, 0.4))
    assert (d.over_searches, d.over_seeds, d.these_images) == (False, False, True)
    assert (d.found_sequences, d.random_sequences, d.seeds) == (1, 3, 2)
    assert d.variances == pytest.approx({"random sequences": 0.01 / 3})  # of .85, .65 and .75
    half = 12.7062 * math.sqrt(0.01 / 3)  # one degree of freedom
    assert (d.absolute.low, d.absolute.high) == pytest.approx((0.3 - half, 0.3 + half), rel=1e-4)
    assert d.conditional == d.relative


def test_parts_by_hand_each_with_its_own_quantile():
    """Three searches, five random sequences, three seeds on both sides."""
    found = np.array([[0.4, 0.42, 0.44], [0.5, 0.56, 0.56], [0.45, 0.45, 0.48]])
    random = np.repeat([[0.7], [0.8], [0.9], [0.8], [0.8]], 3, axis=1)
    d = drop(found, random)
    expected = {
        "found sequences": np.var(found.mean(axis=1), ddof=1) / 3,
        "random sequences": np.var(random[:, 0], ddof=1) / 5,
        "training seeds": np.var(0.8 - found.mean(axis=0), ddof=1) / 3,
    }
    assert d.variances == pytest.approx(expected)
    t = {"found sequences": 4.30265, "random sequences": 4.30265, "training seeds": 4.30265}
    squares = {name: t[name] ** 2 * variance for name, variance in expected.items()}
    assert d.absolute.half_width == pytest.approx(np.sqrt(sum(squares.values())), rel=1e-4)
    assert sum(d.shares.values()) == pytest.approx(1)
    narrow = 4.30265 * math.sqrt((d.found / d.random**2) ** 2 * expected["random sequences"])
    assert d.conditional.half_width == pytest.approx(narrow, rel=1e-4), "of these searches and trainings alone"


@pytest.mark.parametrize(("R", "share"), [(3, 2 / 3), (5, 4 / 5)])
def test_random_sequences_with_the_first_seed_alone(R, share):
    """What seeds do to all sequences alike does not cancel then: at worst all that varies from seed to seed is of that kind."""
    found = 0.4 + np.linspace(-0.05, 0.05, R)[None]
    d = drop(found, np.array([[0.7], [0.8], [0.75], [0.8]]))
    assert d.variances["training seeds"] == pytest.approx(share * np.var(found, ddof=1))
    assert (d.found, d.random) == pytest.approx((0.4, 0.7625))


def test_seeds_that_move_all_sequences_alike_say_nothing():
    lift = np.array([-0.2, 0.0, 0.1, 0.3])
    d = drop(0.4 + lift[None], np.array([[0.55], [0.6], [0.65]]) + lift[None])
    assert d.variances == pytest.approx({"random sequences": 0.05**2 / 3, "training seeds": 0.0})


@given(st.integers(0, 1000), st.integers(1, 4), st.integers(1, 4), st.integers(3, 6))
def test_more_data_never_take_a_statement_away(seed, F, R, L):
    """A further search, seed or random sequence: the conditional statement stays, and so does every part it was over."""
    rng = np.random.default_rng(seed)
    found, random = 0.4 + rng.normal(0, 0.02, (F + 1, R + 1)), 0.8 + rng.normal(0, 0.02, (L + 1, 1))
    one = drop(found[:F, :R], random[:L])
    assert np.isfinite([one.conditional.low, one.relative.low]).all()
    for more in (drop(found[:, :R], random[:L]), drop(found[:F], random[:L]), drop(found[:F, :R], random)):
        assert np.isfinite([more.conditional.low, more.relative.low]).all()
        assert set(one.variances) <= set(more.variances)


@pytest.mark.parametrize(
    ("found", "random", "unavailable_because"),
    [
        ([[0.4, 0.5]], [[0.8], [0.7]], "too few random sequences, 1 more needed"),
        ([[1.0, 1.0]], [[0.8], [0.7], [0.6]], "all images of one side are right, or all are wrong: more test images"),
        ([[0.4, 0.5]], [[0.0], [0.0], [0.0]], "all images of one side are right, or all are wrong: more test images"),
        ([[0.4, 0.4]], [[0.7], [0.7], [0.7]], "the random sequences score alike"),
        ([[0.4]], [[0.8], [0.7], [0.6]], ""),
        ([[0.4, 0.4], [0.3, 0.5], [0.5, 0.3]], [[0.8], [0.7], [0.6]], ""),
        ([[0.4, 0.5]], [[0.8, 0.8], [0.7, 0.7], [0.6, 0.6]], ""),
    ],
)
def test_too_little_data_is_named_and_has_no_interval(found, random, unavailable_because):
    d = drop(found, random)
    assert d.unavailable_because.startswith(unavailable_because)
    assert not d.nothing_differs
    assert np.isnan(d.absolute.low) == np.isnan(d.relative.high) == bool(unavailable_because)


def test_rounding_is_no_difference():
    equal = drop([[0.9 * 1.08, 0.972]], [[0.972, 0.972 + 4e-16], [0.972, 0.972]])
    assert equal.nothing_differs
    assert np.isnan(equal.absolute.low)
    assert (equal.variances, equal.shares, equal.unavailable_because) == ({}, {}, "")
    assert not drop([[0.97, 0.97]], [[0.972, 0.972]] * 2).nothing_differs
    assert not drop([[0.97, 0.974]], [[0.972, 0.972]] * 2).nothing_differs  # the means alone agree


def test_a_random_accuracy_of_zero_has_no_relative_drop():
    d = drop([[0.0, 0.0]], [[0.0, 0.0]] * 3)
    assert d.absolute.value == 0
    assert np.isnan(d.relative.value)
    assert np.isnan(d.relative.low)


def test_what_does_not_pair_is_refused():
    with pytest.raises(ValueError, match="the training seeds of found"):
        drop(np.zeros((1, 2)), np.zeros((3, 4)))
    with pytest.raises(ValueError, match="finite"):
        drop([[np.nan]], [[0.5]])
    f, r = np.full((1, 2), 0.5), np.full((3, 2), 0.5)
    half = np.tile([1 / 12, 0], 6)
    images = ImageShares(np.tile(half, (1, 2, 1)), np.tile(half, (3, 2, 1)), np.repeat([0, 1], 6))
    assert drop(f + np.array([[0.01, 0]]), r, replace_found(images, 0.01)).unavailable_because.startswith(
        "the random sequences score alike"
    )
    with pytest.raises(ValueError, match="add up"):
        drop(f + 0.1, r, images)
    with pytest.raises(ValueError, match="do not pair"):
        drop(f, r, ImageShares(images.found, images.random, np.zeros(3, dtype=int)))


def test_one_image_of_a_class_leaves_the_interval_to_these_images():
    images = replace_found(ImageShares(np.full((1, 2, 3), 0.1), np.full((3, 2, 3), 0.1), np.array([0, 0, 1])), 0.1)
    assert drop([[0.4, 0.3]], np.full((3, 2), 0.3), images).these_images


@given(st.integers(0, 10_000), st.integers(1, 3), st.integers(3, 5), st.integers(1, 3))
def test_neither_order_nor_scale_of_anything_matters(seed, F, L, R):
    """Sequences, seeds and images may be told in any order; half the accuracies have half the drop, and half its interval."""
    rng = np.random.default_rng(seed)
    classes = np.repeat(np.arange(4), 3)
    held = rng.random((F + L, 4)).argsort(axis=1) < 2
    every = shares(held[:, classes] / 6, rng.random((F + L, R, 12)) < 0.6)
    f, r = every[:F], every[F:]
    one = drop(f.sum(2), r.sum(2), ImageShares(f, r, classes))
    p, q, s, i = (rng.permutation(n) for n in (F, L, R, 12))
    g, h = f[p][:, s][..., i], r[q][:, s][..., i]
    other = drop(g.sum(2), h.sum(2), ImageShares(g, h, classes[i]))
    half = drop(f.sum(2) / 2, r.sum(2) / 2, ImageShares(f / 2, r / 2, classes))
    for a, b, times in ((one, other, 1), (one, half, 2)):
        if a.unavailable_because or b.unavailable_because:  # half of few right ones are fewer
            continue
        assert a.absolute.value == pytest.approx(times * b.absolute.value, abs=1e-12)
        assert a.absolute.half_width == pytest.approx(times * b.absolute.half_width, abs=1e-9, nan_ok=True)
        assert a.relative.half_width == pytest.approx(b.relative.half_width, abs=1e-9, nan_ok=True)


@pytest.mark.parametrize(("R", "Q"), [(1, 1), (2, 1), (2, 2)])
def test_noise_of_few_test_images_is_estimated_without_bias(R, Q):
    """Two images a class, fresh in every repetition; the found sequence and the random ones hold different classes."""
    rng, classes = np.random.default_rng(0), np.repeat(np.arange(20), 2)
    random = ([0] * 6 + [1] * 6 + [0] * 6, [0] * 12 + [1] * 6, [0] * 3 + [1] * 6 + [0] * 9)
    weights = np.array([[1] * 8 + [0] * 12, *([1, 1, *held] for held in random)])[:, classes] / 16
    drops, variances = [], []
    for _ in range(800):
        hard = rng.normal(0, 0.3, 40)
        every = shares(weights, 0.5 + hard + rng.normal(0, 0.1, (4, R, 40)))
        found, drawn = every[:1], every[1:, :Q]
        d = drop(found.sum(2), drawn.sum(2), ImageShares(found, drawn, classes))
        drops.append(d.absolute.value)
        variances.append(sum(d.variances.values()))
    assert np.mean(variances) == pytest.approx(np.var(drops), rel=0.15)


@pytest.mark.parametrize(("wrong", "unavailable_because"), [(4, True), (5, False)])
def test_a_handful_of_errors_says_nothing_of_how_they_vary(wrong, unavailable_because):
    """One found sequence of 20 images and two seeds; ``wrong`` of its 40 evaluations are wrong."""
    rng = np.random.default_rng(0)
    right = np.ones(40)
    right[:wrong] = 0
    found, random = right.reshape(1, 2, 20) / 20, (rng.random((4, 2, 20)) < 0.8) / 20
    d = drop(found.sum(2), random.sum(2), ImageShares(found, random, np.repeat(np.arange(4), 5)))
    assert (
        d.unavailable_because.startswith("fewer than 5 test images of the found sequences were right")
        == unavailable_because
    )
    assert np.isnan(d.absolute.low) == unavailable_because


def test_images_that_are_wrong_with_every_seed_count_once():
    """A method that draws nothing: further seeds say nothing more of how images vary."""
    rng = np.random.default_rng(0)
    for R in (2, 20):
        found = np.repeat((np.arange(20) > 2)[None, None], R, axis=1) / 20
        random = np.repeat(rng.random((4, 1, 20)) < 0.8, R, axis=1) / 20
        d = drop(found.sum(2), random.sum(2), ImageShares(found, random, np.repeat(np.arange(4), 5)))
        assert d.unavailable_because.startswith("fewer than 5 test images of the found sequences were right"), R


def test_where_nothing_differs_with_the_seeds_that_both_sides_have_there_is_no_drop():
    """Random sequences have the first seed alone; the found one varies with the others."""
    d = drop([[0.8, 0.81, 0.82]], [[0.8]] * 19)
    assert d.nothing_differs
    assert (d.absolute.value, d.relative.value, d.conditional.value) == (0, 0, 0)


CLASSES = np.repeat(np.arange(4), 5)
FOUND = np.array([[0.4, 0.42, 0.44]])
RANDOM = np.array([[0.7], [0.8], [0.75], [0.9]])


def test_the_gap_by_hand():
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
