"""Spending a budget of simulations on the candidates of one step, and choosing among them.

Eq. 8 and Table 4 are those of "CLDyB: Towards Dynamic Benchmarking for Continual Learning with Pre-trained Models".

Pure functions. The arms of a root are its ``B`` candidate tasks; a planner keeps a window of simulations in flight and
calls `next_arm` before each. All that is known of the arms is ``visits`` (results known), ``in_flight`` (asked, not yet
known) and ``means`` (of the known results; NaN for none). An arm whose mean is not finite although it was visited is
invalid (a method diverged on it): it gets no more simulations and is never chosen.
"""

from __future__ import annotations

import math
from enum import Enum
from typing import Final, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seqsearch.core.errors import UserError

Allocation = Literal["uniform", "halving", "uct"]

TIE: Final = 1e-9
"""Values of J, which are accuracies, that differ by no more are equal: rounding separates them. The lowest index wins."""

DIFFICULTY: Final = {"hard": 0.0, "medium": 1.0, "easy": math.inf}
"""Temperatures of `choose` for the levels of difficulty of Table 4."""


class Wait(Enum):
    """The type of `WAIT`."""

    WAIT = "wait"


WAIT: Final = Wait.WAIT
"""The next arm depends on results still in flight: a barrier."""


def next_arm(
    kind: Allocation,
    visits: ArrayLike,
    in_flight: ArrayLike,
    means: ArrayLike,
    budget: int,
    max_visits_per_arm: int | None = None,
    exploration: float = 1.0,
) -> int | Wait | None:
    """The arm that gets the next simulation, `WAIT` for results in flight, or None when there is nothing more to ask.

    ``visits``, ``in_flight`` and ``means`` are ``[B]``. No kind asks more than ``budget`` simulations in all, nor more
    than ``max_visits_per_arm`` of one arm (1 where a second visit would return the same number). Every arm is visited
    once before any twice, in order of index, so a budget below ``B`` evaluates the first ``budget`` arms. Ties go to the
    lowest index.

    - ``uniform``: round robin.
    - ``halving``: "Almost Optimal Exploration in Multi-Armed Bandits" (Karnin et al., 2013); see `_halving`.
    - ``uct``: "Watch the Unobserved: A Simple Approach to Parallelizing Monte Carlo Tree Search" (Liu et al., 2020);
      see `_uct`, which takes ``exploration``.
    """
    done, flying = np.asarray(visits, dtype=np.int64), np.asarray(in_flight, dtype=np.int64)
    values = np.asarray(means, dtype=np.float64)
    asked = done + flying
    limit = budget if max_visits_per_arm is None else max_visits_per_arm
    open_arms = (asked < limit) & ~_invalid(done, values)
    if asked.sum() >= budget or not open_arms.any():
        return None
    if kind == "uniform":
        return _first_max(-asked, open_arms)
    if kind == "halving":
        return _halving(asked, flying, values, open_arms, budget)
    if kind == "uct":
        return _uct(done, flying, values, open_arms, exploration)
    raise UserError(f"unknown allocation {kind!r}: choose uniform, halving or uct")


def contenders(kind: Allocation, visits: ArrayLike, means: ArrayLike) -> NDArray[np.bool_]:
    """``[B]`` arms among which the best mean is to be sought when all simulations are done.

    With halving these are the survivors, the valid arms visited most: an arm eliminated early keeps a mean of few
    results, and the best of many noisy means is a lucky one. With the other kinds, every valid arm visited.
    """
    done, values = np.asarray(visits, dtype=np.int64), np.asarray(means, dtype=np.float64)
    valid = (done > 0) & np.isfinite(values)
    if kind == "halving" and valid.any():
        valid &= done == done[valid].max()
    return valid


def choose(means: ArrayLike, temperature: float, rng: np.random.Generator) -> int:
    """The arm selected by Eq. 8.

    p(arm) is proportional to exp(J / tau), with ``temperature`` = tau in units of the standard deviation of ``means``
    ``[B]``, so that a level of difficulty means the same whatever the reward. 0 takes the largest mean (of those that
    equal it up to `TIE` the lowest index), infinity any arm; see `DIFFICULTY`. Arms whose mean is not finite are never chosen.

    Raises:
        ValueError: no mean is finite, or ``temperature`` is negative.
    """
    values = np.asarray(means, dtype=np.float64)
    valid = np.isfinite(values)
    if not valid.any():
        raise ValueError("no candidate has a valid value")
    if not temperature >= 0:
        raise ValueError(f"temperature must be at least 0, not {temperature}")
    if temperature == 0:
        return _first_max(values, valid)
    arms, z = np.flatnonzero(valid), values[valid] - values[valid].max()
    with np.errstate(over="ignore"):  # a tiny temperature: exp(-inf) = 0 is what is meant
        spread = _spread(values[valid])
        logits = z / spread / temperature if spread else 0 * z
    weights = np.exp(logits)
    return int(rng.choice(arms, p=weights / weights.sum()))


def _halving(
    asked: NDArray[np.int64],
    flying: NDArray[np.int64],
    means: NDArray[np.float64],
    open_arms: NDArray[np.bool_],
    budget: int,
) -> int | Wait | None:
    """Sequential halving: each of ceil(log2 B) rounds spends an equal share and keeps the better half of its arms.

    The plan is a list of passes (`_passes`): pass ``v`` gives ``size`` arms their visit number ``v + 1``. Where more
    arms have ``v`` visits than a pass may serve, the best by mean go on, which needs all their results: a barrier.
    Results of a later pass cannot revise an elimination, since only arms that came through the one before are in line.
    """
    for v, size in enumerate(_passes(len(asked), budget)):
        places = size - np.count_nonzero(asked > v)
        in_line = open_arms & (asked == v)
        if places <= 0 or not in_line.any():
            continue
        if np.count_nonzero(in_line) <= places or v == 0:
            return _first_max(-asked, in_line)
        return WAIT if flying[in_line].any() else _first_max(means, in_line)
    return None


def _passes(arms: int, budget: int) -> list[int]:
    """How many arms the first, second, ... pass serves; their sum is ``budget``.

    What integer division leaves over goes to the last two arms (the last one alone has nobody to be compared with).
    """
    rounds = max(1, math.ceil(math.log2(arms)))
    sizes: list[int] = []
    left, alive = budget, arms
    while left > 0:
        for _ in range(max(1, budget // (rounds * alive))):
            sizes.append(min(alive, left))
            left -= sizes[-1]
            if left == 0:
                break
        alive = max(min(2, arms), math.ceil(alive / 2))
    return sizes


def _uct(
    done: NDArray[np.int64],
    flying: NDArray[np.int64],
    means: NDArray[np.float64],
    open_arms: NDArray[np.bool_],
    exploration: float,
) -> int:
    """WU-UCT at the root: argmax of mean + beta sqrt(2 ln(N + O) / (N_s + O_s)).

    O counts simulations in flight: they lower the urge to explore an arm at once and leave its value alone. ``beta`` is
    ``exploration`` times the standard deviation of the arms' means, so that the unit of the reward does not matter. An
    arm whose only visits are in flight stands at the average of the others.
    """
    asked = done + flying
    if (open_arms & (asked == 0)).any():
        return _first_max(-asked, open_arms)
    known = means[(done > 0) & np.isfinite(means)]
    values = np.where(done > 0, means, known.mean() if known.size else 0.0)
    beta = exploration * (_spread(known) or 1.0)
    bonus = np.sqrt(2 * math.log(asked.sum()) / np.maximum(asked, 1))
    return _first_max(values + beta * bonus, open_arms)


def _invalid(done: NDArray[np.int64], means: NDArray[np.float64]) -> NDArray[np.bool_]:
    return (done > 0) & ~np.isfinite(means)


def _spread(values: NDArray[np.float64]) -> float:
    """Standard deviation; 0 when all are equal up to `TIE`."""
    return float(values.std()) if values.size and np.ptp(values) > TIE else 0.0


def _first_max(scores: NDArray[np.float64] | NDArray[np.int64], among: NDArray[np.bool_]) -> int:
    """The lowest index of the scores within ``among``, which is not empty, that equal the largest up to `TIE`."""
    candidates = np.flatnonzero(among)
    found = scores[candidates]
    return int(candidates[np.flatnonzero(found >= found.max() - TIE)[0]])
