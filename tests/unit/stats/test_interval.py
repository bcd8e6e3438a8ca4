"""Intervals of skewed means, and of variances that are sums of parts."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from seqsearch.stats.interval import Pivot, skewness

REVERSED = 1 - np.random.default_rng(0).exponential(size=15)


def test_without_skewness_it_is_students_t():
    x = np.array([0.1, 0.2, 0.3, 0.5, 0.6, 0.7])
    expected = stats.ttest_1samp(x, 0.3)
    pivot = Pivot.of_mean(x)
    assert pivot.skewness == pytest.approx(0, abs=1e-12)
    assert pivot.bounds(0.95) == pytest.approx(tuple(expected.confidence_interval()))
    assert pivot.p(0.3) == pytest.approx(expected.pvalue)


def test_the_long_tail_is_given_room():
    """Accuracies with a long tail downwards: the mean may lie lower than t says; t's bound above stands."""
    low, high = Pivot.of_mean(REVERSED).bounds(0.95)
    t = stats.ttest_1samp(REVERSED, 0).confidence_interval()
    assert low < t.low
    assert high == pytest.approx(t.high)
    mirrored = Pivot.of_mean(-REVERSED).bounds(0.95)
    assert mirrored == pytest.approx((-high, -low))


def test_the_transformation_by_hand():
    """Hall (1992): t + g t^2 / 3 + g^2 t^3 / 27 + g / 6 has the quantile of t at the bound that reaches further."""
    n, pivot = len(REVERSED), Pivot.of_mean(REVERSED)
    g = skewness(REVERSED) / math.sqrt(n)
    assert g == pytest.approx(stats.skew(REVERSED, bias=False) / math.sqrt(n))
    assert g < 0
    t = (REVERSED.mean() - pivot.bounds(0.95)[0]) / (REVERSED.std(ddof=1) / math.sqrt(n))
    assert t + g * t**2 / 3 + g**2 * t**3 / 27 + g / 6 == pytest.approx(stats.t.ppf(0.975, n - 1))


@given(skew=st.floats(-4, 4), true=st.floats(-6, 6), n=st.integers(5, 200), level=st.sampled_from([0.8, 0.95, 0.99]))
def test_p_values_and_bounds_agree(skew, true, n, level):
    pivot = Pivot(0.0, 1.0, skew, n, n - 1)
    low, high = pivot.bounds(level)
    assert low < 0 < high
    p = pivot.p(true)
    assert 0 <= p <= 1
    if abs(p - (1 - level)) > 1e-6:
        assert (p < 1 - level) == (not low <= true <= high)
