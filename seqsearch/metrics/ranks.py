"""Agreement of two rankings of the same methods, as under Tables 1 and 4 of "CLDyB: Towards Dynamic Benchmarking for Continual
Learning"."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Float64 = NDArray[np.float64]

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
    srcc_P, krcc_P = (np.abs(c) for c in _coefficients(a[None], b[_permutations(n)]))
    as_strong = 1 - 1e-9  # equal coefficients differ in their last bits
    srcc_p, krcc_p = (srcc_P >= as_strong * abs(srcc)).mean(), (krcc_P >= as_strong * abs(krcc)).mean()
    return RankCorrelations(srcc, float(srcc_p), krcc, float(krcc_p), n, True)


def rank_coefficients(x: ArrayLike, y: ArrayLike) -> tuple[float, float]:
    """Spearman's and Kendall's correlation alone, without the orders that p-values take; NaN where one side is constant.

    Raises:
        ValueError: as `rank_correlations`.
    """
    a, b = _paired(x, y)
    srcc, krcc = (float(c[0]) for c in _coefficients(a[None], b[None]))
    return srcc, krcc


def _paired(x: ArrayLike, y: ArrayLike) -> tuple[Float64, Float64]:
    a, b = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if a.ndim != 1 or a.shape != b.shape or len(a) < 2 or not (np.isfinite(a).all() and np.isfinite(b).all()):
        raise ValueError("rank correlations need two equally long lists of at least two finite numbers")
    return a, b


def _coefficients(a_Dn: Float64, b_Dn: Float64) -> tuple[Float64, Float64]:
    """Spearman's rho and Kendall's tau-b ``[D]``, row by row (broadcast); NaN where a row is constant."""
    from scipy.stats import rankdata

    n = a_Dn.shape[1]
    a_Dn, b_Dn = (rankdata(x_Dn, axis=1) - (n + 1) / 2 for x_Dn in (a_Dn, b_Dn))
    agreement, untied_a, untied_b = np.zeros(1), np.zeros(1), np.zeros(1)
    for i in range(n):
        for j in range(i):
            sign_a, sign_b = np.sign(a_Dn[:, i] - a_Dn[:, j]), np.sign(b_Dn[:, i] - b_Dn[:, j])
            agreement, untied_a, untied_b = agreement + sign_a * sign_b, untied_a + sign_a**2, untied_b + sign_b**2
    with np.errstate(invalid="ignore"):
        srcc_D = (a_Dn * b_Dn).sum(axis=1) / np.sqrt((a_Dn**2).sum(axis=1) * (b_Dn**2).sum(axis=1))
        krcc_D = agreement / np.sqrt(untied_a * untied_b)
    return srcc_D, krcc_D


def _permutations(n: int) -> NDArray[np.int8]:
    """All orders of 0 .. n - 1, ``[n!, n]``."""
    orders = np.zeros((1, 1), dtype=np.int8)
    for m in range(1, n):
        orders = np.concatenate([np.insert(orders, i, m, axis=1) for i in range(m + 1)])
    return orders
