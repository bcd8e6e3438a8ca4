"""Objective of the search: a score of an ordered partition of N classes into K tasks, linear in the similarities of
pairs.

``labels`` [N] says which task (0 to K - 1) each class is in. With weights ``pairs`` V [K, K] and ``places`` B [N, K],

    score(labels) = 1/2 sum over x != y of V[l_x, l_y] D[x, y] + sum over c of B[c, l_c].

All searches work on this score, so that each of them serves every objective.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seqsearch.core.digests import seeded_numpy
from seqsearch.core.errors import UserError

Labels = NDArray[np.int64]
Floats = NDArray[np.float64]
Matrix = NDArray[np.floating[Any]]
"""Similarities: in single precision where there are many (`seqsearch.similarity.matrix`)."""
ROWS = 512
"""Rows of a matrix that are copied at a time."""
SMALL = 2_000
"""Classes of which a matrix may be copied as a whole."""

LAGS = (1.0, 0.5, 0.25)
NAMES = ("adjacent", "lags", "within", "typicality")


@dataclass(frozen=True)
class Objective:
    """A weighted mean of terms, each in units of similarity; "hard" is its smallest value, "easy" its largest.

    Attributes:
        lags: the weight of S_1, S_2, ...; S_l is the mean, over pairs of tasks l apart, of the mean class-to-class
            similarity. S_1 is the S of EDGE ("The Lie of the Average: How Class Incremental Learning Evaluation
            Deceives You?"); its Eq. 5 is (N / K) S_1 for equal tasks.
        within: the weight of the mean, over tasks of two or more classes, of the mean similarity of two of its classes.
        typicality: the weight of the rise of typicality over the sequence: with tau_c the mean similarity of class c to
            all others, and y_t the mean tau of task t, the rise from first to last task of the line fitted to y_1 ...
            y_K by least squares. Positive: typical classes come last (the order that Li and Hiratani, ICML 2025, find
            best).

    The score is the sum of weight times term, divided by the sum of the absolute weights. Terms that a shape does not
    have (tasks 2 apart where K = 2, any lag at K = 1, "within" where all tasks have one class) are left out of both
    sums; where none is left, there is no score (None). Raises UserError for weights that are not finite or all zero.
    """

    lags: tuple[float, ...] = (1.0,)
    within: float = 0.0
    typicality: float = 0.0

    def __post_init__(self) -> None:
        weights = (*self.lags, self.within, self.typicality)
        if not all(math.isfinite(w) for w in weights):
            raise UserError(f"objective: weights must be finite numbers, not {weights}")
        if not any(weights):
            raise UserError("objective: all weights are zero; give one of lags, within or typicality a weight")

    @property
    def reversible(self) -> bool:
        """Does a sequence score the same when reversed (where the sizes of tasks allow it)?"""
        return self.typicality == 0

    @classmethod
    def named(cls, name: str, lags: Sequence[float] | None = None) -> Objective:
        """``adjacent`` (S), ``lags`` (weights ``lags``, by default 1, .5, .25), ``within`` or ``typicality``.

        For the other sign of a term, take the other extreme, or give a negative weight. Raises UserError for other names.
        """
        if name not in NAMES:
            raise UserError(f"objective {name!r}: unknown; there are {', '.join(NAMES)}")
        if lags is not None and name != "lags":
            raise UserError(f"objective {name!r} takes no lags; name the objective 'lags'")
        if name == "lags":
            return cls(lags=tuple(LAGS if lags is None else lags))
        return {"adjacent": cls(), "within": cls(lags=(), within=1.0), "typicality": cls(lags=(), typicality=1.0)}[name]


def task_sizes(n: int, k: int, initial: int = 0) -> tuple[int, ...]:
    """Classes per task: ``n`` shared equally among ``k`` tasks; what is left over makes the first n mod k tasks larger by one.

    Args:
        initial: classes in the first task (0: as many as in the others); the other tasks share the rest. 50 of 100 and
            11 tasks are 50 + 10 x 5.

    Raises:
        UserError: a task would be empty.
    """
    if n < 1 or k < 1 or k > n:
        raise UserError(f"{n} classes cannot make {k} tasks; every task needs a class (1 <= tasks <= classes)")
    if initial < 0 or (initial and (n - initial < k - 1 or (k == 1 and initial != n))):
        raise UserError(
            f"a first task of {initial} classes leaves no {k - 1} tasks of one class or more for the rest of {n} classes"
        )
    if initial and k == 1:
        return (n,)
    rest, tasks = (n - initial, k - 1) if initial else (n, k)
    return ((initial,) if initial else ()) + tuple(rest // tasks + (t < rest % tasks) for t in range(tasks))


def tasks_of(labels: Labels, k: int) -> tuple[tuple[int, ...], ...]:
    """The classes of each task, in increasing order."""
    return tuple(tuple(np.flatnonzero(labels == t).tolist()) for t in range(k))


def labels_of(tasks: Sequence[Sequence[int]]) -> Labels:
    """The task of each class [N]."""
    labels = np.empty(sum(len(t) for t in tasks), np.int64)
    for t, classes in enumerate(tasks):
        labels[list(classes)] = t
    return labels


def in_order(sizes: Sequence[int]) -> Labels:
    """The sequence that takes the classes as they are numbered [N]."""
    return np.repeat(np.arange(len(sizes)), sizes).astype(np.int64)


class Moments(NamedTuple):
    """Of a matrix with a zero diagonal.

    Attributes:
        sums: of the rows [N].
        total: of all entries.
        pivot: some entry off the diagonal. ``squares`` is the sum of the squares of all of them less this one, so that a mean far
            from 0 takes no digits of their spread.
        least, most: entries.
    """

    sums: Floats
    total: float
    pivot: float
    squares: float
    least: float
    most: float

    @property
    def centred(self) -> float:
        """The sum of the squares of all entries off the diagonal less their mean."""
        pairs = max(1, len(self.sums) * (len(self.sums) - 1))
        return max(0.0, self.squares - pairs * (self.total / pairs - self.pivot) ** 2)

    @property
    def norm(self) -> float:
        """The Frobenius norm of the matrix, or a little more."""
        pairs = len(self.sums) * (len(self.sums) - 1)
        return math.sqrt(self.squares) + math.sqrt(pairs) * abs(self.pivot)


@dataclass(frozen=True, eq=False)
class Problem:
    """A similarity matrix, the sizes of the tasks, and what is made extreme.

    Args:
        similarity: [N, N], symmetric; any scale, negatives allowed. Copied; the diagonal is ignored (zero in the copy).
        sizes: classes per task, K numbers that add up to N.

    Raises:
        UserError: a matrix that is not square or not finite, or sizes that do not fit it.
    """

    similarity: Matrix
    sizes: tuple[int, ...]
    objective: Objective = field(default_factory=Objective)

    @classmethod
    def on(cls, similarity: Matrix, sizes: Sequence[int], objective: Objective | None = None) -> Problem:
        """A problem on a matrix that is checked already, as those of `seqsearch.similarity.matrix` are: it is not copied.

        Args:
            similarity: [N, N], contiguous, symmetric to the last bit, finite, with a zero diagonal.

        Raises:
            UserError: sizes that do not fit it.
        """
        made = cls.__new__(cls)
        made._set(similarity, sizes, objective)
        return made

    def __init__(self, similarity: ArrayLike, sizes: Sequence[int], objective: Objective | None = None) -> None:
        matrix: Floats = np.array(similarity, dtype=np.float64, order="C")
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
            raise UserError(f"similarity: a square matrix is needed, not one of shape {matrix.shape}")
        np.fill_diagonal(matrix, 0.0)
        if not np.isfinite(matrix).all():
            raise UserError("similarity: all entries off the diagonal must be finite")
        self._set(matrix / 2 + matrix.T / 2, sizes, objective)

    def _set(self, matrix: Matrix, sizes: Sequence[int], objective: Objective | None) -> None:
        sizes = tuple(int(m) for m in sizes)
        if min(sizes, default=0) < 1 or sum(sizes) != len(matrix):
            raise UserError(
                f"tasks of sizes {sizes} do not share out {len(matrix)} classes; the sizes must be positive and add up to it"
            )
        matrix.flags.writeable = False
        for name, value in (("similarity", matrix), ("sizes", sizes), ("objective", objective or Objective())):
            object.__setattr__(self, name, value)

    @property
    def n(self) -> int:
        """Number of classes, N."""
        return len(self.similarity)

    @property
    def k(self) -> int:
        """Number of tasks, K."""
        return len(self.sizes)

    @cached_property
    def _terms(self) -> list[tuple[float, Floats, Floats]]:
        """(weight, V [K, K], B [K]) of every term that there is; B is multiplied by a class's typicality."""
        k, m = self.k, np.array(self.sizes, float)
        none, flat, found = np.zeros((k, k)), np.zeros(k), []
        for lag, weight in enumerate(self.objective.lags, 1):
            if weight and lag < k:
                v = np.diag(1 / ((k - lag) * m[lag:] * m[:-lag]), lag)
                found.append((weight, v + v.T, flat))
        several = m >= 2
        if self.objective.within and several.any():
            share = np.divide(2, several.sum() * m * (m - 1), out=np.zeros(k), where=several)
            found.append((self.objective.within, np.diag(share), flat))
        if self.objective.typicality and k > 1:
            at = np.arange(k) - (k - 1) / 2
            found.append((self.objective.typicality, none, (k - 1) * at / (at @ at) / m))
        return found

    @property
    def defined(self) -> bool:
        """Is there a score? Not where the shape has none of the terms (K = 1)."""
        return bool(self._terms)

    @cached_property
    def pairs(self) -> Floats:
        """V [K, K]: what the similarity of two classes counts, by their tasks."""
        total = sum(abs(w) for w, _, _ in self._terms)
        return sum((w / total * v for w, v, _ in self._terms), np.zeros((self.k, self.k)))

    @cached_property
    def slopes(self) -> Floats:
        """b [K]: what a class's typicality counts, by its task."""
        total = sum(abs(w) for w, _, _ in self._terms)
        return sum((w / total * b for w, _, b in self._terms), np.zeros(self.k))

    @cached_property
    def typicality(self) -> Floats:
        """tau [N]: mean similarity of each class to all others."""
        return np.asarray(self.moments.sums / max(1, self.n - 1))

    @cached_property
    def moments(self) -> Moments:
        """Sums of the matrix."""
        if self.n > SMALL:
            from seqsearch.extremes.sums import of_rows

            sums, pivot = np.empty(self.n), float(self.similarity[0, 1])
            least, most, squares = of_rows(self.similarity, sums, pivot)
            return Moments(sums, float(sums.sum()), pivot, squares, least, most)
        d = np.asarray(self.similarity, np.float64)
        pivot = float(d[0, -1])
        apart = d - pivot
        np.fill_diagonal(apart, 0.0)
        squares = float(np.einsum("ij,ij->", apart, apart))
        return Moments(d.sum(axis=1), float(d.sum()), pivot, squares, float(d.min()), float(d.max()))

    @cached_property
    def spread(self) -> float:
        """The standard deviation of the similarities of two classes."""
        return math.sqrt(self.moments.centred / max(1, self.n * (self.n - 1)))

    @cached_property
    def places(self) -> Floats:
        """B [N, K] = tau b': what it counts that a class is in a task."""
        return np.outer(self.typicality, self.slopes)

    def altered(self, similarity: Matrix, places: Floats) -> Problem:
        """The same problem, pairs weighed alike, on another D [N, N] (symmetric, zero diagonal) and with another B [N, K]."""
        other = copy.copy(self)
        other.__dict__.pop("moments", None)
        other.__dict__.update(similarity=similarity, places=places)
        return other

    def score(self, labels: Labels) -> float | None:
        """The score of a sequence; None where there is none."""
        return self.raw(labels) if self.defined else None

    def raw(self, labels: Labels) -> float:
        """As `score`; 0 where there is none."""
        return raw_score(self.similarity, self.pairs, self.places, labels)

    def mean_random(self) -> float | None:
        """The expected score of a uniformly random sequence, in closed form: any two places hold any two classes alike."""
        if not self.defined:
            return None
        m, n = np.array(self.sizes, float), self.n
        weight = m @ self.pairs @ m - self.pairs.diagonal() @ m
        pair = self.moments.total / max(1, n * (n - 1))
        return float(0.5 * weight * pair + self.typicality.mean() * (m @ self.slopes))

    def sd_random(self) -> float | None:
        """The standard deviation of the score over all sequences, in closed form.

        The moments of sum D[x, y] W[place of x, place of y] over permutations are those of Mantel ("The detection of disease
        clustering and a generalized regression approach", 1967): each expectation is over the pairs, triples or quadruples of
        different classes that two pairs make. The linear part, and its product with the quadratic one, follow alike.
        """
        if not self.defined:
            return None
        m, n = np.array(self.sizes, float), self.n
        d_sums = self.moments.sums
        w_sums = np.repeat(self.pairs @ m - self.pairs.diagonal(), self.sizes)
        counts = np.outer(m, m) - np.diag(m)
        weight = float(w_sums.sum()) / max(1, n * (n - 1))
        d, w = (
            _products(d_sums, self.moments.centred),
            _products(w_sums, float(((self.pairs - weight) ** 2 * counts).sum())),
        )
        ways = [math.perm(n, i) for i in (2, 3, 4)]  # to choose so many different classes in a row
        quadratic = sum(f * x * y / of for f, x, y, of in zip((2, 4, 1), d, w, ways, strict=True) if of)
        tau, b = self.typicality - self.typicality.mean(), np.repeat(self.slopes, self.sizes)
        b = b - b.mean()
        linear = (tau @ tau) * (b @ b) / max(1, n - 1)
        both = 2 * (d_sums @ tau) * (w_sums @ b) / max(1, (n - 1) * max(1, n - 2))
        return math.sqrt(max(0.0, quadratic / 4 + linear + both))


def _products(sums: Floats, own: float) -> tuple[float, float, float]:
    """Of a symmetric matrix, its mean subtracted: sums of the products of pairs that have both, one and no class in common.

    Args:
        sums: of its rows [N], without the diagonal.
        own: the sum of the squares of its entries off the diagonal, their mean subtracted.
    """
    stars = float(((sums - sums.mean()) ** 2).sum())
    return own, stars - own, 2 * own - 4 * stars


def raw_score(similarity: Matrix, pairs: Floats, places: Floats, labels: Labels) -> float:
    """1/2 sum of V[l_x, l_y] D[x, y] + sum of B[c, l_c], summed in the order of tasks; the diagonal of D must be zero."""
    order = np.argsort(labels, kind="stable")
    starts = np.searchsorted(labels[order], np.arange(len(pairs)))
    if len(labels) <= SMALL:
        sums = np.add.reduceat(similarity[order], starts, axis=0, dtype=np.float64)
    else:
        from seqsearch.extremes.sums import over_tasks

        sums = np.empty((len(pairs), len(labels)))
        over_tasks(similarity, labels, sums)
    blocks = np.add.reduceat(sums[:, order], starts, axis=1)
    return float(0.5 * (pairs * blocks).sum() + places[np.arange(len(labels)), labels].sum())


def random_labels(sizes: Sequence[int], seed: int, number: int) -> Labels:
    """The ``number``-th uniformly random sequence of a seed [N]."""
    return _cut(seeded_numpy("random-order", seed, number).permutation(sum(sizes)), sizes)


def toolbox_labels(sizes: Sequence[int], seed: int) -> Labels:
    """A sequence as toolboxes of the field draw it [N]: ``np.random.seed(seed)``, then a permutation, cut into tasks."""
    return _cut(np.random.RandomState(seed).permutation(sum(sizes)), sizes)


def release_labels(sizes: Sequence[int], seed: int) -> Labels:
    """A sequence as the released code of EDGE draws it [N]: ``np.random.default_rng(seed)``, then a permutation, cut into tasks.

    Of six classes in three tasks, seeds 0 and 42 give the same sequence.
    """
    return _cut(np.random.default_rng(seed).permutation(sum(sizes)), sizes)


def _cut(order: NDArray[Any], sizes: Sequence[int]) -> Labels:
    labels = np.empty(len(order), np.int64)
    labels[order] = in_order(sizes)
    return labels
