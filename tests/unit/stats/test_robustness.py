"""Spread over orders: estimates against direct computation, and when nothing is said."""

from __future__ import annotations

import math

import numpy as np
import pytest

from seqsearch.stats import robustness
from seqsearch.stats.robustness import FEWEST_ORDERS, order_spread, spread_ratio


def table(K: int, S: int, order: float, noise: float, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(K, 1)), rng.normal(size=(1, S))
    return 0.6 + order * a + 0.01 * b + noise * rng.normal(size=(K, S))


def test_the_estimate_is_of_the_two_way_analysis_of_variance() -> None:
    y = table(25, 3, 0.03, 0.02)
    fit = y.mean(axis=1, keepdims=True) + y.mean(axis=0, keepdims=True) - y.mean()
    error = ((y - fit) ** 2).sum() / (24 * 2)
    order = (3 * ((y.mean(axis=1) - y.mean()) ** 2).sum() / 24 - error) / 3
    found = order_spread(y)
    assert found.sd == pytest.approx(math.sqrt(order))
    assert found.upper > found.sd
    assert (found.orders, found.seeds) == (25, 3)


def test_a_seed_that_shifts_all_orders_changes_nothing() -> None:
    y = table(25, 3, 0.03, 0.02)
    shifted = order_spread(y + np.array([0.0, 0.1, -0.05]))
    assert (shifted.sd, shifted.upper) == pytest.approx((order_spread(y).sd, order_spread(y).upper))


def test_the_bound_scales_with_the_accuracies_and_narrows_with_data() -> None:
    y = table(25, 2, 0.03, 0.02) - 0.6
    assert order_spread(y * 0.5).upper == pytest.approx(order_spread(y).upper / 2)

    def typical(K: int, S: int) -> float:
        return float(np.median([order_spread(table(K, S, 0.02, 0.02, seed)).upper for seed in range(40)]))

    assert typical(20, 2) > typical(40, 2) > typical(160, 2) > 0.02
    assert typical(40, 2) > typical(40, 4)


@pytest.mark.parametrize(("K", "S"), [(FEWEST_ORDERS, 1), (FEWEST_ORDERS - 1, 2)])
def test_nothing_is_said_of_one_seed_or_few_orders(K: int, S: int) -> None:
    found = order_spread(table(K, S, 0.02, 0.02))
    assert math.isnan(found.upper)
    assert found.unavailable_because
    assert not found.within(1.0)
    assert spread_ratio(table(K, S, 0.02, 0.02), table(K, S, 0.02, 0.02, 1)).unavailable_because


def test_orders_that_all_agree_are_no_evidence_of_a_bound() -> None:
    same = np.tile([[0.5, 0.6]], (30, 1))
    found = order_spread(same)
    assert found.unavailable_because == "all orders have the same accuracy with the same seed"
    assert not found.within(1.0)


def test_a_bound_lies_within_a_margin_or_not() -> None:
    found = order_spread(table(60, 3, 0.01, 0.005))
    assert found.within(0.03)
    assert not found.within(0.011)


def test_no_effect_of_order_is_bounded_by_noise_alone() -> None:
    found = order_spread(table(60, 4, 0.0, 0.02))
    assert found.sd < 0.01
    assert found.within(0.02)


def test_the_ratio_of_a_method_and_a_baseline() -> None:
    rng = np.random.default_rng(3)
    a = rng.normal(size=(80, 1))
    own, base = (0.5 + s * a + 0.004 * rng.normal(size=(80, 3)) for s in (0.01, 0.04))
    found = spread_ratio(own, base)
    assert found.ratio == pytest.approx(order_spread(own).sd / order_spread(base).sd)
    assert 0.25 < found.upper < 0.5
    assert spread_ratio(own, base).upper < 1 < spread_ratio(base, own).upper


def test_no_bound_of_the_ratio_to_a_baseline_without_a_spread() -> None:
    assert math.isinf(spread_ratio(table(30, 2, 0.02, 0.01), table(30, 2, 0.0, 0.02, 1)).upper)


def test_shapes_must_agree() -> None:
    with pytest.raises(ValueError, match="must be the same"):
        spread_ratio(table(30, 2, 0.02, 0.01), table(29, 2, 0.02, 0.01))


def test_pseudo_values_leave_out_an_order_at_a_time() -> None:
    y = table(25, 3, 0.03, 0.02)
    V, N = robustness._variances(y)
    rest = [robustness._variances(np.delete(y, order, axis=0)) for order in range(25)]
    assert robustness._pseudo_values(y) == pytest.approx([25 * (V - N) - 24 * (v - n) for v, n in rest])
