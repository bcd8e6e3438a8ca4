"""Does similarity between tasks go with accuracy? Correlations over sequences; those of one cluster are dependent.

With three tasks S depends on the middle task alone: the 90 sequences of six classes have 15 values of S, six sequences to each,
and accuracies of such six are alike. Intervals and p-values of ninety independent points are then far too narrow and too small.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from seqsearch.distribution.interval import UNKNOWN, Float64, Interval, finite, tail

FEWEST_CLUSTERS = 10
"""Below, a correlation of clustered sequences has neither interval nor p-value."""
FEWEST = 10
"""The same for sequences that are not clustered."""


@dataclass(frozen=True)
class Coefficient:
    """A correlation, its 95 % interval and two-sided p-value of the same pivot: p < .05 where 0 is outside. NaN: unknown."""

    value: Interval
    p: float


@dataclass(frozen=True)
class SimilarityCorrelation:
    """Correlation of S and accuracy over ``n`` sequences; ``clusters``: their number, None where sequences are independent."""

    pearson: Coefficient
    spearman: Coefficient
    n: int
    clusters: int | None


def similarity_correlation(
    similarity: ArrayLike, accuracy: ArrayLike, clusters: ArrayLike | None = None, level: float = 0.95
) -> SimilarityCorrelation:
    """Correlations of S ``[n]`` with accuracy ``[n]``; ``clusters [n]`` names sequences whose S depends on what they share.

    Raises:
        ValueError: lists of different length, fewer than two sequences, missing values.
    """
    s, a = finite(similarity, "similarities"), finite(accuracy, "accuracies")
    if len(s) != len(a) or len(s) < 2:
        raise ValueError(f"correlations need two or more pairs, not {len(s)} similarities and {len(a)} accuracies")
    labels = None if clusters is None else np.unique(np.asarray(clusters), return_inverse=True)[1]
    if labels is not None and labels.shape != s.shape:
        raise ValueError(f"{len(s)} sequences need as many cluster labels, not shape {labels.shape}")
    groups = np.arange(len(s)) if labels is None else labels
    fewest = FEWEST if labels is None else FEWEST_CLUSTERS
    return SimilarityCorrelation(
        _coefficient(s, a, groups, fewest, level),
        _coefficient(stats.rankdata(s), stats.rankdata(a), groups, fewest, level),
        len(s),
        None if labels is None else int(labels.max()) + 1,
    )


def _coefficient(x: Float64, y: Float64, labels: NDArray[np.int64], fewest: int, level: float) -> Coefficient:
    """Jackknife over clusters of atanh r, t with clusters - 1 degrees."""
    r, C = _pearson(x, y), int(labels.max()) + 1
    if math.isnan(r) or fewest > C or abs(r) > 1 - 1e-9:
        return Coefficient(Interval(r) if not math.isnan(r) else UNKNOWN, math.nan)
    left = [_pearson(x[labels != c], y[labels != c]) for c in range(C)]
    z = np.arctanh(np.clip(left, -1 + 1e-12, 1 - 1e-12))
    error = math.sqrt((C - 1) / C * float(((z - z.mean()) ** 2).sum()))
    if not error > 0:
        return Coefficient(Interval(r), math.nan)
    reach = float(stats.t.isf(tail(level), C - 1)) * error
    p = 2 * float(stats.t.sf(abs(math.atanh(r)) / error, C - 1))
    return Coefficient(Interval(r, math.tanh(math.atanh(r) - reach), math.tanh(math.atanh(r) + reach)), p)


def _pearson(x: Float64, y: Float64) -> float:
    """NaN where one side is constant."""
    if np.ptp(x) < 1e-12 or np.ptp(y) < 1e-12:
        return math.nan
    x, y = x - x.mean(), y - y.mean()
    return float((x * y).sum() / math.sqrt((x**2).sum() * (y**2).sum()))
