"""Shares, tails and places among random draws."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from seqsearch.stats.quantiles import needed_for, percentile, place, quantile, running_share, share_beyond, tails


def test_what_ten_orders_say():
    found = tails([0.5, 0.7, 0.6, 0.6, 0.55, 0.65, 0.62, 0.61, 0.63, 0.64])
    assert (found.lowest, found.highest, found.L) == (0.5, 0.7, 10)
    assert found.next_beyond == pytest.approx(1 / 11)
    assert found.share_beyond == pytest.approx(0.2589, abs=1e-4)


@given(st.floats(0.005, 0.9), st.sampled_from([0.9, 0.95, 0.99]))
def test_the_fewest_that_leave_a_share(p, level):
    L = needed_for(p, level)
    assert share_beyond(L, level) <= p * (1 + 1e-7)
    assert L == 1 or share_beyond(L - 1, level) > p


def test_shares_that_are_asked_for():
    assert [needed_for(p) for p in (0.05, 0.1, 0.25)] == [59, 29, 11]
    assert share_beyond(59) == pytest.approx(0.0495, abs=1e-4)
    for p in (0, 1, -0.1):
        with pytest.raises(ValueError, match="between 0 and 1"):
            needed_for(p)


def test_it_is_the_largest_share_that_is_not_rejected():
    """Clopper and Pearson's upper bound, one-sided, of no success in L."""
    for L in (1, 5, 59):
        assert share_beyond(L) == pytest.approx(stats.beta.ppf(0.95, 1, L))


def test_percent_is_refused():
    with pytest.raises(ValueError, match="fractions"):
        tails(np.array([70.0, 80.0]))


def test_shares_by_hand():
    random = np.linspace(0.5, 0.59, 10)
    lucky, tied, unlucky = percentile([0.9, 0.55, 0.1], random).orders
    assert (lucky.share.value, lucky.share.high) == (1, 1)
    assert lucky.share.low == pytest.approx(0.025 ** (1 / 10))
    assert (unlucky.share.value, unlucky.share.low) == (0, 0)
    assert tied.share.value == pytest.approx(0.55)  # five below, one alike
    assert tied.share.low == pytest.approx(stats.binomtest(5, 10).proportion_ci().low)
    assert tied.share.high == pytest.approx(stats.binomtest(6, 10).proportion_ci().high)


def test_together_is_the_place_among_means_of_as_many():
    random = [0.1, 0.3, 0.5, 0.7, 0.9, 0.2, 0.99]  # means of two: .2, .6, .55; the last has no partner
    found = percentile([0.5, 0.64], random)
    assert found.groups == 3
    assert found.together.value == pytest.approx(2 / 3)
    assert found.together.low == pytest.approx(stats.binomtest(2, 3).proportion_ci().low)
    assert found.together.high == pytest.approx(stats.binomtest(2, 3).proportion_ci().high)


def test_one_order_together_is_that_order():
    found = percentile([0.5], [0.4, 0.5, 0.6])
    assert found.together == found.orders[0].share
    assert found.groups == 3


def test_too_few_groups_say_nothing():
    found = percentile([0.5, 0.6], [0.4, 0.5, 0.6])
    assert found.groups == 1
    assert math.isnan(found.together.value)
    assert found.orders[0].share.value == pytest.approx(0.5)


def test_where_random_sequences_agree():
    found = percentile([0.9, 0.8, 0.7], [0.8] * 6)
    assert [o.share.value for o in found.orders] == [1, 0.5, 0]
    assert (found.orders[1].share.low, found.orders[1].share.high) == (0, 1)
    assert found.together.value == 0.5


def test_fractions_only():
    with pytest.raises(ValueError, match="given orders are fractions"):
        percentile([83.0], [0.5])


def test_a_place_by_hand():
    p = place(3.0, [1.0, 2.0, 3.0, 4.0])
    assert (p.mean, p.share, p.p, p.draws) == (2.5, 0.625, 1.0, 4)
    assert place(9.0, np.arange(9)).p == pytest.approx(2 / 10)
    assert place(-1.0, np.arange(9)).share == 0


def test_by_chance_p_is_at_most_alpha_as_often_as_alpha():
    rng = np.random.default_rng(0)
    ps = np.array([place(x[0], x[1:]).p for x in rng.normal(size=(2000, 40))])
    for alpha in (0.05, 0.1, 0.5):
        assert (ps <= alpha).mean() <= alpha + 0.02


@pytest.mark.parametrize(("n", "q"), [(6, 0.5), (10, 0.5), (36, 0.1), (36, 0.9), (100, 0.1), (100, 0.5)])
def test_quantiles_are_bounded_by_order_statistics_that_cover(n: int, q: float) -> None:
    """Exactly: with gaps 0, 1, ... the bounds are their own numbers, and the count below the quantile is binomial."""
    i = quantile(np.arange(n, dtype=np.float64), q)
    covered = stats.binom.cdf(i.high, n, q) - stats.binom.cdf(i.low, n, q)
    assert covered >= 0.95
    assert stats.binom.cdf(i.low, n, q) <= 0.025 < stats.binom.cdf(i.low + 1, n, q)
    assert stats.binom.sf(i.high, n, q) <= 0.025 < stats.binom.sf(i.high - 1, n, q)


def test_a_quantile_has_no_bounds_where_the_sample_is_too_small_for_them() -> None:
    assert math.isnan(quantile(np.arange(5.0), 0.5).low)
    assert math.isnan(quantile(np.arange(35.0), 0.1).low)


def test_running_bounds_are_wider_and_symmetric() -> None:
    for count, n in ((0, 1), (3, 10), (10, 10), (60, 100)):
        running, other = running_share(count, n), running_share(n - count, n)
        fixed = stats.binomtest(count, n).proportion_ci(0.95, method="exact")
        assert running.low <= fixed.low + 1e-9
        assert running.high >= fixed.high - 1e-9
        assert running.low == pytest.approx(1 - other.high, abs=1e-6)


def test_running_bounds_hold_at_all_times_together() -> None:
    rng, looks = np.random.default_rng(0), 60
    missed = 0
    for _ in range(60):
        counts = np.cumsum(rng.random(looks) < 0.5)
        missed += any(not (i := running_share(int(c), n)).low <= 0.5 <= i.high for n, c in enumerate(counts, 1))
    assert missed <= 6
