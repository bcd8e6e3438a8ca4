"""What the parts of a variance share: covariances by test images, and how many images are right, or wrong."""

import numpy as np
import pytest

from seqsearch.distribution.held_out import held_out
from seqsearch.distribution.parts import image_covariances, own, rarer

SQUARE = np.array([[4.0, 1.0, 2.0], [1.0, 5.0, 3.0], [2.0, 3.0, 6.0]])


def test_of_several_sequences_different_ones_count_and_one_by_itself():
    assert own(SQUARE) == pytest.approx(2)
    assert own(SQUARE[:1, :1]) == 4
    assert own(SQUARE, undrawn=0.0) == pytest.approx(SQUARE.mean()), "all of them are there: none stands for others"
    assert own(SQUARE, undrawn=0.5) == pytest.approx((2 + SQUARE.mean()) / 2)


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
    assert rarer(np.full((1, 2, 10), 0.07), classes) == pytest.approx(6), "shares of no single images: of 20 judgements"
    some = np.ones((1, 2, 10)) * ([0.5] + [1] * 9)  # a mean over two methods, of which one is wrong
    assert rarer(some / 10, classes) == 1


def test_the_part_of_images_in_what_being_searched_for_costs_is_their_variance_within_classes():
    rng = np.random.default_rng(0)
    a, classes = rng.random((2, 3, 3, 2)), np.repeat([0, 1], [4, 6])
    value = held_out(a).difference.value
    shares = rng.normal(size=10)
    shares += (value - shares.sum()) / 10
    by_hand = 4 * shares[:4].var(ddof=1) + 6 * shares[4:].var(ddof=1)
    found = held_out(a, shares, classes)
    assert found.parts == ("searches", "training seeds", "test images")
    assert image_covariances(shares[None, None], classes)[0][0, 0] == pytest.approx(by_hand)
    alone = held_out(a).difference.half_width
    assert found.difference.half_width**2 - alone**2 == pytest.approx(2.306004**2 * by_hand, rel=1e-5)
