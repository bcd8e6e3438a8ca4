"""Intervals by blocks: what they are of, where they are wider, where nothing is said."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from benchmarks.coverage_blocks import of_accuracy, of_difference
from benchmarks.coverage_blocks_courses import drifting_as, held, one_curve
from seqsearch.core.errors import UserError
from seqsearch.correlation.blocks import accuracy, all_pairs, block_means, dependence, difference, of_means
from seqsearch.distribution.pivot import Pivot


def answers(n: int, run: int, p: float, seed: int = 0) -> np.ndarray:
    """Right answers in runs, which are right as a whole."""
    rng = np.random.default_rng(seed)
    return np.repeat(rng.random(n // run + 1) < p, run)[:n]


def test_block_means_are_means_of_blocks() -> None:
    right = answers(10_123, 7, 0.4)
    means, block, lacking = block_means(np.stack([right, ~right]), 8)
    assert (means.shape, lacking) == ((2, 20), "")
    assert block == 506
    edges = np.linspace(0, 10_123, 21).astype(int)
    assert means[0] == pytest.approx([right[a:b].mean() for a, b in pairwise(edges)])
    assert means[1] == pytest.approx(1 - means[0])


@pytest.mark.parametrize(
    ("n", "shift", "block"), [(2000, 0, 100), (20_000, 0, 1000), (90_000, 0, 1000), (90_000, 512, 2093)]
)
def test_the_length_of_blocks(n: int, shift: int, block: int) -> None:
    means, found, lacking = block_means(np.zeros(n, bool), shift)
    assert (found, lacking) == (block, "")
    assert means.shape[1] >= 20


def test_independent_blocks_give_student_and_hall() -> None:
    right = np.random.default_rng(9).random(40_000) < 0.3
    means = block_means(right, 0)[0][0]
    assert dependence(means) < 0  # or the interval would be wider
    found = accuracy(right, 0)
    assert (found.interval.low, found.interval.high) == pytest.approx(Pivot.of_mean(means).bounds(0.95))
    assert found.interval.value == right.mean()


def test_blocks_that_depend_widen_or_refuse() -> None:
    walk = np.repeat([0.2, 0.8], 20_000)
    drift = np.random.default_rng(0).random(40_000) < walk
    found = accuracy(drift, 0)
    assert "depend on each other" in found.lacking
    assert math.isnan(found.interval.low)
    assert found.interval.value == drift.mean()


def test_what_cannot_be_said() -> None:
    assert accuracy(answers(1999, 5, 0.5), 0).lacking == (
        "an interval needs at least 20 blocks of 100 samples each (2,000), and there are 1,999"
    )
    assert (
        "20 blocks of 2,048 samples each (40,960), and there are 20,000"
        in accuracy(answers(20_000, 5, 0.5), 2048).lacking
    )
    assert "hold a right" in accuracy(np.zeros(20_000, bool), 0).lacking
    assert "hold a right" in accuracy(answers(20_000, 5000, 1.0), 0).lacking
    same = answers(20_000, 5, 0.5)
    assert "equally often" in difference(same, same, 0).lacking


def test_pairing_takes_away_what_is_shared() -> None:
    shared = answers(40_000, 300, 0.5)
    worse = shared & (np.random.default_rng(1).random(40_000) < 0.97)
    paired, alone = difference(shared, worse, 64), accuracy(shared, 64)
    assert paired.interval.half_width < alone.interval.half_width / 3
    assert paired.interval.low > 0


def test_seeds_add_their_own_spread() -> None:
    rng = np.random.default_rng(0)
    a, b = (rng.random((3, 20_000)) < 0.5 + np.array([[-0.05], [0], [0.05]]) for _ in range(2))
    many, one = difference(a, b, 0), difference(a[1], b[1], 0)
    assert many.seeds == 3
    assert many.interval.half_width > 3 * one.interval.half_width
    assert accuracy(a, 0).interval.half_width > accuracy(a[1], 0).interval.half_width


def test_pairs_are_wider_than_one_pair() -> None:
    learners = [answers(20_000, 10, 0.5, seed) for seed in range(4)]
    found = all_pairs(learners, 64)
    assert sorted(found) == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    alone = difference(learners[1], learners[3], 64)
    assert found[1, 3].interval.value == alone.interval.value
    assert found[1, 3].interval.half_width > 1.2 * alone.interval.half_width


def test_wrong_values_end_in_one_line() -> None:
    right = answers(5000, 5, 0.5)
    for bad in (np.zeros(0, int), np.full(30, 2), np.zeros(30), np.zeros((2, 2, 2), int)):
        with pytest.raises(UserError, match="0 and 1"):
            accuracy(bad, 0)
    with pytest.raises(UserError, match="shift"):
        accuracy(right, -1)
    for other in (right[:-1], np.stack([right, right])):
        with pytest.raises(UserError, match="same samples"):
            difference(right, other, 0)
        with pytest.raises(UserError, match="same samples"):
            all_pairs([right, other], 0)
    with pytest.raises(UserError, match="two learners"):
        all_pairs([right], 0)


def test_coverage_where_it_can_be_seen_at_once() -> None:
    row = of_accuracy(4000, 10, 64, 0.5, 60)
    assert row["used"] >= 0.85
    assert row["said"] > 0.8
    assert of_difference(4000, 10, 64, 0.3, 2, 40)["used"] >= 0.85


def noisy(course: np.ndarray, seed: int = 0, sd: float = 0.02) -> np.ndarray:
    """Means of blocks ``[1, G]`` along a course."""
    return (course + sd * np.random.default_rng(seed).standard_normal(len(course)))[None]


def test_of_a_learning_curve_there_is_no_interval() -> None:
    means = noisy(0.5 - 0.3 * np.exp(-3 * np.linspace(0, 1, 20)), 4)
    assert "depend on each other" in of_means(float(means.mean()), [means], 1000).lacking


def test_a_correlation_that_is_sure_widens_by_more() -> None:
    means = noisy(np.full(40, 0.5), 3)
    means[0, 1:] += 0.6 * means[0, :-1] - 0.3
    r = dependence(means[0])
    assert 0.16 < r < 0.5
    low, high = Pivot.of_mean(means[0]).bounds(0.95)
    wider = r + 1 / math.sqrt(40)
    found = of_means(float(means.mean()), [means], 1000)
    assert found.interval.half_width == pytest.approx((high - low) / 2 * math.sqrt((1 + wider) / (1 - wider)))


def test_bounds_are_what_is_possible() -> None:
    rng = np.random.default_rng(0)
    near, far = (level + 0.01 * rng.standard_normal((2, 20)) for level in ([[0.85], [0.9]], [[0.3], [0.6]]))
    found = of_means(float(near.mean()), [near], 1000).interval
    assert (found.high, found.low > 0.5) == (1.0, True)
    assert found.value - found.low > found.high - found.value
    for sides in ([far], [far, -far[:, ::-1] + 0.3 * np.array([[1], [-1]])]):
        lacking = of_means(0.2, sides, 1000).lacking
        assert lacking == "2 training seeds tell too little: 3 or more are needed"
    some = 0.5 + np.array([[-0.05], [0.05]]) + 0.01 * rng.standard_normal((2, 20))
    gap = of_means(0.4, [near, -some], 1000).interval
    assert (gap.high, -1 < gap.low < 0) == (1.0, True)


def test_coverage_along_courses() -> None:
    curves = held({}, one_curve("slow", 2000, 1, 0, (0.3, 0.5)), 40)
    assert curves["said"] > 0.3
    assert curves["wrong"] <= 0.1
    assert held({}, drifting_as("r .9", 30), 30)["wrong"] <= 0.1
    assert held({}, drifting_as("walk", 50), 20)["wrong"] <= 0.1
