"""Agreement of two rankings of the same methods, as under Tables 1 and 4 of "CLDyB: Towards Dynamic Benchmarking for Continual
Learning". Figures that differ by rounding alone are tied."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

Float64 = NDArray[np.float64]

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
    return _coefficients(a, b)


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


def _coefficients(a: Float64, b: Float64) -> tuple[float, float]:
    """Spearman's rho and Kendall's tau-b; NaN where one side is constant."""
    (ranks_a, signs_a), (ranks_b, signs_b) = _ranks_and_signs(a), _ranks_and_signs(b)
    if not (signs_a.any() and signs_b.any()):
        return np.nan, np.nan
    agreement = (signs_a * signs_b).sum(dtype=np.int64) / 2
    srcc = ranks_a @ ranks_b / np.sqrt((ranks_a**2).sum() * (ranks_b**2).sum())
    return float(srcc), float(agreement / _untied(signs_a, signs_b))


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
