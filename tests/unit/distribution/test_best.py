"""The 95 % set of the best: who is shown to be worse leaves, and the truly best one seldom does."""

import numpy as np
import pytest
from scipy import stats

from benchmarks.coverage.best import coverage
from seqsearch.distribution.best import set_of_best
from seqsearch.distribution.drop import ImageShares

SEEDS = np.array([[0.00, 0.01, 0.03]])


def test_two_methods_by_hand_each_side_at_5_percent():
    """Paired over three seeds: Student's t of the differences, one-sided."""
    noise = np.array([[0.0, 0.01, -0.01]])
    error = stats.t.ppf(0.95, 2) * noise.std(ddof=1) / np.sqrt(3)
    for by, best in ((1.01 * error, (0,)), (0.99 * error, (0, 1))):
        assert set_of_best([0.6 + by + SEEDS + noise, 0.6 + SEEDS]) == best


def test_more_methods_need_more_evidence():
    noise = np.array([[0.0, 0.01, -0.01]])
    error = stats.t.ppf(0.95, 2) * noise.std(ddof=1) / np.sqrt(3)
    two = [0.6 + 1.01 * error + SEEDS + noise, 0.6 + SEEDS]
    assert set_of_best([*two, two[1], two[1]]) == (0, 1, 2, 3)


def test_what_cannot_be_told_takes_nobody_out():
    assert set_of_best([np.array([[0.9]]), np.array([[0.1]])]) == (0, 1), "one training, and no images"
    same = 0.5 + SEEDS
    assert set_of_best([same, same]) == (0, 1)
    assert set_of_best([same]) == (0,)
    with pytest.raises(ValueError, match="the same sequences and seeds"):
        set_of_best([same, same[:, :2]])


def test_with_one_training_images_tell():
    rng = np.random.default_rng(0)
    right = [(rng.random((1, 1, 200)) < p) / 200 for p in (0.9, 0.5, 0.88)]
    classes = np.repeat(np.arange(10), 20)
    images = {(i, j): ImageShares(right[i], right[j], classes) for i in range(3) for j in range(i + 1, 3)}
    assert set_of_best([r.sum(axis=2) for r in right], lambda i, j: images[i, j]) == (0, 2)


@pytest.mark.parametrize(
    "case", [("even", 3, 1, 3), ("training", 3, 1, 3), ("left-skewed", 5, 3, 1), ("bits", 3, 1, 1)], ids=str
)
def test_the_best_seldom_leaves(case):
    row = coverage(case, 100)
    assert row["holds"] >= 0.89
    assert 1 <= row["size"] <= case[1]
