"""Accuracy figures from matrices and from counts by class."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, balanced_accuracy_score

from seqsearch.core.errors import UserError
from seqsearch.stats import accuracy
from seqsearch.stats import accuracy as metrics

NAN = np.nan
A = np.array([[0.9, NAN, NAN], [0.7, 0.8, NAN], [0.4, 0.6, 1.0]])


def test_figures_by_hand():
    assert accuracy.acc(A) == pytest.approx(2.0 / 3)
    assert accuracy.acc(A, 2) == pytest.approx(0.75)
    assert accuracy.ala(A) == pytest.approx(0.9)
    assert accuracy.ala(A, 2) == pytest.approx(0.85)
    assert accuracy.afm(A) == pytest.approx((0.5 + 0.2) / 2)
    assert accuracy.afm(A, 1) == 0
    assert accuracy.ar(A) == pytest.approx(-0.35)


def test_averages_over_steps_and_over_the_latest_tasks_by_hand():
    assert accuracy.avg_acc(A) == pytest.approx((0.9 + 0.75 + 2 / 3) / 3)
    assert accuracy.avg_acc(A, 2) == pytest.approx((0.9 + 0.75) / 2)
    assert accuracy.upcoming_acc(A, 2) == pytest.approx(0.8)
    assert accuracy.upcoming_acc(A, 1, 2) == pytest.approx(0.75)
    with pytest.raises(ValueError, match="between 1 and 2"):
        accuracy.upcoming_acc(A, 3, 2)


def test_rewards_by_hand():
    assert accuracy.reward(A) == pytest.approx(0.35 - 0.9)
    assert accuracy.reward(A, 1) == pytest.approx(-0.9)
    assert accuracy.reward(A, kind="forgetting") == pytest.approx(0.35)
    assert accuracy.reward(A, 2, "gap-to-joint", joint=0.95) == pytest.approx(0.2)
    with pytest.raises(ValueError, match="joint accuracy"):
        accuracy.reward(A, kind="gap-to-joint")
    with pytest.raises(UserError, match="unknown reward"):
        accuracy.reward(A, kind="tears")


def test_discounted_return():
    assert accuracy.discounted_return([1, 2, 4]) == 7
    assert accuracy.discounted_return([1, 2, 4], 0.5) == 3
    assert accuracy.discounted_return([]) == 0


def test_matrices_are_checked_first():
    with pytest.raises(ValueError, match="square"):
        accuracy.acc(np.zeros((2, 3)))
    with pytest.raises(ValueError, match="between 1 and 3"):
        accuracy.acc(A, 4)


def test_missing_results_do_not_pass_for_numbers():
    broken = A.copy()
    broken[2, 0] = NAN
    assert np.isnan(accuracy.acc(broken))
    assert np.isnan(accuracy.reward(broken))


COUNTS = st.lists(
    st.integers(1, 12).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n))), min_size=1, max_size=8
)


@given(COUNTS)
def test_balanced_and_pooled_accuracy_are_those_of_scikit_learn(counts):
    n, right = zip(*counts, strict=True)
    truth = np.repeat(np.arange(len(n)), n)
    said = np.concatenate([np.where(np.arange(m) < k, c, len(n)) for c, (m, k) in enumerate(counts)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that an answer is of no class of the truth, as it may be
        expected = balanced_accuracy_score(truth, said)
    assert metrics.balanced(n, right) == pytest.approx(expected, abs=1e-12)
    assert metrics.pooled(n, right) == pytest.approx(accuracy_score(truth, said), abs=1e-12)


def test_a_class_without_an_image_does_not_count():
    assert metrics.balanced([2, 0, 4], [1, 0, 4]) == pytest.approx(0.75)
    assert metrics.balanced([8, 2], [8, 0]) == pytest.approx(0.5)
    assert metrics.pooled([8, 2], [8, 0]) == pytest.approx(0.8)


@pytest.mark.parametrize(
    ("n", "right"), [([], []), ([0], [0]), ([1, 2], [1]), ([1], [2]), ([-1, 3], [0, 1]), ([[1]], [[1]])]
)
def test_counts_that_cannot_be_are_refused(n, right):
    with pytest.raises(ValueError, match="do not pair"):
        metrics.balanced(n, right)


@given(st.lists(COUNTS, min_size=1, max_size=4))
def test_by_experience_is_balanced_accuracy_of_each(experiences):
    flat = [pair for counts in experiences for pair in counts]
    found = metrics.by_experience([len(c) for c in experiences], *zip(*flat, strict=True))
    assert found == pytest.approx([np.mean([k / n for n, k in counts]) for counts in experiences])


@pytest.mark.parametrize("sizes", [[1], [3], [2, 0], [1, 2]])
def test_sizes_that_are_not_those_of_the_classes_are_refused(sizes):
    with pytest.raises(ValueError, match="experiences of"):
        metrics.by_experience(sizes, [2, 2], [1, 1])


def test_both_readings_of_the_performance_drop():
    A = [0.9, 0.5, 0.4]
    assert metrics.average(A) == pytest.approx(0.6)
    assert metrics.pd_printed(A) == pytest.approx(0.3)
    assert metrics.pd_final(A) == pytest.approx(0.5)


def test_forgetting_is_from_the_best_and_transfer_from_the_first():
    nan = np.nan
    matrix = [[0.8, nan, nan], [0.9, 0.6, nan], [0.5, 0.7, 1.0]]
    assert metrics.forgetting(matrix) == pytest.approx(((0.9 - 0.5) + (0.6 - 0.7)) / 2)
    assert metrics.backward_transfer(matrix) == pytest.approx(((0.5 - 0.8) + (0.7 - 0.6)) / 2)
    assert metrics.forgetting([[0.4]]) == metrics.backward_transfer([[0.4]]) == 0.0
