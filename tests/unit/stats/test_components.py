"""Noise of class orders and of training seeds, told apart."""

from __future__ import annotations

import math

import numpy as np
import pytest

from seqsearch.stats.components import components


def drawn(rng: np.random.Generator, K: int, S: int, order: float, seed: float = 1.0) -> np.ndarray:
    return order * rng.normal(size=(K, 1)) + seed * rng.normal(size=(K, S))


def test_of_many_runs_both_come_out():
    found = components(drawn(np.random.default_rng(0), 400, 6, 2.0), draws=99)
    assert found.order == pytest.approx(2.0, rel=0.1)
    assert found.seed == pytest.approx(1.0, rel=0.1)
    assert found.p == pytest.approx(0.01)


def test_by_hand():
    found = components([[0.1, 0.3], [0.5, 0.5], [0.2, 0.4]])
    within = (0.02 + 0.0 + 0.02) / 3
    between = 2 * np.var([0.2, 0.5, 0.3], ddof=1)
    assert found.seed == pytest.approx(math.sqrt(within))
    assert found.order == pytest.approx(math.sqrt((between - within) / 2))


@pytest.mark.parametrize(("K", "S", "order"), [(3, 3, 0.0), (3, 3, 2.0), (10, 2, 0.0), (10, 2, 1.0)])
def test_variances_are_unbiased_and_orders_do_not_differ_without_noise(K, S, order):
    rng = np.random.default_rng(K)
    found = [components(drawn(rng, K, S, order), draws=99) for _ in range(400)]
    assert np.mean([c.seed**2 for c in found]) == pytest.approx(1.0, rel=0.15)
    if order:
        assert np.mean([c.order**2 for c in found]) == pytest.approx(order**2, rel=0.2)
    else:
        assert np.mean([c.p <= 0.05 for c in found]) < 0.09


def test_where_seeds_change_nothing_orders_vary_by_themselves():
    found = components([[0.5, 0.5], [0.7, 0.7], [0.6, 0.6]])
    assert found.seed == 0
    assert found.order == pytest.approx(0.1)
    assert math.isnan(found.p)
    assert not found.unavailable_because


@pytest.mark.parametrize("values", [[[0.1, 0.2]], [[0.1], [0.2]]])
def test_a_single_order_or_seed_says_nothing(values):
    assert "2 or more orders" in components(values).unavailable_because


def test_runs_that_agree_say_nothing():
    assert "all runs agree" in components(np.full((3, 3), 0.4)).unavailable_because


def test_the_same_runs_give_the_same_p():
    y = drawn(np.random.default_rng(2), 5, 3, 0.5)
    assert components(y) == components(y)
