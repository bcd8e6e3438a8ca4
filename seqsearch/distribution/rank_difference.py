"""Which of two benchmarks ranks methods more like a reference does? Two rank correlations that share the reference, compared.

As under Tables 1 and 4 of "CLDyB: Towards Dynamic Benchmarking for Continual Learning with Pre-trained Models",
which print the correlations alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from seqsearch.distribution.interval import UNKNOWN, Interval, finite, tail
from seqsearch.metrics.ranks import rank_coefficients

FEWEST = 6
"""Different values of every column below which there is no interval: with 5 it would reach from nearly -2 to nearly 2."""


@dataclass(frozen=True)
class RankDifference:
    """Correlation of the first column with the reference minus that of the second, over ``n`` methods that have all three.

    ``lacking`` says why there are no bounds, and is empty where there are.
    """

    srcc: Interval
    krcc: Interval
    n: int
    lacking: str = ""


def rank_difference(first: ArrayLike, second: ArrayLike, reference: ArrayLike, level: float = 0.95) -> RankDifference:
    """The difference of two rank correlations over the same methods ``[n]``, and its interval.

    Each correlation has an interval of its own at level 1 - (1 - ``level``) / 2, by Fisher's z with the variance
    (1 + r^2 / 2) / (n - 3) for Spearman's and, with Student's quantile, .437 / (n - 4) for Kendall's ("Sample Size Requirements
    for Estimating Pearson, Kendall and Spearman Correlations", Bonett and Wright, 2000; "Tests for Rank Correlation
    Coefficients. I", Fieller, Hartley and Pearson, 1957). Both hold at once with probability ``level`` whatever their dependence
    (Bonferroni), and then the difference lies between the lower bound of one minus the upper of the other, and the reverse.
    Estimating the dependence, as Meng, Rosenthal and Rubin (1992) and Zou (2007) do, is narrower and covers far less with so
    few methods, and least where both columns agree well with the reference (docs/compare.md).

    n is the number of different values in the column that has fewest: what is tied counts once. A correlation of 1 is taken as
    half a swap of neighbours below 1 for its lower bound.

    The interval takes the methods as independent draws from all methods that might have been compared; the noise of the
    accuracies themselves is part of what is correlated.

    Raises:
        ValueError: lists of different length, fewer than two methods, missing values.
    """
    columns = [finite(c, "accuracies") for c in (first, second, reference)]
    n, distinct = len(columns[2]), [len(np.unique(c)) for c in columns]
    if min(distinct) < 2:
        return RankDifference(UNKNOWN, UNKNOWN, n, "a column has one value only")
    (s1, k1), (s2, k2) = (rank_coefficients(c, columns[2]) for c in columns[:2])
    if min(distinct) < FEWEST:
        why = f"too few methods: {FEWEST} with different accuracies needed, {min(distinct)} there"
        return RankDifference(Interval(s1 - s2), Interval(k1 - k2), n, why)
    each, (n1, n2) = 1 - (1 - level) / 2, (min(d, distinct[2]) for d in distinct[:2])
    srcc = _minus(s1, s2, _spearman(s1, n1, each), _spearman(s2, n2, each))
    return RankDifference(srcc, _minus(k1, k2, _kendall(k1, n1, each), _kendall(k2, n2, each)), n)


_Bounds = tuple[float, float]


def _minus(r1: float, r2: float, first: _Bounds, second: _Bounds) -> Interval:
    return Interval(r1 - r2, first[0] - second[1], first[1] - second[0])


def _spearman(r: float, n: int, level: float) -> _Bounds:
    quantile = float(stats.norm.isf(tail(level)))
    return _fisher(r, 12 / (n * (n * n - 1)), quantile * math.sqrt((1 + r**2 / 2) / (n - 3)))


def _kendall(r: float, n: int, level: float) -> _Bounds:
    """With Student's quantile: with the normal one it missed where two groups of methods lie apart (docs/compare.md)."""
    quantile = float(stats.t.isf(tail(level), n - 2))
    return _fisher(r, 4 / (n * (n - 1)), quantile * math.sqrt(0.437 / (n - 4)))


def _fisher(r: float, swap: float, reach: float) -> _Bounds:
    """``reach``: on the scale of z. ``swap``: how far a correlation of 1 falls where two neighbours change places."""
    most = 1 - swap / 2
    z = math.atanh(max(-most, min(most, r)))
    return min(r, math.tanh(z - reach)), max(r, math.tanh(z + reach))
