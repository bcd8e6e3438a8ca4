"""What annealing keeps up to date while it exchanges classes: tables of a matrix, or sums of features.

Both give the same scores of the same problem (`seqsearch.extremes.objective`). A matrix D costs four look-ups a proposal and N
steps an exchange. Where D[x, y] is the scalar product of features [N, d], both cost about d steps, and no matrix is made.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from seqsearch.extremes import feature_kernels, kernels
from seqsearch.extremes.objective import SMALL, Floats, Labels, Matrix, Problem, raw_score
from seqsearch.extremes.on_features import FeatureProblem, Features, feature_score, task_sums

State = NDArray[np.uint64]


class Tables(ABC):
    """Tables of a sequence; each method but `fill` needs those of ``labels``, and changes labels in place."""

    pairs: Floats
    cross: Floats
    largest: float
    """No similarity is further from 0."""

    def __init__(self, pairs: Floats) -> None:
        self.pairs = np.array(pairs, np.float64, order="C")
        diagonal = self.pairs.diagonal()
        self.cross = diagonal[:, None] + diagonal[None, :] - 2 * self.pairs

    @abstractmethod
    def scale(self, n: int) -> float:
        """No contribution of a class to the score is larger, of ``n`` classes."""

    @abstractmethod
    def fill(self, labels: Labels) -> float:
        """Make the tables of ``labels``. Returns the score."""

    @abstractmethod
    def score(self, labels: Labels) -> float:
        """The score of any labels; the tables may be theirs afterwards."""

    @abstractmethod
    def blocks(self, labels: Labels) -> tuple[Floats, Floats]:
        """Similarities summed over the classes of two tasks [K, K], and B over those of a task (row) by position [K, K]."""

    @abstractmethod
    def spread(self, labels: Labels, state: State, draws: int) -> float:
        """See `kernels.spread`."""

    @abstractmethod
    def exchanges(
        self, labels: Labels, best: Labels, scores: Floats, state: State, moves: int, hot: float, cold: float
    ) -> None:
        """See `kernels.swaps`."""

    @abstractmethod
    def descend(self, labels: Labels, tolerance: float, first: int, end: int) -> bool:
        """See `kernels.descend`."""


@dataclass(frozen=True, eq=False)
class OnMatrix:
    """A problem in plain arrays (picklable): D [N, N], V [K, K] and B [N, K]."""

    similarity: Matrix
    pairs: Floats
    places: Floats

    def tables(self, sign: float) -> Tables:
        """Of the problem, or with ``sign`` -1 of the negated one."""
        return _OnMatrix(self, sign)


@dataclass(frozen=True, eq=False)
class OnFeatures:
    """A problem in plain arrays (picklable): features X [N, d], V [K, K], and B = tau b' with tau [N] and b [K]."""

    features: Features
    pairs: Floats
    typicality: Floats
    slopes: Floats

    def tables(self, sign: float) -> Tables:
        """Of the problem, or with ``sign`` -1 of the negated one."""
        return _OnFeatures(self, sign)


Terms = OnMatrix | OnFeatures


def terms_of(problem: Problem) -> Terms:
    """A problem in plain arrays."""
    if isinstance(problem, FeatureProblem):
        return OnFeatures(problem.features, problem.pairs, problem.typicality, problem.slopes)
    return OnMatrix(problem.similarity, problem.pairs, problem.places)


class _OnMatrix(Tables):
    """The similarity is used in place where it is contiguous; nothing is written into it."""

    def __init__(self, terms: OnMatrix, sign: float) -> None:
        super().__init__(sign * terms.pairs)
        self.similarity = np.ascontiguousarray(terms.similarity).view()
        self.similarity.setflags(write=False)
        self.places = np.array(sign * terms.places, np.float64, order="C")
        self.largest = max(float(self.similarity.max(initial=0.0)), -float(self.similarity.min(initial=0.0)))
        self.sums, self.contribution = np.zeros(self.places.T.shape), np.zeros(self.places.T.shape)

    def scale(self, n: int) -> float:
        return float(np.abs(self.pairs).max()) * self.largest * n + float(np.abs(self.places).max())

    def fill(self, labels: Labels) -> float:
        return kernels.table(self.similarity, self.pairs, self.places, labels, self.sums, self.contribution)

    def score(self, labels: Labels) -> float:
        return (
            raw_score(self.similarity, self.pairs, self.places, labels) if len(labels) <= SMALL else self.fill(labels)
        )

    def blocks(self, labels: Labels) -> tuple[Floats, Floats]:
        member = np.zeros((len(self.pairs), len(labels)))
        member[labels, np.arange(len(labels))] = 1.0
        if len(labels) <= SMALL:
            return np.asarray(member @ self.similarity @ member.T), member @ self.places
        self.fill(labels)
        return self.sums @ member.T, member @ self.places

    def spread(self, labels: Labels, state: State, draws: int) -> float:
        return kernels.spread(self.similarity, self.cross, self.contribution, labels, state, draws)

    def exchanges(
        self, labels: Labels, best: Labels, scores: Floats, state: State, moves: int, hot: float, cold: float
    ) -> None:
        tables = (self.similarity, self.pairs, self.cross, self.contribution)
        kernels.swaps(*tables, labels, best, scores, state, moves, hot, cold)

    def descend(self, labels: Labels, tolerance: float, first: int, end: int) -> bool:
        return kernels.descend(
            self.similarity, self.pairs, self.cross, self.contribution, labels, tolerance, first, end
        )


class _OnFeatures(Tables):
    """``mass`` G [K, d] is V times the sums of the features of each task."""

    def __init__(self, terms: OnFeatures, sign: float) -> None:
        super().__init__(sign * terms.pairs)
        self.features = np.ascontiguousarray(terms.features).view()
        self.features.setflags(write=False)
        self.lengths = np.einsum("ij,ij->i", self.features, self.features, dtype=np.float64)
        self.typicality, self.slopes = terms.typicality, sign * terms.slopes
        self.largest = float(self.lengths.max(initial=0.0))
        self.mass = np.zeros((len(self.pairs), self.features.shape[1]))

    def scale(self, n: int) -> float:
        rise = float(np.abs(self.typicality).max() * np.abs(self.slopes).max())
        return self.largest * n * float(np.abs(self.pairs).max()) + rise

    def fill(self, labels: Labels) -> float:
        sums = task_sums(self.features, labels, len(self.pairs))
        self.mass[:] = self.pairs @ sums
        return self._score(labels, sums)

    def score(self, labels: Labels) -> float:
        return self._score(labels, task_sums(self.features, labels, len(self.pairs)))

    def _score(self, labels: Labels, sums: Floats) -> float:
        return feature_score(sums, self.lengths, self.pairs, labels) + float(self.typicality @ self.slopes[labels])

    def blocks(self, labels: Labels) -> tuple[Floats, Floats]:
        k = len(self.pairs)
        sums = task_sums(self.features, labels, k)
        found = sums @ sums.T
        found[np.diag_indices(k)] -= np.bincount(labels, self.lengths, k)
        return found, np.outer(np.bincount(labels, self.typicality, k), self.slopes)

    def spread(self, labels: Labels, state: State, draws: int) -> float:
        return feature_kernels.spread(*self._arrays, labels, state, draws)

    def exchanges(
        self, labels: Labels, best: Labels, scores: Floats, state: State, moves: int, hot: float, cold: float
    ) -> None:
        feature_kernels.swaps(*self._arrays, labels, best, scores, state, moves, hot, cold)

    def descend(self, labels: Labels, tolerance: float, first: int, end: int) -> bool:
        return feature_kernels.descend(*self._arrays, labels, tolerance, first, end)

    @property
    def _arrays(self) -> tuple[Features, Floats, Floats, Floats, Floats, Floats, Floats]:
        return (self.features, self.lengths, self.pairs, self.cross, self.typicality, self.slopes, self.mass)
