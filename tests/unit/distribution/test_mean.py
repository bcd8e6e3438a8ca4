import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from seqsearch.distribution.mean import FEWEST, adjusted_mean, mean_interval, needed_for_mean

rng = np.random.default_rng(0)
Y = 0.7 + 0.05 * rng.normal(size=30)
S = 0.3 + 0.01 * rng.normal(size=30)


def test_the_mean_and_at_least_students_t():
    found, t = mean_interval(Y), stats.ttest_1samp(Y, 0).confidence_interval()
    assert found.value == pytest.approx(Y.mean())
    assert found.low <= t.low < t.high <= found.high
    assert found.half_width < 1.2 * (t.high - t.low) / 2


def test_few_orders_have_no_interval():
    few, enough = mean_interval(Y[: FEWEST - 1]), mean_interval(Y[:FEWEST])
    assert few.value == pytest.approx(Y[: FEWEST - 1].mean())
    assert math.isnan(few.low)
    assert not math.isnan(enough.low)
    assert [needed_for_mean(L) for L in (3, FEWEST, 100)] == [FEWEST - 3, 0, 0]


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


def test_s_that_tells_nothing_or_everything():
    assert math.isnan(adjusted_mean(Y, np.full(30, 0.3), 0.3).value)
    assert math.isnan(adjusted_mean(Y[: FEWEST - 1], S[: FEWEST - 1], 0.3).value)
    exact = adjusted_mean(0.2 + S, S, 0.3)
    assert exact.value == pytest.approx(0.5)
    assert math.isnan(exact.low)
    with pytest.raises(ValueError, match="30 random orders need as many objectives, not 29"):
        adjusted_mean(Y, S[:29], 0.3)
