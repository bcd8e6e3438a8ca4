"""Screening of candidates: a ridge regression predicts, from one search's earlier candidates, which ones are worth a
training.

It is not in the CLDyB paper. These features of a candidate are known before it is trained:

- the k-NN negative log-likelihood of each method (Algorithm 2),
- the mean cosine of its classes to those learned, and the largest,
- the mean pair potential within it (Eq. 5).

The target is the reward of its own task, known from the first simulation on. Both are centred: candidates compete
within their step only.

Shapes: ``B`` candidates of a step, ``n`` evaluated ones of all steps before, ``F`` features.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from seqsearch.core.types import Task
from seqsearch.planners.step import Arm, Geometry

Float64 = NDArray[np.float64]

FEWEST = 8
"""Evaluated candidates below which nothing is predicted."""
PENALTIES = (0.01, 0.1, 1.0, 10.0)
"""Of the ridge, per evaluated candidate: the one with the smallest leave-one-out error is taken."""
_FLAT = 1e-9
"""Rewards and features whose spread is smaller do not differ: rounding separates them."""


@dataclass(frozen=True, eq=False)
class Step:
    """The evaluated candidates of one step: what was known of them ``[B, F]``, and their own rewards ``[B]``."""

    known: Float64
    reward: Float64


@dataclass(frozen=True, eq=False)
class Prediction:
    """Of candidates ``[B]``: the reward expected within their step, in its standard deviations (larger is harder).

    ``agreement``: Pearson's correlation of leave-one-out predictions with the rewards that the fit has seen; NaN where one of
    them is constant. It is a gate, no estimate: the penalty was chosen by the same errors, and rewards of a step are centred.
    """

    values: Float64
    agreement: float


def known_before(nll: Sequence[float], own: NDArray[np.int64], geometry: Geometry) -> Float64:
    """Features ``[F]`` of a candidate: ``nll`` by method, mean and largest cosine to the past, mean potential within.

    ``own`` ``[K]`` are the places of its classes in the ``geometry``.
    """
    past = geometry.to_past[own]
    pairs = geometry.psi[np.ix_(own, own)][np.triu_indices(len(own), 1)]
    return np.array([*nll, past.mean(), past.max(), pairs.mean()])


def predict(steps: Sequence[Step], known_BF: Float64) -> Prediction | None:
    """Predict the rewards of the candidates from their known features. Return None below `FEWEST` evaluated candidates,
    or without any spread.

    Ridge regression. Features are scaled to a pooled standard deviation of one within steps. Rewards are scaled to one
    within each step, so that all steps weigh the same, however small their share in the reward.
    """
    informative = [s for s in steps if len(s.reward) > 1 and np.ptp(s.reward) > _FLAT]
    if sum(len(s.reward) for s in informative) < FEWEST:
        return None
    x_nF = np.concatenate([s.known - s.known.mean(axis=0) for s in informative])
    y_n = np.concatenate([(s.reward - s.reward.mean()) / s.reward.std() for s in informative])
    spread_F = x_nF.std(axis=0)
    used_F = spread_F > _FLAT
    if not used_F.any():
        return None
    x_nF = x_nF[:, used_F] / spread_F[used_F]
    _, left_out, weights = min((_ridge(x_nF, y_n, len(y_n) * p) for p in PENALTIES), key=lambda fit: fit[0])
    centred_BF = (known_BF - known_BF.mean(axis=0))[:, used_F] / spread_F[used_F]
    return Prediction(centred_BF @ weights, _correlation(left_out, y_n))


def _ridge(x_nF: Float64, y_n: Float64, penalty: float) -> tuple[float, Float64, Float64]:
    """Sum of squared leave-one-out errors, leave-one-out predictions ``[n]``, weights ``[F]``."""
    solved = np.linalg.solve(x_nF.T @ x_nF + penalty * np.eye(x_nF.shape[1]), x_nF.T)
    weights = solved @ y_n
    leverage = np.einsum("nf,fn->n", x_nF, solved)
    errors = (y_n - x_nF @ weights) / (1 - leverage)
    return float(errors @ errors), y_n - errors, weights


def _correlation(x: Float64, y: Float64) -> float:
    return float(np.corrcoef(x, y)[0, 1]) if min(np.ptp(x), np.ptp(y)) > _FLAT else math.nan


class Screening:
    """Selection of a search's candidates by a fit to its earlier candidates.

    Args:
        share: of a step's candidates, to be evaluated; 1 evaluates all and computes nothing.
        positions: places of a task's classes in the geometry.
    """

    def __init__(self, share: float, positions: Callable[[Sequence[Task]], NDArray[np.int64]]) -> None:
        self._share, self._positions = share, positions
        self._steps: list[Step] = []
        self._known: dict[Task, Float64] = {}

    def to_evaluate(self, arms: Sequence[Arm], geometry: Geometry | None) -> list[Arm]:
        """The arms to be trained, most promising first; the others are marked as spared. All, as they are, while the search
        has evaluated too few, or where the fit agrees with nothing that it has seen."""
        if self._share == 1 or geometry is None:
            return list(arms)
        self._known = {a.task: known_before(a.nll, self._positions((a.task,)), geometry) for a in arms}
        found = predict(self._steps, np.array([self._known[a.task] for a in arms]))
        if found is None:
            return list(arms)
        for arm, value in zip(arms, found.values, strict=True):
            arm.predicted = float(value)
        if not found.agreement > 0:
            return list(arms)
        order = sorted(range(len(arms)), key=lambda i: -found.values[i])
        evaluated = math.ceil(self._share * len(arms) - _FLAT)
        for i in order[evaluated:]:
            arms[i].spared = True
        return [arms[i] for i in order[:evaluated]]

    def learn(self, arms: Sequence[Arm]) -> None:
        """Learn from the rewards of the candidates that were evaluated."""
        informative = [a for a in arms if a.rewards and not a.invalid and a.task in self._known]
        if informative:
            known, rewards = [self._known[a.task] for a in informative], [a.rewards[0] for a in informative]
            self._steps.append(Step(np.array(known), np.array(rewards)))
