"""How often a study of a given size gives a verdict: against the tests that the protocols use."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from seqsearch.stats.components import training_sd
from seqsearch.stats.interval import Interval
from seqsearch.stats.mean import mean_interval
from seqsearch.stats.paired import FEWEST_SIGNS, paired
from seqsearch.stats.power import (
    half_width_of_drop,
    needed_for_claims,
    needed_on_average,
    needed_on_most,
    power_of_found,
    power_of_mean,
    sd_at_most,
    sequences_for_mean,
    sequences_for_share,
)
from seqsearch.stats.rank_test import rank_test


def test_sequences_that_a_claim_needs_do_not_depend_on_which_method_is_called_a() -> None:
    rng = np.random.default_rng(1)
    a, b = 0.6 + 0.03 * rng.standard_normal(40), 0.63 + 0.05 * rng.standard_normal(40)
    most, average = needed_for_claims(paired(a, b))
    assert (most, average) == needed_for_claims(paired(b, a))
    assert most.least
    assert average.least > average.estimated


def test_power_of_found_is_the_share_of_rank_tests_that_are_significant() -> None:
    rng = np.random.default_rng(1)
    for searches, random in ((1, 19), (3, 5)):
        tests = [
            rank_test(rng.normal(0.6 - 0.06, 0.02, searches), rng.normal(0.6, 0.03, random)).significant
            for _ in range(400)
        ]
        [power] = power_of_found([0.06], 0.03, 0.02, searches, random)
        assert power == pytest.approx(np.mean(tests), abs=0.09)


@pytest.mark.parametrize(
    ("searches", "random"), [(1, 19), (1, 39), (2, 5), (3, 5), pytest.param(5, 19, marks=pytest.mark.long)]
)
def test_without_a_difference_few_studies_are_significant_and_with_a_large_one_all(searches: int, random: int) -> None:
    none, small, large = power_of_found([0.0, 0.05, 0.5], 0.03, 0.03, searches, random)
    assert none <= 0.08
    assert none < small < large == 1.0


def test_too_few_random_sequences_have_no_power() -> None:
    assert power_of_found([0.5], 0.03, 0.01, 1, 18) == [0.0]
    assert power_of_found([0.5], 0.03, 0.01, 2, 4) == [0.0]


def test_power_of_a_mean_is_the_share_of_intervals_that_exclude_0() -> None:
    rng = np.random.default_rng(1)
    intervals = [mean_interval(x, (-1, 1)) for x in rng.normal(0.04, 0.05, (500, 10))]
    half, [power] = power_of_mean([0.04], 0.05, 10)
    assert power == pytest.approx(np.mean([i.low > 0 for i in intervals]), abs=0.08)
    assert half == pytest.approx(np.mean([i.half_width for i in intervals]), rel=0.1)


@pytest.mark.long
def test_more_draws_never_have_less_power() -> None:
    by_size = [power_of_mean([0.01, 0.05], 0.05, n)[1] for n in (2, 3, 5, 8, 10, 20, 50)]
    assert by_size[0] == [0.0, 0.0]
    for fewer, more in itertools.pairwise(by_size):
        assert all(b >= a - 0.03 for a, b in zip(fewer, more, strict=True))


def test_further_seeds_narrow_the_drop_where_training_noise_dominates() -> None:
    one, three, ten = (half_width_of_drop(0.6, 0.01, 0.05, 1, 19, R) for R in (1, 3, 10))
    assert one < three  # with one seed it is conditional on it
    assert ten < three


def test_standard_deviations_of_few_values_may_be_much_larger() -> None:
    rng = np.random.default_rng(0)
    for n in (3, 10):
        bounds = [sd_at_most(float(x.std(ddof=1)), n) for x in rng.normal(0, 1, (1000, n))]
        assert np.mean(np.array(bounds) >= 1) == pytest.approx(0.8, abs=0.04)
    seeds = rng.normal(0, 2, (200, 1)) + rng.normal(0, 0.5, (200, 3))
    assert training_sd(seeds) == pytest.approx(0.5, rel=0.1)


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
