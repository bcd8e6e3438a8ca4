"""Test images: what they add to the variance of a sum of means, and how many of them are right, or wrong."""

import math

import numpy as np
import pytest

from seqsearch.distribution.contrast import Stratum
from seqsearch.distribution.images import centred, image_part, mean_products, rarer

CLASSES = np.repeat([0, 1], [4, 6])


def stratum(images, population=math.inf):
    return Stratum("x", images.sum(axis=2), images, population)


def test_of_these_trainings_it_is_the_variance_of_their_mean_within_classes():
    shares = np.random.default_rng(0).normal(size=(2, 3, 10))
    mean = shares.mean(axis=(0, 1))
    by_hand = 4 * mean[:4].var(ddof=1) + 6 * mean[4:].var(ddof=1)
    variance, degrees = image_part([(1.0, stratum(shares, 2))], CLASSES, over_seeds=False)
    assert (variance, degrees) == (pytest.approx(by_hand), 8)


@pytest.mark.parametrize("population", [3.0, 6.0, math.inf])
def test_of_a_draw_different_sequences_count_and_different_seeds(population):
    shares = np.random.default_rng(0).normal(size=(3, 2, 10)) + np.random.default_rng(1).normal(size=10)
    x = centred(shares, CLASSES)
    square = (np.einsum("ai,bi->ab", x[:, 0], x[:, 1]) + np.einsum("ai,bi->ab", x[:, 1], x[:, 0])) / 2
    different = (square.sum() - np.trace(square)) / 6
    drawn = 1 - 3 / population
    variance, _ = image_part([(2.0, stratum(shares, population))], CLASSES, over_seeds=True)
    assert variance == pytest.approx(4 * (drawn * different + (1 - drawn) * square.mean()))


def test_images_that_two_sides_share_cancel_and_seeds_that_one_lacks_are_others():
    shares = np.random.default_rng(0).normal(size=(1, 3, 10))
    both = [(1.0, stratum(shares, 1)), (-1.0, stratum(shares[:, :1].repeat(3, axis=1), 1))]
    same = [(1.0, stratum(shares, 1)), (-1.0, stratum(shares, 1))]
    assert image_part(same, CLASSES, over_seeds=False)[0] == pytest.approx(0)
    assert image_part(both, CLASSES, over_seeds=False)[0] > 0
    x = centred(shares, CLASSES)
    assert mean_products(x, x[:, :1], apart=True)[0, 0] == pytest.approx(x[0, 1:].mean(axis=0) @ x[0, 0])


def test_a_class_of_one_image_leaves_it_out():
    assert image_part([(1.0, stratum(np.ones((1, 1, 3)), 1))], np.array([0, 0, 1]), over_seeds=False) is None


def test_the_rarer_of_right_and_wrong_is_counted_by_images():
    classes, right = np.repeat([0, 1], 5), np.ones((1, 3, 10))
    assert rarer(right / 10, classes) == 0
    right[0, :, 2] = 0
    assert rarer(right / 10, classes) == 1, "the same image with three seeds"
    right[0, 1, 7] = right[0, 2, 8] = 0
    assert rarer(right / 10, classes) == 3
    assert rarer(right * ([0.05] * 5 + [0.15] * 5), classes) == 3, "classes of smaller tasks"
    assert rarer((1 - right) / 10, classes) == 3
    right[0, :, 5:] = 0
    assert rarer(right / 10, classes) == 1, "of a class without a right one nothing is known: perhaps it is not held"
    two = np.concatenate([np.ones((1, 2, 10)), np.ones((1, 2, 10)) * ([0] * 4 + [1] * 6)])
    assert rarer(two / 10, classes) == 2, "of two sequences the mean"
    assert rarer(np.full((1, 2, 10), 0.07), classes) == pytest.approx(6), (
        "shares of no single images: of 20 evaluations"
    )
    some = np.ones((1, 2, 10)) * ([0.5] + [1] * 9)  # a mean over two methods, of which one is wrong
    assert rarer(some / 10, classes) == 1
