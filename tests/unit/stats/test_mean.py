"""X"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from seqsearch.stats.interval import degrees_of, skewness
from seqsearch.stats.mean import DIFFERENCE, FEWEST, adjusted_mean, mean_interval, needed_for_mean, of_draws, over_runs

rng = np.random.default_rng(0)
Y = 0.7 + 0.05 * rng.normal(size=30)
S = 0.3 + 0.01 * rng.normal(size=30)


def test_the_mean_and_at_least_students_t():
    found, t = mean_interval(Y), stats.ttest_1samp(Y, 0).confidence_interval()
    assert found.value == pytest.approx(Y.mean())
    assert found.low <= t.low < t.high <= found.high
    assert found.half_width < 1.2 * (t.high - t.low) / 2


def test_it_is_student_with_fewer_degrees_or_hall_whichever_reaches_further():
    x = np.array([0.1, 0.4, 0.42, 0.45, 0.47])
    found, error = mean_interval(x), x.std(ddof=1) / math.sqrt(5)
    assert degrees_of(5) == 2
    assert found.high == pytest.approx(x.mean() + stats.t.isf(0.025, 2) * error)
    t, g = (x.mean() - mean_interval(x, (-9, 9)).low) / error, skewness(x) / math.sqrt(5)
    assert t > stats.t.isf(0.025, 2)
    assert t + g * t**2 / 3 + g**2 * t**3 / 27 + g / 6 == pytest.approx(stats.t.isf(0.025, 4))


@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
def test_the_interval_and_its_p_agree(level):
    draws = np.random.default_rng(3)
    for n in (3, 5, 12):
        x = draws.exponential(size=n)
        found, p = mean_interval(x, (-math.inf, math.inf), level), of_draws(x)
        assert p.p(found.low) == pytest.approx(1 - level)
        assert p.p(found.high) == pytest.approx(1 - level)


def test_what_all_draws_share_adds_up_in_squares_and_bounds_are_cut():
    alone, shared = mean_interval(Y), mean_interval(Y, shared=0.03)
    assert shared.high - shared.value == pytest.approx(math.hypot(alone.high - alone.value, 0.03))
    assert shared.value - shared.low == pytest.approx(math.hypot(alone.value - alone.low, 0.03))
    few = mean_interval([0.9, 0.2, -0.8], DIFFERENCE)
    assert (few.low, few.high) == (-1.0, 1.0)


@given(st.lists(st.floats(0, 1), min_size=FEWEST, max_size=12).filter(lambda x: np.ptp(x) > 0.01), st.floats(0, 1))
def test_more_draws_never_take_the_interval_away(values, further):
    assert math.isfinite(mean_interval(values).low)
    assert math.isfinite(mean_interval([*values, further]).low)


@pytest.mark.long
def test_power_for_a_fixed_effect_does_not_fall_with_a_further_draw():
    """Within Monte Carlo error: normal and left-skewed draws, from the fewest on."""
    draws = np.random.default_rng(4)
    for shape in (draws.normal(size=(400, 8)), 1 - draws.exponential(size=(400, 8))):
        seen = [np.mean([mean_interval(x[:n] + 2, (-99, 99)).low > 0 for x in shape]) for n in range(FEWEST, 9)]
        assert all(b >= a - 0.05 for a, b in itertools.pairwise(seen)), seen


def test_few_orders_have_no_interval():
    few, enough = mean_interval(Y[: FEWEST - 1]), mean_interval(Y[:FEWEST])
    assert few.value == pytest.approx(Y[: FEWEST - 1].mean())
    assert math.isnan(few.low)
    assert not math.isnan(enough.low)
    assert [needed_for_mean(n) for n in (1, FEWEST, 100)] == [FEWEST - 1, 0, 0]


def test_where_all_agree_there_is_no_interval():
    found = mean_interval(np.full(FEWEST, 0.9867) + 1e-12 * rng.normal(size=FEWEST))
    assert found.value == pytest.approx(0.9867)
    assert math.isnan(found.low)


@given(st.lists(st.sampled_from([0.0, 0.01, 0.5, 0.99, 1.0]), min_size=FEWEST, max_size=60))
def test_bounds_are_accuracies(values):
    found = mean_interval(values)
    if len(set(values)) == 1:
        assert (found.value, math.isnan(found.low)) == (pytest.approx(values[0]), True)
        return
    assert 0 <= found.low <= found.value + 1e-12
    assert found.value - 1e-12 <= found.high <= 1


def test_the_adjusted_mean_is_the_line_at_the_mean_of_s():
    y = 0.2 + 1.5 * S + 0.001 * rng.normal(size=30)
    found, line = adjusted_mean(y, S, 0.3), stats.linregress(S, y)
    assert found.value == pytest.approx(line.intercept + line.slope * 0.3)
    residual = y - line.intercept - line.slope * S
    error = math.sqrt((residual**2).sum() / 28 * (1 / 30 + (S.mean() - 0.3) ** 2 / ((S - S.mean()) ** 2).sum()))
    reach = stats.t.ppf(0.975, 28) * error
    assert found.low <= found.value - reach + 1e-12
    assert found.high >= found.value + reach - 1e-12
    assert found.half_width < 1.2 * reach
    assert found.half_width < mean_interval(y).half_width / 5


def test_an_unrelated_s_hardly_moves_the_mean():
    found = adjusted_mean(Y, S, float(S.mean()))
    assert found.value == pytest.approx(Y.mean())
    assert found.half_width == pytest.approx(mean_interval(Y).half_width, rel=0.15)


def test_s_that_explains_nothing_or_everything():
    assert math.isnan(adjusted_mean(Y, np.full(30, 0.3), 0.3).value)
    assert math.isnan(adjusted_mean(Y[:FEWEST], S[:FEWEST], 0.3).value)
    assert math.isfinite(adjusted_mean(Y[: FEWEST + 1], S[: FEWEST + 1], 0.3).low)
    exact = adjusted_mean(0.2 + S, S, 0.3)
    assert exact.value == pytest.approx(0.5)
    assert math.isnan(exact.low)
    with pytest.raises(ValueError, match="30 random orders need as many objectives, not 29"):
        adjusted_mean(Y, S[:29], 0.3)


def test_fewer_than_three_runs_have_no_interval():
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
