"""Does similarity between tasks go with accuracy? Correlations over sequences; those of one cluster are dependent.

With three tasks S depends on the middle task alone: the 90 sequences of six classes have 15 values of S, six sequences to each,
and accuracies of such six are alike. Intervals and p-values of ninety independent points are then far too narrow and too small.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from seqsearch.distribution.interval import UNKNOWN, Float64, Interval, finite
from seqsearch.distribution.pivot import Pivot
from seqsearch.metrics.ranks import without_rounding

FEWEST = 8
"""Sequences, or clusters of them, below which a correlation has neither interval nor p-value."""
_ONE = 1 - 1e-12
_CONSTANT = 1e-12


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
    """Pearson's and Spearman's correlation of S ``[n]`` with accuracy ``[n]``, over all sequences as they are.

    Interval and p-value rest on the jackknife: n atanh r - (n - 1) atanh r without sequence i, taken as n independent values
    ("The Jackknife, the Bootstrap and Other Resampling Plans", Efron, 1982, chapter 3), with `Pivot`'s bounds of their mean. They
    reach as far as Fisher's z at least, with variance 1 / (n - 3), for ranks (1 + r^2 / 2) / (n - 3) ("Sample Size Requirements
    for Estimating Pearson, Kendall and Spearman Correlations", Bonett and Wright, 2000).

    ``clusters [n]`` names sequences that are dependent, since S depends on a part that they share. Clusters are left out then,
    and in place of Fisher's z, which is for independent sequences, the bounds are taken around r as well, without the jackknife's
    correction of bias. Clusters may still share classes with each other; no figure knows. There is neither interval nor p-value
    below `FEWEST` sequences or clusters, nor where |r| is 1 or no sequence makes a difference.

    Raises:
        ValueError: lists of different length, fewer than two sequences, missing values.
    """
    s, a = finite(similarity, "similarities"), finite(accuracy, "accuracies")
    if len(s) != len(a) or len(s) < 2:
        raise ValueError(f"correlations need two or more pairs, not {len(s)} similarities and {len(a)} accuracies")
    s, a = without_rounding(s), without_rounding(a)
    labels = None if clusters is None else np.unique(np.asarray(clusters), return_inverse=True)[1]
    if labels is not None and labels.shape != s.shape:
        raise ValueError(f"{len(s)} sequences need as many cluster labels, not shape {labels.shape}")
    return SimilarityCorrelation(
        _coefficient(s, a, labels, 0.0, level),
        _coefficient(stats.rankdata(s), stats.rankdata(a), labels, 0.5, level),
        len(s),
        None if labels is None else int(labels.max()) + 1,
    )


def _coefficient(x: Float64, y: Float64, labels: NDArray[np.int64] | None, ranks: float, level: float) -> Coefficient:
    """``ranks``: what ranks add to the variance of atanh r, times r^2."""
    if np.ptp(x) < _CONSTANT or np.ptp(y) < _CONSTANT:
        return Coefficient(UNKNOWN, math.nan)
    x, y = (x - x.mean()) / x.std(), (y - y.mean()) / y.std()
    r = max(-1.0, min(1.0, float((x * y).mean())))
    left = _without(x, y, np.arange(len(x)) if labels is None else labels)
    C = len(left)
    if C < FEWEST or abs(r) > _ONE or np.isnan(left).any():
        return Coefficient(Interval(r), math.nan)
    z = math.atanh(r)
    pseudo = C * z - (C - 1) * np.arctanh(np.clip(left, -_ONE, _ONE))
    if np.ptp(pseudo) < _CONSTANT:
        return Coefficient(Interval(r), math.nan)
    jackknife = Pivot.of_mean(pseudo)
    by_fisher = Pivot(z, math.sqrt((1 + ranks * r**2) / (C - 3)), 0.0, C, math.inf)
    both = jackknife, by_fisher if labels is None else replace(jackknife, value=z)
    bounds = [math.tanh(bound) for pivot in both for bound in pivot.bounds(level)]
    return Coefficient(Interval(r, min(bounds), max(bounds)), max(pivot.p(0.0) for pivot in both))


def _without(x: Float64, y: Float64, labels: NDArray[np.int64]) -> Float64:
    """Correlation of standardised ``x`` and ``y [n]`` without each cluster ``[C]``; NaN where one side is constant then."""
    n, sx, sy, xx, yy, xy = (v.sum() - np.bincount(labels, v) for v in (np.ones(len(x)), x, y, x * x, y * y, x * y))
    with np.errstate(invalid="ignore", divide="ignore"):
        vx, vy = xx / n - (sx / n) ** 2, yy / n - (sy / n) ** 2
        r: Float64 = (xy / n - sx * sy / n**2) / np.sqrt(vx * vy)
    return np.where((vx < 1e-9) | (vy < 1e-9), np.nan, r)
