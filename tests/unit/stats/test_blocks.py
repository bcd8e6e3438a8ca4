"""Intervals by blocks: what they are of, where they are wider, where nothing is said."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

from benchmarks.coverage import blocks
from benchmarks.coverage.blocks_courses import drifting_as, held, one_curve
from seqsearch.core.errors import UserError
from seqsearch.stats.blocks import accuracy, all_pairs, block_means, dependence, difference, of_accuracy, of_difference
from seqsearch.stats.interval import Pivot


def answers(n: int, run: int, p: float, seed: int = 0) -> np.ndarray:
    """Right answers in runs, which are right as a whole."""
    rng = np.random.default_rng(seed)
    return np.repeat(rng.random(n // run + 1) < p, run)[:n]


def test_block_means_are_means_of_blocks() -> None:
    right = answers(10_123, 7, 0.4)
    means, block, unavailable_because = block_means(np.stack([right, ~right]), 8)
    assert (means.shape, unavailable_because) == ((2, 20), "")
    assert block == 506
    edges = np.linspace(0, 10_123, 21).astype(int)
    assert means[0] == pytest.approx([right[a:b].mean() for a, b in pairwise(edges)])
    assert means[1] == pytest.approx(1 - means[0])


@pytest.mark.parametrize(
    ("n", "shift", "block"), [(2000, 0, 100), (20_000, 0, 1000), (90_000, 0, 1000), (90_000, 512, 2093)]
)
def test_the_length_of_blocks(n: int, shift: int, block: int) -> None:
    means, found, unavailable_because = block_means(np.zeros(n, bool), shift)
    assert (found, unavailable_because) == (block, "")
    assert means.shape[1] >= 20


def test_independent_blocks_give_student_and_hall() -> None:
    right = np.random.default_rng(9).random(40_000) < 0.3
    means = block_means(right, 0)[0][0]
    assert dependence(means) < 0  # or the interval would be wider
    found = accuracy(right, 0)
    assert (found.interval.low, found.interval.high) == pytest.approx(Pivot.of_mean(means).bounds(0.95))
    assert found.interval.value == right.mean()


def test_blocks_that_depend_widen_at_most_by_a_factor() -> None:
    walk = np.repeat([0.2, 0.8], 20_000)
    drift = np.random.default_rng(0).random(40_000) < walk
    found = accuracy(drift, 0)
    low, high = Pivot.of_mean(block_means(drift, 0)[0][0]).bounds(0.95)
    most = 0.5 + 1 / math.sqrt(40)
    assert found.interval.half_width == pytest.approx((high - low) / 2 * math.sqrt((1 + most) / (1 - most)))
    assert found.interval.low <= 0.5 <= found.interval.high


def test_what_cannot_be_said() -> None:
    assert accuracy(answers(1999, 5, 0.5), 0).unavailable_because == (
        "an interval needs at least 20 blocks of 100 samples each (2,000), and 1,999 were evaluated"
    )
    assert (
        "20 blocks of 2,048 samples each (40,960), and 20,000 were evaluated"
        in accuracy(answers(20_000, 5, 0.5), 2048).unavailable_because
    )
    assert "hold a right" in accuracy(np.zeros(20_000, bool), 0).unavailable_because
    assert "hold a right" in accuracy(answers(20_000, 5000, 1.0), 0).unavailable_because
    same = answers(20_000, 5, 0.5)
    assert "equally often" in difference(same, same, 0).unavailable_because


def test_pairing_takes_away_what_is_shared() -> None:
    shared = answers(40_000, 300, 0.5)
    worse = shared & (np.random.default_rng(1).random(40_000) < 0.97)
    paired, alone = difference(shared, worse, 64), accuracy(shared, 64)
    assert paired.interval.half_width < alone.interval.half_width / 3
    assert paired.interval.low > 0


def test_seeds_have_a_statement_of_their_own_from_three_on() -> None:
    rng = np.random.default_rng(0)
    a, b = (rng.random((3, 20_000)) < 0.5 + np.array([[-0.05], [0], [0.05]]) for _ in range(2))
    many, two, one = difference(a, b, 0), difference(a[:2], b[:2], 0), difference(a[1], b[1], 0)
    assert many.seeds == 3
    assert many.interval.half_width < one.interval.half_width
    assert many.over_seeds.half_width > 3 * one.interval.half_width
    assert math.isnan(two.over_seeds.low)
    assert math.isnan(one.over_seeds.low)
    assert math.isfinite(two.interval.low)
    assert accuracy(a, 0).over_seeds.half_width > accuracy(a, 0).interval.half_width


def test_over_seeds_of_blocks_that_hardly_differ_is_students_interval_of_the_seeds() -> None:
    means = np.array([[0.4], [0.5], [0.6]]) + 0.01 * np.resize([1, -1], 20)
    expected = stats.t.ppf(0.975, 2) * 0.1 / math.sqrt(3)
    assert of_accuracy(0.5, means, 1000).over_seeds.half_width == pytest.approx(expected, rel=1e-3)


def test_the_same_trainings_are_paired() -> None:
    """What a training is better by cancels where it is evaluated in two ways."""
    rng = np.random.default_rng(0)
    level = np.array([[-0.1], [0], [0.1]])
    a, b = (0.5 + level + 0.01 * rng.standard_normal((3, 20)) for _ in range(2))
    paired, own = (of_difference(0.0, a, b, 1000, same_trainings=same) for same in (True, False))
    assert paired.over_seeds.half_width < own.over_seeds.half_width / 5


def power(seeds: int, trend: float, drift: float, repeats: int = 300) -> tuple[float, float]:
    """Share of differences of .02 that are seen with these seeds, and over seeds; of 20 blocks."""
    rng, seen = np.random.default_rng(seeds), np.zeros(2)
    moved = trend * np.linspace(-0.5, 0.5, 20)
    for _ in range(repeats):
        shared = moved + drift * rng.standard_normal(10).repeat(2)
        a, b = (
            0.5 + 0.02 * rng.standard_normal((seeds, 20)) + 0.005 * rng.standard_normal((seeds, 1)) for _ in range(2)
        )
        found = of_difference(float(a.mean() - b.mean()) + 0.02, a + shared + 0.02, b, 1000)
        seen += found.interval.low > 0, found.over_seeds.low > 0
    return float(seen[0] / repeats), float(seen[1] / repeats)


@pytest.mark.parametrize(("trend", "drift"), [(0, 0), (0.05, 0), (0, 0.01)])
def test_a_further_seed_takes_no_statement_away(trend: float, drift: float) -> None:
    """Of both statements, each from its minimum on, within two standard errors; the first seeds help."""
    these, over = np.array([power(seeds, trend, drift) for seeds in range(1, 7)]).T
    assert (np.diff(these) > -0.08).all()
    assert (np.diff(over[2:]) > -0.08).all()
    assert (over[:2] == 0).all()
    assert these[2] > these[0]
    assert over[5] > over[2]


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
    found = blocks.of_accuracy(4000, 10, 64, 0.5, 60)
    assert found["used"] >= 0.85
    assert found["said"] > 0.8
    assert blocks.of_difference(4000, 10, 64, 0.3, 2, 40)["used"] >= 0.85


def noisy(course: np.ndarray, seed: int = 0, sd: float = 0.02) -> np.ndarray:
    """Means of blocks ``[1, G]`` along a course."""
    return (course + sd * np.random.default_rng(seed).standard_normal(len(course)))[None]


def test_a_trend_that_two_learners_share_cancels() -> None:
    trend = 0.5 - 0.3 * np.exp(-3 * np.linspace(0, 1, 20))
    a, b = noisy(trend + 0.02, 4), noisy(trend, 5)
    alone, paired = of_accuracy(float(a.mean()), a, 1000), of_difference(0.02, a, b, 1000)
    assert paired.interval.half_width < alone.interval.half_width / 4


def test_a_correlation_that_is_sure_widens_by_more() -> None:
    means = noisy(np.full(40, 0.5), 3)
    means[0, 1:] += 0.6 * means[0, :-1] - 0.3
    r = dependence(means[0])
    assert 0.16 < r < 0.5
    low, high = Pivot.of_mean(means[0]).bounds(0.95)
    wider = r + 1 / math.sqrt(40)
    found = of_accuracy(float(means.mean()), means, 1000)
    assert found.interval.half_width == pytest.approx((high - low) / 2 * math.sqrt((1 + wider) / (1 - wider)))


def test_bounds_are_what_is_possible() -> None:
    rng = np.random.default_rng(0)
    near = 0.95 + 0.2 * rng.standard_normal((1, 20))
    found = of_accuracy(float(near.mean()), near, 1000).interval
    assert (found.high, found.low > 0.5) == (1.0, True)
    levels = np.array([[0.05], [0.5], [0.95]])
    far = of_accuracy(0.5, levels + 0.01 * rng.standard_normal((3, 20)), 1000)
    assert math.isnan(far.over_seeds.low)
    assert not far.unavailable_because
    steps = np.repeat([0.0, 1.0], 10)[None]
    assert (
        of_accuracy(0.5, steps, 1000).unavailable_because == "20 blocks of 1000 are too few: a longer stream is needed"
    )


def test_coverage_along_courses() -> None:
    for draw in (one_curve("slow", 2000, 1, 0, (0.3, 0.5)), drifting_as("r .9", 30), drifting_as("walk", 50)):
        found = held({}, draw, 30)
        assert found["said"] == 1
        assert found["used"] >= 0.9
