"""The score of a setting, and the cheapest among those one standard error from the best."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqsearch.selection.harmonic import harmonic, of_means, shares_of_orders
from seqsearch.selection.one_se import one_standard_error

NAN = math.nan


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
