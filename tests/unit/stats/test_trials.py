"""The result of a search of r trials, and whether there are enough."""

from __future__ import annotations

import math
from itertools import combinations, pairwise
from random import Random

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from seqsearch.stats.trials import best_of, chosen, enough, gain_at_most, gain_from_here, typical_best

NAN = math.nan
SCORES = st.lists(st.one_of(st.sampled_from([0.2, 0.4, 0.4, NAN]), st.floats(0, 1)), min_size=1, max_size=7)


def by_enumeration(x: list[float], y: list[float]) -> tuple[list[float], list[float]]:
    """Mean value of the chosen over all choices of r, and share of those without one; ties of the score share the choice."""
    expected, undefined = [], []
    for r in range(1, len(x) + 1):
        weight = total = 0.0
        choices = list(combinations(range(len(x)), r))
        for drawn in choices:
            valid = [i for i in drawn if not math.isnan(x[i])]
            tied = [i for i in valid if x[i] == max(x[j] for j in valid)]
            for i in tied:
                if not math.isnan(y[i]):
                    weight, total = weight + 1 / len(tied), total + y[i] / len(tied)
        expected.append(total / weight if weight > 1e-9 else NAN)
        undefined.append(1 - weight / len(choices))
    return expected, undefined


def apart(x: list[float]) -> bool:
    """No two scores are alike but for rounding, unless they are the same."""
    known = sorted({v for v in x if not math.isnan(v)})
    return all(b - a > 1e-6 for a, b in pairwise(known))


@given(SCORES, st.data())
def test_the_curve_is_that_of_all_choices(x: list[float], data: st.DataObject) -> None:
    assume(apart(x))
    y = data.draw(st.lists(st.one_of(st.just(NAN), st.floats(0, 1)), min_size=len(x), max_size=len(x)))
    for found, values in ((best_of(x), x), (best_of(x, y), y)):
        expected, undefined = by_enumeration(x, values)
        assert found.expected == pytest.approx(expected, abs=1e-12, nan_ok=True)
        assert found.undefined == pytest.approx(undefined, abs=1e-12)


def test_a_curve_by_hand() -> None:
    found = best_of([0.5, NAN, 0.7, 0.7])
    assert found.expected.tolist() == pytest.approx([1.9 / 3, (0.5 + 5 * 0.7) / 6, 0.7, 0.7])
    assert found.undefined.tolist() == pytest.approx([0.25, 0, 0, 0])
    elsewhere = best_of([0.5, NAN, 0.7, 0.7], of=[0.9, 0.9, 0.1, 0.3])
    assert elsewhere.expected[3] == pytest.approx(0.2), "the two that score alike are chosen as often"
    everything = best_of([NAN, NAN])
    assert np.isnan(everything.expected).all()
    assert everything.undefined.tolist() == [1, 1]


@given(st.lists(st.floats(0, 1), min_size=3, max_size=40))
def test_the_curve_rises_and_is_concave(x: list[float]) -> None:
    gains = np.diff(best_of(x).expected)
    assert (gains > -1e-9).all()
    assert (np.diff(gains) < 1e-9).all()


@given(SCORES, st.randoms())
def test_numbers_of_settings_do_not_matter(x: list[float], random: Random) -> None:
    order = list(range(len(x)))
    random.shuffle(order)
    again = best_of([x[i] for i in order]).expected
    assert again == pytest.approx(best_of(x).expected, abs=1e-8, nan_ok=True)
    assert chosen([x[i] for i in order]) == pytest.approx(chosen(x)[:, order], abs=1e-12)


def test_the_curve_estimates_a_search_without_bias() -> None:
    """Of uniform scores the best of r is r / (r + 1) on average."""
    rng = np.random.default_rng(0)
    curves = np.array([best_of(rng.random(8)).expected for _ in range(3000)])
    error = curves.std(axis=0) / math.sqrt(len(curves))
    assert (np.abs(curves.mean(axis=0) - np.arange(1, 9) / np.arange(2, 10)) < 4 * error).all()


def test_the_typical_best_is_bounded_where_there_are_settings_enough() -> None:
    x = np.arange(30) / 100
    found = typical_best(x, 3)
    assert found.unavailable_because == ""
    assert found.value.low < 0.5 ** (1 / 3) * 0.29 < found.value.high
    few = typical_best(x, 6)
    assert math.isnan(few.value.low)
    assert few.unavailable_because == "the typical best of 6 needs 32 settings, 30 there"
    assert not math.isnan(typical_best(np.arange(32) / 100, 6).value.low)
    assert typical_best([NAN] * 5 + [0.4] * 5, 1).value.low == 0, "five of ten diverged"


@pytest.mark.parametrize("bad", [[], [[0.1]], [math.inf]])
def test_what_are_no_scores_is_refused(bad: list[float]) -> None:
    with pytest.raises(ValueError, match="scores must be one a setting"):
        best_of(bad)


def test_values_must_pair() -> None:
    with pytest.raises(ValueError, match="2 settings need as many values of the chosen, not 1"):
        best_of([0.1, 0.2], [0.3])
    with pytest.raises(ValueError, match="the best of 0 settings is none"):
        typical_best([0.1], 0)


@pytest.mark.parametrize("shape", ["uniform", "exponential", "diverged"])
def test_the_bound_is_above_the_gain_on_average(shape: str) -> None:
    """Of R = 12 by 5 more; the true means of the best come from 30,000 draws each."""
    rng = np.random.default_rng(0)

    def draw(*size: int) -> np.ndarray:
        x = rng.exponential(size=size) if shape == "exponential" else rng.random(size)
        return np.where(rng.random(size) < 0.3, NAN, x) if shape == "diverged" else x

    bounds = [gain_at_most(draw(12), 5) for _ in range(2000)]
    best = {r: np.nan_to_num(draw(30_000, r)).max(axis=1).mean() for r in (7, 12, 17)}
    error = np.std(bounds) / math.sqrt(len(bounds)) + 0.005
    assert np.mean(bounds) == pytest.approx(best[12] - best[7], abs=4 * error)
    assert np.mean(bounds) > best[17] - best[12]


def test_the_gain_from_here_is_that_of_an_exponential_tail() -> None:
    """Expected gain of 10 draws over the best one, with the tail that is fitted."""
    x = np.array([0.1, 0.2, 0.3, 0.35, 0.4, 0.5, 0.55, 0.6, 0.8])
    start, scale = 0.5, np.mean([0.05, 0.1, 0.3])
    rng = np.random.default_rng(0)
    draws = start + np.where(rng.random((200_000, 10)) < 3 / 9, rng.exponential(scale, size=(200_000, 10)), -1)
    gained = np.clip(draws.max(axis=1) - 0.8, 0, None)
    assert gain_from_here(x) == pytest.approx(gained.mean(), abs=4 * gained.std() / math.sqrt(len(gained)))


def test_the_rule_stops_where_the_best_are_alike_and_orders_differ() -> None:
    rng = np.random.default_rng(0)
    level = np.append(np.linspace(0.2, 0.5, 20), [0.6] * 20)
    noisy = enough(level[:, None] + 0.02 * rng.normal(size=(40, 5)))
    assert noisy.stop
    assert noisy.unavailable_because == ""
    assert max(noisy.bound, noisy.from_here) < noisy.noise < 0.03
    rising = enough(np.linspace(0.2, 0.8, 40)[:, None] + 1e-4 * rng.normal(size=(40, 5)))
    assert not rising.stop
    assert rising.unavailable_because == ""


def test_the_noise_is_the_median_over_settings_so_that_few_that_vary_much_do_not_stop_a_search() -> None:
    rng = np.random.default_rng(0)
    scores = np.linspace(0.2, 0.5, 20)[:, None] + 0.01 * rng.normal(size=(20, 5))
    wild = scores.copy()
    wild[:3] += 0.3 * (wild[:3] - wild[:3].mean(axis=1, keepdims=True)) / 0.01
    gaps = wild[wild.mean(axis=1).argmax()] - wild
    errors = np.sort(gaps.std(axis=1, ddof=1))[1:] / math.sqrt(5)  # without the best one's, which is 0
    assert enough(wild).noise == pytest.approx(errors[9])
    assert enough(wild).noise < 2 * enough(scores).noise


@pytest.mark.parametrize(
    ("scores", "unavailable_because"),
    [
        (np.full((12, 2), NAN), "all settings diverged"),
        (np.random.default_rng(0).random((10, 2)), "more than 10 settings needed, 10 there"),
        (
            np.append(np.full((10, 2), NAN), [[0.1, 0.2], [0.3, 0.2]], axis=0),
            "4 settings needed that did not diverge, 2",
        ),
        (np.random.default_rng(0).random((12, 1)), "no two settings differ from order to order"),
    ],
)
def test_without_figures_there_is_no_stop(scores: np.ndarray, unavailable_because: str) -> None:
    found = enough(scores)
    assert not found.stop
    assert found.unavailable_because.startswith(unavailable_because)


def test_nothing_more_is_refused() -> None:
    for gain in (gain_at_most, gain_from_here):
        with pytest.raises(ValueError, match="0 further trials add nothing"):
            gain([0.1, 0.2], 0)
