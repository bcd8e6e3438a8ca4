"""Two methods over the same sequences: shares, signs, quantiles, worst gaps, and how many sequences a claim needs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from seqsearch.distribution.always_valid import running_share
from seqsearch.distribution.interval import Interval
from seqsearch.distribution.mean import DIFFERENCE, mean_interval
from seqsearch.distribution.paired import FEWEST_SIGNS, paired, quantile, sign_p
from seqsearch.distribution.sample_size import (
    needed_on_average,
    needed_on_most,
    sequences_for_mean,
    sequences_for_share,
)


def test_shares_signs_and_worst_gaps_of_a_small_table() -> None:
    a, b = [0.9, 0.8, 0.7, 0.6, 0.5, 0.5 + 1e-12], [0.5, 0.7, 0.7, 0.8, 0.3, 0.5]
    p = paired(a, b)
    assert p.counts == (3, 2, 1)
    assert p.above.value + p.ties.value + p.below.value == pytest.approx(1)
    low, high = stats.beta.ppf(0.025, 3, 4), stats.beta.ppf(0.975, 4, 3)
    assert (p.above.low, p.above.high) == (pytest.approx(low), pytest.approx(high))
    assert p.sign_p == pytest.approx(0.625)
    assert (p.worst_a.number, p.worst_a.value) == (3, pytest.approx(-0.2))
    assert (p.worst_b.number, p.worst_b.value) == (0, pytest.approx(0.4))
    assert p.beyond == pytest.approx(1 - 0.05 ** (1 / 6))
    assert p.mean.value == pytest.approx(0.5 / 6)
    assert p.mean.low == pytest.approx(mean_interval(np.array(a) - np.array(b), DIFFERENCE).low)
    assert (p.on_most, p.more_often, p.on_average) == ("", "", "")


def test_no_verdict_is_possible_below_the_fewest_signs() -> None:
    assert sign_p(FEWEST_SIGNS - 1, 0) > 0.05
    assert sign_p(FEWEST_SIGNS, 0) <= 0.05
    everywhere = paired([0.9] * FEWEST_SIGNS, [0.5] * FEWEST_SIGNS)
    assert (everywhere.on_most, everywhere.more_often, everywhere.on_average) == ("a", "a", "")
    assert math.isnan(everywhere.mean.low), "all gaps agree: how far off others are is not known"


def test_ties_count_against_most_but_not_against_the_sign_test() -> None:
    p = paired([0.6] * 12 + [0.5] * 20, [0.5] * 32)
    assert p.counts == (12, 20, 0)
    assert p.more_often == "a"
    assert p.on_most == ""
    every = paired([0.5] * 10, [0.5] * 10)
    assert (every.sign_p, every.more_often, every.on_most) == (1.0, "", "")


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


def test_what_does_not_pair_is_refused() -> None:
    with pytest.raises(ValueError, match="do not pair"):
        paired([0.5, 0.6], [0.5])
    with pytest.raises(ValueError, match="fractions"):
        paired([50.0], [0.5])


@pytest.mark.parametrize("p", [0.6, 0.75, 0.9, 1.0])
@pytest.mark.parametrize("power", [0.8, 0.9])
def test_planned_sequences_have_the_power_of_the_test_that_is_made(p: float, power: float) -> None:
    """By the counts at which `paired` would say it, summed up."""
    n = sequences_for_share(p, power)
    assert n is not None

    def reached(n: int) -> float:
        verdicts = [k for k in range(n + 1) if stats.beta.ppf(0.025, max(k, 1e-9), n - k + 1) > 0.5]
        return float(stats.binom.pmf(verdicts, n, p).sum())

    assert all(reached(m) >= power for m in range(n, n + 12))
    assert reached(n - 1) < power


@pytest.mark.parametrize("effect", [0.3, 0.8])
def test_planned_sequences_of_a_mean_have_the_power_of_its_interval(effect: float) -> None:
    n = sequences_for_mean(effect, 0.8)
    assert n is not None
    x = np.random.default_rng(0).normal(effect, 1, size=(2000, n))
    shown = [mean_interval(row, (-math.inf, math.inf)).low > 0 for row in x]
    assert np.mean(shown) == pytest.approx(0.8, abs=0.04)
    assert sequences_for_mean(5.0, 0.9) == FEWEST_SIGNS
    assert sequences_for_mean(1e-4, 0.9) is None


def test_where_the_interval_holds_no_difference_nothing_is_planned_for_its_end() -> None:
    assert needed_on_most(Interval(0.6, 0.45, 0.7)).least == ()
    assert needed_on_most(Interval(0.6, 0.45, 0.7)).estimated == (210, 274)
    assert needed_on_most(Interval(0.4, 0.2, 0.6)).estimated == ()
    assert needed_on_average(Interval(0.1), 0.2).least == (), "no interval, nothing at its end"
    assert (
        needed_on_average(Interval(0.1, 0.05, 0.15), 0.2).least
        > needed_on_average(Interval(0.1, 0.05, 0.15), 0.2).estimated
    )
    with pytest.raises(ValueError, match="above 1/2"):
        sequences_for_share(0.5, 0.8)


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
