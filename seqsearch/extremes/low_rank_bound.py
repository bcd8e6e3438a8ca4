"""A certified bound for many classes, in the time there is: a low-rank part by its eigenvalues, the rest by its entries.

Notation is that of `seqsearch.extremes.upper_bound`: the quadratic part of the score is 1/2 tr(D X W X') with X a
permutation. For any symmetric A of rank r, D = A + E, so that

    min over X of 1/2 tr(D X W X')  >=  min over X of 1/2 tr(A X W X')  +  min over X of 1/2 tr(E X W X').

The first minimum is bounded by the projected eigenvalues of A and W (Hadley, Rendl and Wolkowicz, 1992), which take r x r
and K x K matrices. The second is bounded by the least scalar product of the entries of E and W. The entries of E are
counted in bins, each taken at its worse end, so that nothing is sorted and no second matrix is made.

It holds for every A, whatever made it: eigenvalues that a subspace iteration missed stay in E. So nothing has to be proved about
the iteration, and the bound can be computed again with a better A as long as there is time. A = 0 is the first.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike, NDArray

from seqsearch.core.digests import seeded_numpy
from seqsearch.extremes.objective import ROWS, Floats, Matrix, Moments
from seqsearch.extremes.sums import count, of_rows, over_tasks

BINS = 1 << 18
RANKS = (16, 64)
"""Columns of the subspace, one after the other as time allows."""
ITERATIONS = 3
"""Products of the matrix with the subspace before the last."""
NEGLIGIBLE = 1e-9
"""Eigenvalues of features that are left out, as shares of the largest; the bound is moved outwards by more than they count."""
EPS = float(np.finfo(np.float64).eps)
Numbers = NDArray[np.int64]


class TimeIsUp(Exception):
    """A pass over the matrix does not fit into the time."""


@dataclass(frozen=True)
class Places:
    """W [N, N] by task: the weights of pairs of places.

    Attributes:
        pairs: V [K, K].
        sizes: m [K].
    """

    pairs: Floats
    sizes: Numbers

    def counted(self) -> tuple[Floats, Numbers]:
        """The different weights of two different places, increasing, and how many unordered pairs have each."""
        m = self.sizes
        counts = np.outer(m, m) - np.diag(m)
        upper = np.triu(np.ones_like(counts), 1).astype(bool)
        weights = np.concatenate([self.pairs[upper], self.pairs.diagonal()])
        numbers = np.concatenate([counts[upper], counts.diagonal() // 2])
        values, where = np.unique(weights, return_inverse=True)
        return values, np.bincount(where, numbers, len(values)).astype(np.int64)

    def spectrum(self) -> Floats:
        """Eigenvalues of P'WP, but for zeros."""
        m = self.sizes.astype(float)
        root = np.sqrt(m)
        weights, unit = self.pairs * np.outer(root, root), root / np.sqrt(m.sum())
        across = weights - np.outer(unit, unit @ weights)
        return np.asarray(np.linalg.eigvalsh(across - np.outer(across @ unit, unit)))


def bounds(similarity: Matrix, moments: Moments, places: Places, until: float) -> Iterator[float]:
    """Lower bounds of the quadratic part, each with a better low-rank part than the one before, until (s) the time is up.

    Args:
        similarity: D [N, N], symmetric with a zero diagonal.
        until: of `time.perf_counter`.

    Raises:
        TimeIsUp: no more fit into the time; those that were yielded hold.
    """
    start = time.perf_counter()
    yield _bound(similarity, moments, None, places, until)
    seconds = time.perf_counter() - start
    for rank in RANKS:
        if rank >= len(similarity):
            return
        if time.perf_counter() + (ITERATIONS + 3) * seconds > until:
            raise TimeIsUp
        low = _low_rank(similarity, rank, until)
        yield _bound(similarity, moments, low, places, until)


def of_features(features: Matrix, spectrum: tuple[Floats, Floats], places: Places) -> float:
    """A lower bound of the quadratic part where D[x, y] = X_x . X_y for x != y: beside A = XX' only a diagonal is left.

    Args:
        features: X [N, d].
        spectrum: eigenvalues [d] of X'X, increasing, and eigenvectors [d, d].
    """
    values, turned = spectrum
    kept = values > NEGLIGIBLE * max(float(values[-1]), 0.0)
    axes = turned[:, kept] / np.sqrt(values[kept])
    low = _LowRank(np.asarray(features @ axes, np.float64), values[kept])
    own = np.repeat(places.pairs.diagonal(), places.sizes)
    left = len(values) * NEGLIGIBLE * float(values[-1]) * float(np.abs(places.pairs).max()) * len(features)
    return least_product(-0.5 * low.diagonal, own) + _eigenvalue_bound(low, places) - left


@dataclass(frozen=True)
class _LowRank:
    """A = U diag(s) U' with orthonormal U [N, r]."""

    vectors: Floats
    values: Floats

    def rows(self, start: int, end: int) -> Floats:
        return (self.vectors[start:end] * self.values) @ self.vectors.T

    @property
    def heights(self) -> Floats:
        """h [N] with |A[x, y]| <= sqrt(h_x h_y)."""
        return self.vectors**2 @ np.abs(self.values)

    @property
    def diagonal(self) -> Floats:
        return self.vectors**2 @ self.values


def _low_rank(similarity: Matrix, rank: int, until: float) -> _LowRank:
    """About the largest eigenvalues, by subspace iteration from the vector of ones and random ones."""
    n = len(similarity)
    vectors = seeded_numpy("low-rank", n, rank).standard_normal((n, rank))
    vectors[:, 0] = 1.0
    for _ in range(ITERATIONS):
        vectors, _ = np.linalg.qr(_product(similarity, vectors, until))
    square = vectors.T @ _product(similarity, vectors, until)
    values, turned = np.linalg.eigh((square + square.T) / 2)
    return _LowRank(np.ascontiguousarray(vectors @ turned), values)


def _product(similarity: Matrix, vectors: Floats, until: float) -> Floats:
    """D vectors, in the precision of D and block by block."""
    of = vectors.astype(similarity.dtype)
    found = np.empty(vectors.shape)
    for i in range(0, len(similarity), ROWS):
        _check_time(until)
        found[i : i + ROWS] = similarity[i : i + ROWS] @ of
    return found


def _bound(similarity: Matrix, moments: Moments, low: _LowRank | None, places: Places, until: float) -> float:
    n, least, most = len(similarity), moments.least, moments.most
    height = float(low.heights.max()) if low else 0.0
    counts, bottom, width = _counted(similarity, low, least - height, most + height, until)
    weights, numbers = places.counted()
    edges = np.asarray(
        bottom + width * np.arange(len(counts)), np.float64
    )  # a count may have slipped into a neighbouring bin by rounding
    total = least_of_counts(edges - width, counts, weights, numbers)
    total += float(np.minimum(weights, 0.0) @ numbers) * 3 * width
    total -= 64 * EPS * (n + 64) * (max(abs(least), abs(most)) + height) * float(np.abs(weights) @ numbers)
    if low is None:
        return total
    own = np.repeat(places.pairs.diagonal(), places.sizes)
    return total + least_product(-0.5 * low.diagonal, own) + _eigenvalue_bound(low, places)


def _eigenvalue_bound(low: _LowRank, places: Places) -> float:
    """Of 1/2 tr(A X W X'), diagonals included."""
    n, m = len(low.vectors), places.sizes.astype(float)
    ones = low.vectors.sum(axis=0)
    square, turned = np.linalg.eigh(np.eye(len(ones)) - np.outer(ones, ones) / n)  # U' P P' U
    root = (turned * np.sqrt(np.maximum(square, 0.0))) @ turned.T
    of_a, of_w = np.linalg.eigvalsh(root @ (low.values[:, None] * root)), places.spectrum()
    sums, rows = low.vectors @ (low.values * ones), np.repeat(places.pairs @ m, places.sizes)
    bound = 0.5 * _least_of_spectra(of_a, of_w, n - 1) - 0.5 * float(sums.sum() * rows.sum()) / n**2
    bound += least_product(sums, rows / n)
    largest = float(np.abs(low.values).sum() * np.abs(of_w).sum() + np.abs(sums).sum() * np.abs(rows).max() / n)
    return bound - 64 * EPS * n * largest


def _least_of_spectra(a: Floats, b: Floats, n: int) -> float:
    """The least scalar product of two spectra of length ``n``. More values than that have zeros among them, fewer lack zeros."""
    longest = np.zeros((2, max(n, len(a), len(b))))
    longest[0, : len(a)], longest[1, : len(b)] = a, b
    kept = np.take_along_axis(longest, np.argsort(-np.abs(longest), axis=1)[:, :n], axis=1)
    return least_product(kept[0], kept[1])


def least_product(a: Floats, b: Floats) -> float:
    """The least scalar product of ``a`` with a rearrangement of ``b``: largest times smallest."""
    return float(np.sort(a) @ np.sort(b)[::-1])


def least_of_counts(a: Floats, counts_a: Numbers, b: Floats, counts_b: Numbers) -> float:
    """`least_product` of multisets: ``a`` and ``b`` increasing, each value as often as its count says; sums of counts agree."""
    ends_a, ends_b = np.cumsum(counts_a), np.cumsum(counts_b[::-1])
    ends = np.union1d(ends_a, ends_b)
    lengths = np.diff(ends, prepend=0)
    of_a, of_b = np.searchsorted(ends_a, ends), np.searchsorted(ends_b, ends)
    return float((lengths * a[of_a]) @ b[::-1][of_b])


def _counted(
    similarity: Matrix, low: _LowRank | None, least: float, most: float, until: float
) -> tuple[Numbers, float, float]:
    """How many entries of E above the diagonal are in each of `BINS` bins; the lower edge of the first, and their width."""
    width = max((most - least) / (BINS - 2), 1e-300)
    bottom, counts = least - width, np.zeros(BINS + 1, dtype=np.int64)
    for i in range(0, len(similarity), ROWS):
        _check_time(until)
        rows = similarity[i : i + ROWS]
        count(rows if low is None else rows - low.rows(i, i + len(rows)), i, bottom, 1 / width, counts)
    return counts, bottom, width


def warm_up(dtype: DTypeLike) -> None:
    """Compile for matrices of this type, or load what was compiled, so that no budget pays for it."""
    matrix = np.zeros((2, 2), dtype)
    matrix.setflags(write=False)
    of_rows(matrix, np.zeros(2), 0.0)
    over_tasks(matrix, np.zeros(2, np.int64), np.zeros((1, 2)))
    for rows in (matrix, np.zeros((2, 2))):
        count(rows, 0, 0.0, 1.0, np.zeros(4, np.int64))


def _check_time(until: float) -> None:
    if time.perf_counter() > until:
        raise TimeIsUp
