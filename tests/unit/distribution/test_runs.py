"""Means over few runs, and differences of methods over the same runs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from seqsearch.distribution.mean import DIFFERENCE, mean_interval, of_draws
from seqsearch.distribution.runs import differing, over_runs, pairs


def test_of_fewer_than_three_runs_nothing_is_said():
    for values in ([0.5], [0.5, 0.7]):
        found = over_runs(values)
        assert found.interval.value == pytest.approx(np.mean(values))
        assert math.isnan(found.interval.low)
        assert math.isnan(found.p)
        assert found.unavailable_because == f"{len(values)} of 3 runs that an interval needs"


def test_runs_that_agree_have_no_interval():
    assert "all runs agree" in over_runs([0.25] * 5).unavailable_because


def test_the_interval_is_that_of_any_mean_and_p_is_its_own():
    x = np.array([0.1, 0.4, 0.2, 0.35, 0.3])
    found = over_runs(x)
    assert found.interval == mean_interval(x, DIFFERENCE)
    assert found.p == of_draws(x).p(0.0)
    error = x.std(ddof=1) / math.sqrt(5)
    assert found.interval.high - found.interval.low > 2 * stats.t.isf(0.025, 4) * error


def test_an_accuracy_lies_between_0_and_1():
    found = over_runs([0.9, 0.99, 0.95], (0.0, 1.0)).interval
    assert 0 <= found.low < found.value < found.high == 1.0


def test_a_difference_that_all_runs_share_is_told_and_noise_is_not():
    rng = np.random.default_rng(0)
    order = rng.normal(0, 0.05, 8)  # what a class order does to all methods alike cancels
    values = np.stack([0.5 + order, 0.8 + order + rng.normal(0, 0.01, 8), 0.5 + order + rng.normal(0, 0.01, 8)])
    found = pairs(values)
    assert [(p.first, p.second) for p in found] == [(0, 1), (0, 2), (1, 2)]
    assert [p.differs for p in found] == [True, False, True]
    assert {(p.first, p.second) for p in differing(found)} == {(0, 1), (1, 2)}
    for p in found:
        assert p.together.low < p.over.interval.low <= p.over.interval.high < p.together.high
        assert p.p >= p.over.p


def test_a_method_that_failed_makes_no_difference_of_others_significant():
    x = [[0.1, 0.2, 0.3, 0.25], [0.13, 0.24, 0.36, 0.29]]
    (alone,), (of_three,) = pairs(x), pairs(x, planned=3)
    assert alone.p == alone.over.p
    assert of_three.p == pytest.approx(3 * alone.over.p)
    assert of_three.together.low < alone.together.low == alone.over.interval.low


def test_pairs_that_agree_in_every_run_are_alike_and_are_no_test():
    found = pairs([[0.1, 0.2, 0.3], [0.1, 0.2, 0.3], [0.3, 0.42, 0.51]])
    assert [p.alike for p in found] == [True, False, False]
    assert math.isnan(found[0].p)
    assert not found[0].differs
    assert found[1].p == found[2].p == pytest.approx(2 * found[1].over.p)  # Holm's, of the two that are tests


@pytest.mark.parametrize("shape", ["normal", "exponential"])
def test_intervals_hold_and_alike_methods_are_seldom_told(shape):
    rng = np.random.default_rng(1)
    draw = (lambda size: rng.normal(size=size)) if shape == "normal" else (lambda size: rng.exponential(size=size) - 1)
    held = [i.low <= 0 <= i.high for i in (over_runs(draw(3), (-9, 9)).interval for _ in range(600))]
    assert np.mean(held) > 0.94
    false = [any(p.differs for p in pairs(draw((4, 5)))) for _ in range(200)]
    assert np.mean(false) < 0.05
