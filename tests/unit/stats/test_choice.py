"""Choices of settings: the best and what does not differ from it, the cheapest within one standard error, regret."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from seqsearch.stats.choice import (
    Error,
    dunnett,
    harmonic,
    of_means,
    one_standard_error,
    optimism,
    regret,
    shares_of_orders,
    with_the_best,
)
from seqsearch.stats.mean import DIFFERENCE, FEWEST, mean_interval

NAN = math.nan
ERRORS: tuple[Error, ...] = ("paired", "pooled")


@pytest.mark.parametrize(("others", "degrees"), [(3, 3), (29, 2), (29, 116)])
def test_the_critical_value_against_simulation(others: int, degrees: int) -> None:
    """.95 of 40,000 draws has a standard error of .0011."""
    rng = np.random.default_rng(0)
    z, s = rng.normal(size=(40_000, others + 1)), np.sqrt(rng.chisquare(degrees, 40_000) / degrees)
    held = (z[:, 1:].max(axis=1) - z[:, 0]) / math.sqrt(2) <= dunnett(others, degrees) * s
    assert held.mean() == pytest.approx(0.95, abs=0.0045)


def test_the_critical_value_is_students_for_one_and_dunnetts_for_more() -> None:
    """Against multivariate t as scipy has it."""
    assert dunnett(1, 5) == pytest.approx(stats.t.isf(0.05, 5), abs=1e-4)
    assert dunnett(1, 1) == pytest.approx(stats.t.isf(0.05, 1), abs=1e-3)
    d = dunnett(4, 20)
    together = stats.multivariate_t(np.zeros(4), 0.5 + 0.5 * np.eye(4), df=20, seed=0)
    assert float(together.cdf(np.full(4, d))) == pytest.approx(0.95, abs=1e-3)


def test_two_settings_are_compared_as_by_student() -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(0.5, 0.05, size=(2, 6)) + np.array([[0.1], [0.0]])
    gaps = x[0] - x[1]
    reach = stats.t.isf(0.05, 5) * gaps.std(ddof=1) / math.sqrt(6)
    for error in ERRORS:
        found = with_the_best(x, error=error)
        assert found.distance[0].value == pytest.approx(gaps.mean())
        assert found.distance[0].high == pytest.approx(max(0, gaps.mean() + reach), abs=1e-5)
        assert found.distance[1].low == pytest.approx(min(0, -gaps.mean() - reach), abs=1e-5)


def test_far_settings_differ_and_near_ones_are_undecided() -> None:
    rng = np.random.default_rng(0)
    x = np.array([[0.6], [0.598], [0.3], [0.3]]) + rng.normal(0, 0.01, size=5)
    x += 0.005 * np.array([[1, -1, 0, 0.5, -0.5], [-1, 1, 1, -1, 0], [0, 1, -1, 0, 0], [1, 0, 0, -1, 0]])
    x = np.append(x, np.full((1, 5), NAN), axis=0)
    for error in ERRORS:
        found = with_the_best(x, error=error)
        assert found.candidates == (0, 1)
        assert found.distance[2].high == 0
        assert found.distance[2].low < -0.29
        assert math.isnan(found.distance[4].value), "it diverged"
    alone = with_the_best(np.delete(x, 1, axis=0))
    assert alone.candidates == (alone.best,) == (0,)
    assert alone.distance[0].low == 0


def test_differences_that_agree_tell_nothing() -> None:
    found = with_the_best([[0.6, 0.7], [0.5, 0.6]])
    assert found.candidates == (0, 1)
    assert found.unavailable_because == ""
    assert (found.distance[0].low, found.distance[0].high) == (-1, 1)


@pytest.mark.parametrize(
    ("scores", "candidates", "unavailable_because"),
    [
        ([[0.5], [0.4]], (0, 1), "one class order"),
        ([[0.5, 0.4], [NAN, 0.4]], (0,), "one setting"),
        ([[NAN, 0.4]], (), "all settings diverged"),
    ],
)
def test_where_no_setting_can_differ(
    scores: list[list[float]], candidates: tuple[int, ...], unavailable_because: str
) -> None:
    found = with_the_best(scores)
    assert found.candidates == candidates
    assert found.unavailable_because.startswith(unavailable_because)
    assert all(math.isnan(d.low) for d in found.distance)


@given(st.integers(2, 8), st.integers(2, 6), st.integers(0, 10_000), st.sampled_from(ERRORS))
def test_what_holds_for_any_scores(k: int, S: int, seed: int, error: Error) -> None:
    """The best is a candidate; numbers, what all share, and what orders add do not matter; a higher level tells less."""
    rng = np.random.default_rng(seed)
    x = 0.3 + 0.1 * rng.random((k, 1)) + 0.02 * rng.normal(size=(k, S))
    found = with_the_best(x, error=error)
    assert found.best in found.candidates
    assert all((d.high > 0) == (i in found.candidates) for i, d in enumerate(found.distance))
    assert all(d.low <= d.value <= d.high or d.low == d.high == 0 or d.high == 0 for d in found.distance)
    assert with_the_best(x + 0.1 * rng.random(S), error=error).candidates == found.candidates
    order = rng.permutation(k)
    again = with_the_best(x[order], error=error)
    assert {int(order[i]) for i in again.candidates} == set(found.candidates)
    assert set(found.candidates) <= set(with_the_best(x, level=0.99, error=error).candidates)


def test_the_harmonic_mean_and_its_edges() -> None:
    assert harmonic([0.4, 0, 0, NAN], [0.6, 0.5, 0, 0.5]) == pytest.approx([0.48, 0, 0, NAN], nan_ok=True)
    with pytest.raises(ValueError, match="fractions between 0 and 1"):
        harmonic([51.0], [0.5])
    with pytest.raises(ValueError, match="do not pair"):
        harmonic([0.5, 0.4], [0.5])


@given(st.integers(1, 6), st.integers(0, 10_000))
def test_shares_of_orders_have_the_mean_and_the_slopes_of_h(S: int, seed: int) -> None:
    """What an order adds changes H of the means as a small change of that order's accuracies does."""
    rng = np.random.default_rng(seed)
    acc, avg = rng.uniform(0.1, 0.9, (2, 3, S))
    shares, h = shares_of_orders(acc, avg), of_means(acc, avg)
    assert shares.mean(axis=1) == pytest.approx(h)
    assert shares_of_orders(avg, avg) == pytest.approx(avg), "where both agree, H is their accuracy"
    tiny = 1e-6 * rng.normal(size=(2, 3, S))
    moved = of_means(acc + tiny[0], avg + tiny[1]) - h
    A, B = acc.mean(axis=1), avg.mean(axis=1)
    slopes = 2 * (B**2 * tiny[0].mean(axis=1) + A**2 * tiny[1].mean(axis=1)) / (A + B) ** 2
    assert moved == pytest.approx(slopes, abs=1e-10)


def test_the_spread_of_shares_is_that_of_h() -> None:
    rng = np.random.default_rng(0)
    acc = 0.4 + 0.03 * rng.normal(size=(4000, 5))
    avg = 0.6 + 0.5 * (acc - 0.4) + 0.02 * rng.normal(size=acc.shape)
    errors = shares_of_orders(acc, avg).var(axis=1, ddof=1) / 5
    assert errors.mean() == pytest.approx(of_means(acc, avg).var(), rel=0.08)


def test_edges_of_shares() -> None:
    shares = shares_of_orders([[0.0, 0.0], [0.5, NAN]], [[0.0, 0.0], [0.5, 0.5]])
    assert shares[0].tolist() == [0, 0]
    assert np.isnan(shares[1]).all()


def test_the_cheapest_within_one_error_is_chosen() -> None:
    x = np.array([[0.60, 0.62, 0.58], [0.59, 0.60, 0.60], [0.55, 0.57, 0.53], [NAN, 0.9, 0.9]])
    found = one_standard_error(x, [10, 5, 1, 1])
    assert (found.best, found.chosen, found.within) == (0, 1, (0, 1))
    assert found.behind[1] == pytest.approx(0.01 / 3)
    assert found.error[1] == pytest.approx(np.std([0.01, 0.02, -0.02], ddof=1) / math.sqrt(3))
    assert math.isnan(found.error[2]), "it lies behind by as much in all orders"
    assert one_standard_error(x, [10, 20, 1, 1]).chosen == 0
    assert one_standard_error(x, [5, 5, 5, 5]).chosen == 0, "ties of cost go to the higher score"
    alike = one_standard_error([[0.5, 0.6]] * 3, [2, 1, 1])
    assert (alike.best, alike.chosen, alike.within) == (0, 1, (0, 1, 2))
    assert one_standard_error([[0.5], [0.6]], [1, 2]).chosen == 1, "one order: the best alone"


def test_what_cannot_be_chosen_among_is_refused() -> None:
    with pytest.raises(ValueError, match="all settings diverged"):
        one_standard_error([[NAN, 0.5]], [1])
    with pytest.raises(ValueError, match="2 settings need as many costs, not 1"):
        one_standard_error([[0.5], [0.5]], [1])
    with pytest.raises(ValueError, match="costs must be finite"):
        one_standard_error([[0.5]], [NAN])
    with pytest.raises(ValueError, match="settings by class orders"):
        one_standard_error([0.5], [1])


def test_regret_is_the_mean_of_paired_differences() -> None:
    rng = np.random.default_rng(0)
    shared = rng.random(8)  # what an order does to both cancels
    a, b = 0.5 + 0.2 * shared + 0.01 * rng.normal(size=8), 0.48 + 0.2 * shared
    found = regret(a, b)
    assert found.value == mean_interval(a - b, DIFFERENCE)
    assert found.value.value == pytest.approx((a - b).mean())
    assert (found.orders, found.unavailable_because) == (8, "")
    back = regret(b, a)
    assert (-back.value.high, -back.value.low) == pytest.approx((found.value.low, found.value.high))


def test_optimism_is_what_was_promised_too_much() -> None:
    fresh = [0.50, 0.52, 0.51, 0.49, 0.53]
    found = optimism(0.60, fresh)
    assert found.value.value == pytest.approx(0.09)
    assert found.value.low < 0.09 < found.value.high
    assert found.value == regret([0.60] * 5, fresh).value


@pytest.mark.parametrize(
    ("gaps", "unavailable_because"),
    [
        ([0.1, 0.2], f"{FEWEST} class orders needed, 2 there"),
        ([0.0] * 6, "it is the same in all class orders"),
    ],
)
def test_where_there_are_no_bounds(gaps: list[float], unavailable_because: str) -> None:
    found = regret(np.array(gaps) + 0.5, [0.5] * len(gaps))
    assert found.value.value == pytest.approx(np.mean(gaps))
    assert math.isnan(found.value.low)
    assert found.unavailable_because == unavailable_because


def test_what_does_not_pair_or_diverged_is_refused() -> None:
    with pytest.raises(ValueError, match="2 orders of one setting do not pair with 1"):
        regret([0.1, 0.2], [0.1])
    with pytest.raises(ValueError, match="finite"):
        optimism(math.nan, [0.1, 0.2])
