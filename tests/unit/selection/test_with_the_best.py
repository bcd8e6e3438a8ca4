"""Multiple comparisons with the best: the critical value, what is told apart, and what follows from its definition."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from seqsearch.selection.with_the_best import Error, dunnett, with_the_best

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


def test_what_is_far_behind_is_told_and_what_is_near_is_not() -> None:
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
def test_where_nothing_can_be_told(
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
