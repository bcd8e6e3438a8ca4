"""What annealing keeps up to date while it exchanges classes: tables of a matrix, or sums of features.

Both give the same scores of the same problem (`seqsearch.extremes.objective`). A matrix D costs four look-ups a proposal and N
steps an exchange. Where D[x, y] is the scalar product of features [N, d], both cost about d steps, and no matrix is made.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from seqsearch.extremes import kernels
from seqsearch.extremes.objective import SMALL, Floats, Labels, Matrix, Problem, raw_score
from seqsearch.extremes.on_features import FeatureProblem, Features, feature_score, task_sums

State = NDArray[np.uint64]


class Tables(ABC):
    """Tables of a sequence.

    Attributes:
        pairs: V [K, K].
        arrays: what the loops of `kernels` read and update; filled for the labels that `fill` was called with last.
    """

    pairs: Floats
    arrays: kernels.Tables

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


def _pairs_and_cross(pairs: Floats, sign: float) -> tuple[Floats, Floats]:
    """V, and what the similarity of two exchanged classes counts."""
    v = np.array(sign * pairs, np.float64, order="C")
    diagonal = v.diagonal()
    return v, diagonal[:, None] + diagonal[None, :] - 2 * v


def _read_only(values: Matrix) -> Matrix:
    """The same array in place where it is contiguous; nothing is written into it."""
    found = np.ascontiguousarray(values).view()
    found.setflags(write=False)
    return found


class _OnMatrix(Tables):
    arrays: kernels.MatrixTables

    def __init__(self, terms: OnMatrix, sign: float) -> None:
        self.pairs, cross = _pairs_and_cross(terms.pairs, sign)
        self.similarity = _read_only(terms.similarity)
        self.places = np.array(sign * terms.places, np.float64, order="C")
        self.sums = np.zeros(self.places.T.shape)
        self.arrays = kernels.MatrixTables(self.similarity, self.pairs, cross, np.zeros(self.places.T.shape))

    def scale(self, n: int) -> float:
        largest = max(float(self.similarity.max(initial=0.0)), -float(self.similarity.min(initial=0.0)))
        return float(np.abs(self.pairs).max()) * largest * n + float(np.abs(self.places).max())

    def fill(self, labels: Labels) -> float:
        return kernels.table(self.similarity, self.pairs, self.places, labels, self.sums, self.arrays.contribution)

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


class _OnFeatures(Tables):
    arrays: kernels.FeatureTables

    def __init__(self, terms: OnFeatures, sign: float) -> None:
        self.pairs, cross = _pairs_and_cross(terms.pairs, sign)
        self.features = np.asarray(_read_only(terms.features), np.float32)
        self.lengths = np.einsum("ij,ij->i", self.features, self.features, dtype=np.float64)
        self.typicality, self.slopes = terms.typicality, sign * terms.slopes
        mass = np.zeros((len(self.pairs), self.features.shape[1]))
        self.arrays = kernels.FeatureTables(
            self.features, self.lengths, self.pairs, cross, self.typicality, self.slopes, mass
        )

    def scale(self, n: int) -> float:
        rise = float(np.abs(self.typicality).max() * np.abs(self.slopes).max())
        return float(self.lengths.max(initial=0.0)) * n * float(np.abs(self.pairs).max()) + rise

    def fill(self, labels: Labels) -> float:
        sums = task_sums(self.features, labels, len(self.pairs))
        self.arrays.mass[:] = self.pairs @ sums
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
