"""Differences of sets of sequences, and of held-out and searched methods, under common seeds."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from seqsearch.stats.contrast import centred, mean_products
from seqsearch.stats.difference import FEWEST_SEEDS, held_out, mean_accuracy, mean_difference, paired_difference
from seqsearch.stats.drop import ImageShares
from seqsearch.stats.mean import mean_interval

A, B = np.array([[0.50, 0.54, 0.55]]), np.array([[0.60, 0.62, 0.67]])


def shares(right: np.ndarray) -> np.ndarray:
    """``[S, R, I]`` from which images were right."""
    return right / right.shape[2]


def test_of_two_sequences_it_is_the_paired_t_interval() -> None:
    found = mean_difference(B, A)
    low, high = stats.ttest_rel(B[0], A[0]).confidence_interval()
    assert (found.value.value, found.value.low, found.value.high) == pytest.approx((0.1, low, high))
    assert (found.sequences, found.seeds, found.these_images, found.unavailable_because) == ((1, 1), 3, True, "")


def test_a_mean_has_a_part_for_sequences_seeds_and_images() -> None:
    rng = np.random.default_rng(1)
    right = rng.random((4, 3, 40)) < 0.6
    images = ImageShares(shares(right), shares(right[:0]), np.repeat(np.arange(8), 5))
    values = images.found.sum(axis=2)
    without, with_images = mean_accuracy(values), mean_accuracy(values, images)
    assert without.these_images
    assert not with_images.these_images
    assert with_images.value.half_width >= without.value.half_width
    seeds = stats.t.ppf(0.975, 2) * values.mean(axis=0).std(ddof=1) / math.sqrt(3)
    assert without.value == mean_interval(values.mean(axis=1), shared=seeds)


def test_two_sequences_are_no_draw_and_the_interval_is_of_these_two() -> None:
    values = np.array([[0.50, 0.54, 0.55], [0.60, 0.62, 0.67]])
    two, three = mean_accuracy(values), mean_accuracy([*values, [0.40, 0.43, 0.45]])
    assert (two.fixed, three.fixed, mean_difference(B, A).fixed) == (2, 0, 1)
    seeds = stats.t.ppf(0.975, 2) * values.mean(axis=0).std(ddof=1) / math.sqrt(3)
    assert two.value.half_width == pytest.approx(seeds)
    assert three.value.half_width > two.value.half_width
    assert mean_accuracy(values[:, :2]).unavailable_because == "too few training seeds, 1 more needed"
    rng = np.random.default_rng(1)
    right = rng.random((2, 3, 40)) < rng.random(40)  # images are easy or hard for all
    images = ImageShares(shares(right), shares(right[:0]), np.repeat(np.arange(8), 5))
    about = centred(images.found, images.classes)
    between = mean_products(about, about, apart=True)
    value = mean_accuracy(images.found.sum(axis=2), images).value
    seeds = stats.t.ppf(0.975, 2) * images.found.sum(axis=2).mean(axis=0).std(ddof=1) / math.sqrt(3)
    assert value.half_width == pytest.approx(math.hypot(seeds, stats.t.ppf(0.975, 32) * math.sqrt(between.mean())))


def test_without_noise_of_training_the_images_still_vary() -> None:
    right = np.repeat(np.random.default_rng(2).random((1, 1, 40)) < 0.6, 3, axis=1)
    images = ImageShares(shares(right), shares(right[:0]), np.repeat(np.arange(8), 5))
    assert mean_accuracy(images.found.sum(axis=2)).unavailable_because.startswith("nothing varies")
    assert mean_accuracy(images.found.sum(axis=2), images).value.half_width > 0.05


@pytest.mark.parametrize(
    ("a", "b", "why"),
    [
        (A[:, :1], B[:, :1], "too few training seeds, 2 more needed"),
        (A, A + 0.1, "nothing varies"),
    ],
)
def test_where_no_variance_can_be_seen_there_is_no_interval(a: np.ndarray, b: np.ndarray, why: str) -> None:
    found = mean_difference(b, a)
    assert math.isnan(found.value.low)
    assert math.isfinite(found.value.value)
    assert why in found.unavailable_because


def test_few_wrong_images_say_nothing() -> None:
    right = np.ones((1, 2, 40), dtype=bool)
    right[0, 0, 3] = False
    images = ImageShares(shares(right), shares(right[:0]), np.repeat(np.arange(8), 5))
    assert "fewer than 5 test images" in mean_accuracy(images.found.sum(axis=2), images).unavailable_because
    with pytest.raises(ValueError, match="do not add up"):
        mean_accuracy([[0.1, 0.2]], images)
    with pytest.raises(ValueError, match="share training seeds"):
        mean_difference(A, B[:, :2])


def test_random_sequences_count_with_fewer_degrees_of_freedom() -> None:
    rng = np.random.default_rng(3)
    first, second = rng.normal(0.6, 0.05, (5, 1)), rng.normal(0.6, 0.05, (7, 1))
    variances = np.array([first.var(ddof=1) / 5, second.var(ddof=1) / 7])
    for searched, degrees in ((True, (4, 6)), (False, (2, 2.5))):
        t = stats.t.ppf(0.975, degrees)
        width = mean_difference(first, second, searched=searched).value.half_width
        assert width == pytest.approx(math.sqrt(np.sum(t**2 * variances)))


def test_where_nothing_differs_that_is_the_reason() -> None:
    assert mean_difference(A, A).unavailable_because == "nothing differs with any training seed"
    three = np.repeat(A, 3, axis=0)
    assert mean_accuracy(three).fixed == 3, "three searches that found sequences of one accuracy"
    assert math.isfinite(mean_accuracy(three).value.low)


def test_what_a_seed_does_to_all_cancels() -> None:
    draws = np.random.default_rng(0)
    a, b, seed = draws.normal(0.6, 0.01, (2, 6)), draws.normal(0.7, 0.01, (3, 6)), draws.normal(0, 0.05, 6)
    alone, moved = paired_difference(a, b), paired_difference(a + seed, b + seed)
    assert (moved.value, moved.low, moved.high) == pytest.approx((alone.value, alone.low, alone.high))
    assert alone.value == pytest.approx(a.mean() - b.mean())
    assert alone.high < 0


def test_what_is_not_known_is_not_said() -> None:
    draws = np.random.default_rng(0).normal(0.6, 0.01, (2, 3, FEWEST_SEEDS))
    assert np.isfinite(paired_difference(*draws).low)
    assert np.isnan(paired_difference(*draws[:, :, 1:]).low)
    assert np.isnan(paired_difference(draws[0], draws[0] - 0.1).low)  # with every seed alike
    with pytest.raises(ValueError, match="share their seeds"):
        paired_difference(draws[0], draws[1][:, 1:])


@pytest.mark.parametrize("kind", ["normal", "lognormal"])
@pytest.mark.parametrize("seeds", [5, 8])
def test_bounds_hold_for_noise_of_one_side_that_is_skewed(kind: str, seeds: int) -> None:
    draws, runs, misses = np.random.default_rng(seeds), 300, 0
    for _ in range(runs):
        z = draws.normal(size=(1, seeds))
        noise = z if kind == "normal" else np.exp(0.5) - np.exp(z)
        i = paired_difference(np.clip(0.7 + 0.02 * noise, 0, 1), np.full((1, seeds), 0.7))
        misses += not i.low <= 0 <= i.high
    assert misses <= stats.binom.ppf(0.999, runs, 0.07)


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


def test_held_out_and_searched_that_agree_have_that_as_the_reason():
    h = held_out(np.full((1, 3, 3, 3), 0.7))
    assert h.unavailable_because == "held-out and searched accuracies are equal with every training seed"
    assert (h.difference.value, h.parts) == (0, ())
