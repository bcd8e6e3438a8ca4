"""Do two rankings of the same methods agree? Rank correlations, and the pairs of methods that differ on both sides.

Correlations are those under Tables 1 and 4 of "CLDyB: Towards Dynamic Benchmarking for Continual Learning". Figures that differ
by rounding alone are tied. The p-value asks whether unrelated rankings would agree as well: exact up to nine methods, over all
their orders.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seqsearch.stats.interval import AGREE, Float64, finite

_ROUNDING = 1e-11
"""Figures that differ by less, as a share of the largest of them, differ by rounding, and are tied."""
_EXACT = 9
"""Up to 9 methods all 9! orders are tried for a p-value; beyond, asymptotics."""


@dataclass(frozen=True)
class RankCorrelations:
    """Spearman's (SRCC) and Kendall's (KRCC, tau-b) rank correlation with two-sided p-values, over ``n`` pairs.

    ``exact`` says that the p-values come from all orders, not from asymptotics. All are NaN where one side is constant.
    """

    srcc: float
    srcc_p: float
    krcc: float
    krcc_p: float
    n: int
    exact: bool


def rank_correlations(x: ArrayLike, y: ArrayLike) -> RankCorrelations:
    """Agreement of two rankings of the same methods, as under Tables 1 and 4 of the paper.

    p-values are exact for up to 9 methods: the fraction of all n! orders of ``y`` that correlate as strongly, ties
    included.

    Raises:
        ValueError: fewer than two pairs, or numbers that are not finite.
    """

    from scipy import stats

    a, b = _paired(x, y)
    n, (srcc, krcc) = len(a), rank_coefficients(a, b)
    if np.isnan(srcc):
        return RankCorrelations(np.nan, np.nan, np.nan, np.nan, n, n <= _EXACT)
    if n > _EXACT:
        return RankCorrelations(
            srcc, float(stats.spearmanr(a, b).pvalue), krcc, float(stats.kendalltau(a, b).pvalue), n, False
        )
    srcc_P, krcc_P = (np.abs(c) for c in _over_orders(a, b))
    as_strong = 1 - 1e-9  # equal coefficients differ in their last bits
    srcc_p, krcc_p = (srcc_P >= as_strong * abs(srcc)).mean(), (krcc_P >= as_strong * abs(krcc)).mean()
    return RankCorrelations(srcc, float(srcc_p), krcc, float(krcc_p), n, True)


def rank_coefficients(x: ArrayLike, y: ArrayLike) -> tuple[float, float]:
    """Spearman's and Kendall's correlation alone, without the orders that p-values take; NaN where one side is constant.

    Raises:
        ValueError: as `rank_correlations`.
    """
    a, b = _paired(x, y)
    (ranks_a, signs_a), (ranks_b, signs_b) = _ranks_and_signs(a), _ranks_and_signs(b)
    if not (signs_a.any() and signs_b.any()):
        return np.nan, np.nan
    agreement = (signs_a * signs_b).sum(dtype=np.int64) / 2
    srcc = ranks_a @ ranks_b / np.sqrt((ranks_a**2).sum() * (ranks_b**2).sum())
    return float(srcc), float(agreement / _untied(signs_a, signs_b))


def without_rounding(x: ArrayLike) -> Float64:
    """Figures ``[n]`` in which those that differ by rounding alone are the same: the smallest of a chain of such neighbours.

    >>> without_rounding([0.3, 0.1 + 0.2, 0.5]).tolist()
    [0.3, 0.3, 0.5]
    """
    a = np.asarray(x, dtype=np.float64)
    if a.ndim != 1 or not a.size:
        return a
    order = np.argsort(a, kind="stable")
    apart = np.diff(a[order], prepend=-np.inf) > _ROUNDING * np.abs(a).max()
    first = np.maximum.accumulate(np.where(apart, np.arange(len(a)), 0))
    found = np.empty_like(a)
    found[order] = a[order][first]
    return found


def _paired(x: ArrayLike, y: ArrayLike) -> tuple[Float64, Float64]:
    a, b = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if a.ndim != 1 or a.shape != b.shape or len(a) < 2 or not (np.isfinite(a).all() and np.isfinite(b).all()):
        raise ValueError("rank correlations need two equally long lists of at least two finite numbers")
    return without_rounding(a), without_rounding(b)


def _ranks_and_signs(x: Float64) -> tuple[Float64, NDArray[np.int8]]:
    """Centred ranks ``[n]``, and for each pair which is larger ``[n, n]``."""
    from scipy.stats import rankdata

    return rankdata(x) - (len(x) + 1) / 2, np.sign(x[:, None] - x[None]).astype(np.int8)


def _over_orders(a: Float64, b: Float64) -> tuple[Float64, Float64]:
    """The same ``[n!]`` for all orders of ``b``: its ranks change places, and are not computed anew."""
    orders, n = _permutations(len(a)), len(a)
    (ranks_a, signs_a), (ranks_b, signs_b) = _ranks_and_signs(a), _ranks_and_signs(b)
    agreement = np.zeros(len(orders), dtype=np.int16)
    for i in range(n):
        for j in range(i):
            if signs_a[i, j]:
                agreement += signs_a[i, j] * signs_b[orders[:, i], orders[:, j]]
    srcc: Float64 = ranks_b[orders] @ ranks_a / np.sqrt((ranks_a**2).sum() * (ranks_b**2).sum())
    return srcc, agreement / _untied(signs_a, signs_b)


def _untied(signs_a: NDArray[np.int8], signs_b: NDArray[np.int8]) -> float:
    """Geometric mean of the pairs that are not tied in each."""
    return float(np.sqrt(np.abs(signs_a).sum(dtype=np.int64) * np.abs(signs_b).sum(dtype=np.int64)) / 2)


@cache
def _permutations(n: int) -> NDArray[np.int8]:
    """All orders of 0 .. n - 1, ``[n!, n]``."""
    orders = np.zeros((1, 1), dtype=np.int8)
    for m in range(1, n):
        orders = np.concatenate([np.insert(orders, i, m, axis=1) for i in range(m + 1)])
    return orders


Pair = tuple[int, int]


@dataclass(frozen=True)
class Agreement:
    """Of M methods.

    Attributes:
        tau: Kendall's tau-b of the mean scores; NaN where all methods score alike on one side.
        p: two-sided, of unrelated rankings; ``exact`` up to nine methods.
        first, second: pairs of methods that differ significantly on each side, by number, the higher one before the lower.
        pairs: number of pairs of methods.
        unavailable_because: why no pair differs significantly on both sides; empty where one does.
    """

    tau: float
    p: float
    exact: bool
    first: tuple[Pair, ...]
    second: tuple[Pair, ...]
    pairs: int
    unavailable_because: str = ""

    @property
    def same(self) -> tuple[Pair, ...]:
        """Pairs that differ in the same direction on both sides."""
        return tuple(p for p in self.first if p in self.second)

    @property
    def reverse(self) -> tuple[Pair, ...]:
        """Pairs that differ in opposite directions: as on the first side."""
        return tuple(p for p in self.first if p[::-1] in self.second)


def agreement(first: ArrayLike, second: ArrayLike, level: float = 0.95) -> Agreement:
    """From ``first [M, S]`` and ``second [M, T]``: scores of the same methods over the class orders of each, paired within each.

    A pair of methods differs by Student's t of its paired differences, two-sided at (1 - ``level``) over all pairs of both
    sides (Bonferroni), or because it follows from other pairs. All pairs together are right in at least ``level`` if
    differences over orders are normal, whatever the variances and whether or not both sides share orders.

    Raises:
        ValueError: other methods, fewer than two, missing or infinite scores: leave out methods that diverged.
    """
    a, b = finite(first, "scores", (2,)), finite(second, "scores", (2,))
    if len(a) != len(b):
        raise ValueError(f"{len(a)} methods do not pair with {len(b)}")
    ranks = rank_correlations(a.mean(axis=1), b.mean(axis=1))
    M = len(a)
    pairs = M * (M - 1) // 2
    one, other = (tuple(_differing(x, (1 - level) / (2 * pairs))) for x in (a, b))
    found = Agreement(ranks.krcc, ranks.krcc_p, ranks.exact, one, other, pairs)
    if math.isnan(found.tau):
        return replace(found, unavailable_because="all methods score alike on one side")
    if min(a.shape[1], b.shape[1]) < 2:
        return replace(
            found, unavailable_because="one class order on a side: how methods vary over orders is not known"
        )
    if not (found.same or found.reverse):
        return replace(found, unavailable_because=f"no pair of {M} methods differs significantly on both sides")
    return found


def _differing(x: Float64, beyond: float) -> Iterator[Pair]:
    """Of ``x [M, S]``, which method is truly higher than which."""
    from scipy import stats

    M, S = x.shape
    if S < 2:
        return
    gaps = x[:, None] - x[None]
    error = gaps.std(axis=2, ddof=1) / math.sqrt(S)
    sure = (np.abs(gaps.mean(axis=2)) > float(stats.t.isf(beyond / 2, S - 1)) * error) & (np.ptp(gaps, axis=2) > AGREE)
    above = sure & (gaps.mean(axis=2) > 0)
    for j in range(M):  # what is above j is above all that j is above
        above |= above[:, j, None] & above[None, j]
    for i, j in np.argwhere(above).tolist():
        yield i, j
