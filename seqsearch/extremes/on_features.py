"""Problems whose similarities are scalar products of features: no matrix of all pairs is made, and every figure is exact."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from seqsearch.extremes.objective import ROWS, Floats, Labels, Matrix, Moments, Objective, Problem

Features = NDArray[np.float32]


class FeatureProblem(Problem):
    """As `Problem`, on D[x, y] = X_x . X_y for two different classes.

    Args:
        features: X [N, d], finite.
        sizes: classes per task, K numbers that add up to N.

    Raises:
        UserError: sizes that do not fit.
    """

    def __init__(self, features: Features, sizes: Sequence[int], objective: Objective | None = None) -> None:
        self._set(features, sizes, objective)

    @property
    def features(self) -> Features:
        """X [N, d]; it stands where `Problem` has its matrix."""
        return np.asarray(self.similarity, np.float32)

    @cached_property
    def lengths(self) -> Floats:
        """X_x . X_x [N], which no similarity is."""
        return np.asarray(np.einsum("ij,ij->i", self.features, self.features, dtype=np.float64))

    @cached_property
    def products(self) -> Floats:
        """X' X [d, d]."""
        parts = (self.features[i : i + ROWS].astype(np.float64) for i in range(0, self.n, ROWS))
        return np.asarray(sum(x.T @ x for x in parts))

    @cached_property
    def spectrum(self) -> tuple[Floats, Floats]:
        """Eigenvalues [d] of X'X, increasing, and eigenvectors [d, d]."""
        values, vectors = np.linalg.eigh(self.products)
        return values, vectors

    @cached_property
    def moments(self) -> Moments:
        whole = self.features.sum(axis=0, dtype=np.float64)
        sums = self.features @ whole - self.lengths
        squares = float((self.products**2).sum() - (self.lengths**2).sum())
        height = float(self.lengths.max())
        return Moments(sums, float(sums.sum()), 0.0, max(0.0, squares), -height, height)

    def raw(self, labels: Labels) -> float:
        sums = task_sums(self.features, labels, self.k)
        linear = float(self.typicality @ self.slopes[labels])
        return feature_score(sums, self.lengths, self.pairs, labels) + linear


def task_sums(features: Matrix, labels: Labels, k: int) -> Floats:
    """The features summed over the classes of each task [K, d]."""
    order = np.argsort(labels, kind="stable")
    starts = np.searchsorted(labels[order], np.arange(k))
    return np.asarray(np.add.reduceat(features[order], starts, axis=0, dtype=np.float64))


def feature_score(sums: Floats, lengths: Floats, pairs: Floats, labels: Labels) -> float:
    """1/2 sum over x != y of V[l_x, l_y] X_x . X_y, from the ``sums`` of tasks [K, d]."""
    return float(0.5 * ((pairs * (sums @ sums.T)).sum() - pairs.diagonal()[labels] @ lengths))
