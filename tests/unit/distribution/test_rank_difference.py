from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from seqsearch.distribution.rank_difference import FEWEST, rank_difference

Y = np.array([79.9, 76.3, 81.1, 70.8, 71.1, 84.9, 80.3, 81.0, 68.7])
HARD = np.array([54.8, 49.5, 57.0, 41.9, 48.1, 62.5, 56.2, 56.9, 44.0])
MEDIUM = np.array([60.5, 51.9, 60.7, 53.7, 50.9, 67.6, 59.7, 62.2, 52.0])


def test_the_difference_is_that_of_the_correlations_and_its_bounds_are_those_of_each_at_half_the_error() -> None:
    found = rank_difference(HARD, MEDIUM, Y)
    r1, r2 = stats.spearmanr(HARD, Y).statistic, stats.spearmanr(MEDIUM, Y).statistic
    reach = [stats.norm.ppf(1 - 0.025 / 2) * math.sqrt((1 + r**2 / 2) / (9 - 3)) for r in (r1, r2)]
    assert found.srcc.value == pytest.approx(r1 - r2)
    assert found.srcc.low == pytest.approx(math.tanh(math.atanh(r1) - reach[0]) - math.tanh(math.atanh(r2) + reach[1]))
    assert found.srcc.high == pytest.approx(math.tanh(math.atanh(r1) + reach[0]) - math.tanh(math.atanh(r2) - reach[1]))
    t1, t2 = stats.kendalltau(HARD, Y).statistic, stats.kendalltau(MEDIUM, Y).statistic
    tau = stats.t.ppf(1 - 0.025 / 2, 7) * math.sqrt(0.437 / (9 - 4))
    assert found.krcc.low == pytest.approx(math.tanh(math.atanh(t1) - tau) - math.tanh(math.atanh(t2) + tau))


def test_the_other_way_round_it_is_the_negative() -> None:
    one, other = rank_difference(HARD, MEDIUM, Y), rank_difference(MEDIUM, HARD, Y)
    assert (one.krcc.low, one.krcc.high) == pytest.approx((-other.krcc.high, -other.krcc.low))


def test_full_agreement_still_has_bounds() -> None:
    found = rank_difference(Y, MEDIUM, Y)
    assert found.srcc.low < found.srcc.value < found.srcc.high <= 2
    both = rank_difference(Y, 2 * Y, Y)
    assert both.srcc.low < 0 < both.srcc.high


def test_what_is_tied_counts_once() -> None:
    tied = rank_difference(np.round(HARD, -1), MEDIUM, Y)
    assert tied.lacking == "too few methods: 6 with different accuracies needed, 3 there"
    one_tie = HARD.copy()
    one_tie[0] = one_tie[1]
    wide, narrow = rank_difference(one_tie, MEDIUM, Y), rank_difference(HARD, MEDIUM, Y)
    assert wide.srcc.half_width > narrow.srcc.half_width


@pytest.mark.parametrize("n", [2, FEWEST - 1])
def test_of_few_methods_the_difference_alone_is_said(n: int) -> None:
    found = rank_difference(HARD[:n], MEDIUM[:n], Y[:n])
    assert math.isfinite(found.srcc.value)
    assert math.isnan(found.srcc.low)
    assert "too few methods" in found.lacking


def test_a_constant_column_agrees_with_nothing() -> None:
    found = rank_difference(np.ones(9), MEDIUM, Y)
    assert math.isnan(found.srcc.value)
    assert found.lacking == "a column has one value only"
    with pytest.raises(ValueError, match="accuracies"):
        rank_difference([1.0, math.nan], [1, 2], [1, 2])
