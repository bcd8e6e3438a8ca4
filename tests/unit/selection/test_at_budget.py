"""The expected best at a budget against every order of the settings, and what holds of it for any scores and costs."""

from __future__ import annotations

import math
from itertools import permutations
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqsearch.selection.at_budget import MOST, PARTS, AtBudget, at_budget
from seqsearch.selection.best_of import best_of

NAN = math.nan
SETTING = st.tuples(
    st.one_of(st.sampled_from([0.2, 0.4, 0.4, NAN]), st.floats(0, 1)), st.integers(0, 9), st.one_of(st.just(NAN), st.floats(0, 1))
)  # fmt: skip


def by_enumeration(x: list[float], w: list[float], budget: float, y: list[float]) -> AtBudget:
    """All orders: try until the next does not fit; of those that score alike the smaller number."""
    values, undefined, trials, count = 0.0, 0, 0, 0
    for order in permutations(range(len(x))):
        spent, tried = 0.0, []
        for i in order:
            if spent + w[i] > budget:
                break
            spent, tried = spent + w[i], [*tried, i]
        good = [i for i in tried if not math.isnan(x[i])]
        value = y[min(good, key=lambda i: (-x[i], i))] if good else NAN
        count, trials = count + 1, trials + len(tried)
        values, undefined = values + (0.0 if math.isnan(value) else value), undefined + math.isnan(value)
    known = count - undefined
    return AtBudget(values / known if known else NAN, undefined / count, trials / count)


def alike(found: AtBudget, other: AtBudget) -> bool:
    return all(
        getattr(found, name) == pytest.approx(getattr(other, name), abs=1e-9, nan_ok=True)
        for name in ("expected", "undefined", "trials")
    )


@given(st.lists(SETTING, min_size=1, max_size=5), st.integers(0, 40))
def test_it_is_the_mean_over_all_orders(settings: list[tuple[float, int, float]], budget: int) -> None:
    x, w, y = (list(column) for column in zip(*settings, strict=True))
    assert alike(at_budget(x, w, budget), by_enumeration(x, w, budget, x))
    assert alike(at_budget(x, w, budget, y), by_enumeration(x, w, budget, y))


def test_costs_without_a_common_divisor_are_rounded_up() -> None:
    x, w = [0.5, 0.7, 0.6, 0.1, 0.9], [10.003, 20.011, 31.7, 7.77, 44.4]
    unit = 50 / PARTS
    rounded = [math.ceil(c / unit) * unit for c in w]
    assert alike(at_budget(x, w, 50), by_enumeration(x, rounded, 50 + 1e-6, x))
    big = [1_000_003.0, 2_000_006.0, 1_000_003.0]  # whole numbers: exact, however large
    assert alike(at_budget(x[:3], big, 2_000_006), by_enumeration(x[:3], big, 2_000_006, x[:3]))


def test_equal_costs_give_the_best_of_r() -> None:
    draws = Random(1)
    x = [draws.random() if draws.random() > 0.2 else NAN for _ in range(30)]
    of_r = best_of(x)
    for r in (1, 3, 29, 30):
        found = at_budget(x, [7.0] * 30, 7.0 * r + 3)
        assert found.trials == pytest.approx(r)
        assert found.expected == pytest.approx(of_r.expected[r - 1], abs=1e-9)
        assert found.undefined == pytest.approx(of_r.undefined[r - 1], abs=1e-9)


def test_what_costs_more_is_tried_less_often() -> None:
    """A good setting that costs all the budget: at the mean cost of 5.5 one trial of two would fit, and find it in half."""
    found = at_budget([0.9, 0.1], [10, 1], 10)
    assert (found.expected, found.trials) == (pytest.approx(0.5), pytest.approx(1.0))
    three = at_budget([0.9, 0.1, 0.1], [10, 1, 1], 10)
    assert three.expected == pytest.approx((0.9 + 2 * 0.1) / 3)


def test_many_settings_keep_their_probability() -> None:
    draws = np.random.default_rng(0)
    x, w = draws.random(MOST), draws.integers(1, 40, MOST) * 500.0
    found = at_budget(x, w, float(w.sum()) / 3)
    assert 60 < found.trials < 75
    assert x.max() - 0.02 < found.expected < x.max()
    assert found.undefined == pytest.approx(0, abs=1e-9)


def test_nothing_fits_or_all_does() -> None:
    assert alike(at_budget([0.5, 0.6], [3, 4], 2), AtBudget(NAN, 1.0, 0.0))
    assert alike(at_budget([0.5, 0.6], [3, 4], 0), AtBudget(NAN, 1.0, 0.0))
    assert alike(at_budget([0.5, NAN], [0, 0], 0), AtBudget(0.5, 0.0, 2.0))
    assert alike(at_budget([0.5, 0.6], [3.5, 4.1], 100), AtBudget(0.6, 0.0, 2.0))


@pytest.mark.parametrize(
    ("x", "w", "budget"),
    [
        ([], [], 1.0), ([0.5], [1, 2], 1.0), ([0.5], [-1], 1.0), ([0.5], [NAN], 1.0), ([0.5], [1], NAN), ([0.5], [1], -1.0),
        ([math.inf], [1], 1.0), ([0.5], [1], math.inf), ([0.5] * (MOST + 1), [1] * (MOST + 1), 5.0),
    ],
)  # fmt: skip
def test_what_is_no_search_is_refused(x: list[float], w: list[float], budget: float) -> None:
    with pytest.raises(ValueError, match=r"must|need|finite|missing|costs"):
        at_budget(x, w, budget)
