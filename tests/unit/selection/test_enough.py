"""What more trials add at most, what they add from here, and the rule that stops."""

from __future__ import annotations

import math

import numpy as np
import pytest

from seqsearch.selection.enough import enough, gain_at_most, gain_from_here

NAN = math.nan


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
