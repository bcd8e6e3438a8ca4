from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from seqsearch.distribution.drop import ImageShares
from seqsearch.distribution.images import centred, mean_products
from seqsearch.distribution.mean import mean_interval
from seqsearch.distribution.mean_difference import mean_accuracy, mean_difference

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
    assert "fewer than 5 images" in mean_accuracy(images.found.sum(axis=2), images).unavailable_because
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
