"""Regret and optimism: mean differences over orders, and where they have no bounds."""

from __future__ import annotations

import math

import numpy as np
import pytest

from seqsearch.distribution.mean import DIFFERENCE, FEWEST, mean_interval
from seqsearch.selection.regret import optimism, regret


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
