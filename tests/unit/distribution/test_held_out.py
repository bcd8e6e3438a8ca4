"""What being searched for costs a method: by hand, free of level and difficulty, and covered by its interval."""

import math

import numpy as np
import pytest

from seqsearch.distribution.held_out import held_out


def drawn(rng, S, M, R, cost=0.02, kind="normal", interaction=0.02):
    """Accuracies ``[S, M, M, R]`` with levels of methods, difficulties of sequences, and both together."""
    draw = {"normal": rng.standard_normal, "skew": lambda size: rng.exponential(size=size) - 1}[kind]
    a = 0.6 + 0.1 * draw((1, 1, M, 1)) + 0.1 * draw((S, M, 1, 1)) + 0.01 * draw((S, M, M, R))
    a = a + cost * np.eye(M)[None, :, :, None]
    own = interaction * draw((S, M, M, 1))
    return a + own, own


def test_by_hand():
    a = np.array([[[0.9, 0.5, 0.3], [0.7, 0.8, 0.4], [0.6, 0.4, 0.6]]])[..., None] + np.zeros(3)
    a[..., 1] += 0.015 * np.eye(3)
    h = held_out(a)
    by_method = [0.9 - 0.65 + 0.005, 0.8 - 0.45 + 0.005, 0.6 - 0.35 + 0.005]
    assert h.by_method == pytest.approx(by_method)
    assert h.difference.value == pytest.approx(np.mean(by_method))
    assert h.parts == ("training seeds",)
    assert h.difference.half_width == pytest.approx(
        4.30265 * 0.005, rel=1e-3
    )  # t of 2 degrees, sd .015 / sqrt(3) / sqrt(3)


def test_how_good_methods_and_how_hard_sequences_are_cancels():
    rng = np.random.default_rng(0)
    a, _ = drawn(rng, 2, 4, 3)
    other = a + rng.normal(size=(1, 1, 4, 1)) + rng.normal(size=(2, 4, 1, 1))
    one, two = held_out(a), held_out(other)
    assert one.difference.value == pytest.approx(two.difference.value)
    assert one.difference.low == pytest.approx(two.difference.low)
    assert one.by_method != pytest.approx(two.by_method)


@pytest.mark.parametrize("kind", ["normal", "skew"])
@pytest.mark.parametrize(("S", "M", "R"), [(1, 3, 3), (1, 6, 3), (2, 3, 3), (3, 4, 1), (3, 3, 2), (5, 3, 1)])
def test_intervals_cover(S, M, R, kind):
    """With one search of each group, or two: given these sequences."""
    rng, hits, n = np.random.default_rng(1), 0, 400
    for _ in range(n):
        a, own = drawn(rng, S, M, R, kind=kind)
        given = held_out(own).difference.value if S < 3 else 0.0
        d = held_out(a).difference
        hits += d.low <= 0.02 + given <= d.high
    assert hits / n >= 0.915, "95 %, less three standard errors"


def test_with_the_test_images_intervals_cover_their_draw():
    """Three sequences of a class each, images right by chance around each method's share; training turns 2 % over."""
    rng, M, n, flip, found = np.random.default_rng(2), 3, 12, 0.02, []
    share = rng.uniform(0.3, 0.9, (M, M))
    weights = (np.eye(M) * M - 1) / (M * (M - 1))
    true = (1 - 2 * flip) * float((weights * share).sum())
    for _ in range(300):
        right = (rng.random((M, 1, n)) < share[..., None])[..., None] ^ (rng.random((M, M, n, 3)) < flip)
        images = (weights[..., None, None] * right).sum(axis=1) / n
        a, classes = right.mean(axis=2)[None], np.repeat(np.arange(M), n)
        h, alone = held_out(a, images.reshape(1, M * n, 3).swapaxes(1, 2), classes), held_out(a)
        if not h.unavailable_because:
            assert h.parts == ("training seeds", "test images")
            found.append([d.low <= true <= d.high for d in (h.difference, alone.difference)])
    covered = np.mean(found, axis=0)
    assert len(found) > 200
    assert covered[0] >= 0.93
    assert covered[1] < covered[0], "without them it speaks of these images only"


def test_what_cannot_be_said_is_not_said():
    a, _ = drawn(np.random.default_rng(0), 1, 3, 1)
    h = held_out(a)
    assert h.unavailable_because == "too few training seeds, 2 more needed"
    assert math.isnan(h.difference.low)
    assert math.isfinite(h.difference.value)
    assert "nothing varies" in held_out(np.repeat(a, 3, axis=3)).unavailable_because, "no seed differs from another"
    assert h.parts == ()


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (np.full((1, 2, 2, 2), 0.5), "3 methods or more"),
        (np.full((1, 3, 4, 2), 0.5), "methods"),
        (np.full((1, 3, 3, 2), np.nan), "finite"),
        (np.full((3, 3), 0.5), "dimensions"),
    ],
)
def test_other_shapes_are_refused(values, said):
    with pytest.raises(ValueError, match=said):
        held_out(values)


def test_images_that_are_not_those_of_the_accuracies_are_refused():
    a, _ = drawn(np.random.default_rng(0), 1, 3, 2)
    with pytest.raises(ValueError, match="do not add up"):
        held_out(a, np.ones((1, 2, 4)), np.array([0, 0, 1, 1]))


def test_where_nothing_differs_that_is_the_reason():
    h = held_out(np.full((1, 3, 3, 3), 0.7))
    assert h.unavailable_because == "held-out and searched accuracies are equal with every training seed"
    assert (h.difference.value, h.parts) == (0, ())
