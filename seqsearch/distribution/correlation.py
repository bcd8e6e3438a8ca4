"""Does similarity between tasks go with accuracy? Correlations that do not count one similarity several times.

S of a sequence is the same read backwards, and with three tasks it depends on the middle task alone: the 90 sequences of six
classes have 15 distinct values, six sequences to each. Ninety points are then fifteen, and p-values of ninety far too small.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from seqsearch.distribution.interval import AGREE, UNKNOWN, Float64, Interval, finite, tail
from seqsearch.metrics.ranks import rank_correlations


@dataclass(frozen=True)
class Coefficient:
    """A correlation with its interval and two-sided p-value; NaN where one side is constant."""

    value: Interval
    p: float


@dataclass(frozen=True)
class SimilarityCorrelation:
    """``pearson``, ``spearman``: of the means of ``clusters`` clusters. ``raw_*``: of all ``n`` sequences, as published."""

    pearson: Coefficient
    spearman: Coefficient
    clusters: int
    raw_pearson: Coefficient
    raw_spearman: Coefficient
    n: int
    level: float


def similarity_correlation(
    similarity: ArrayLike,
    accuracy: ArrayLike,
    clusters: ArrayLike | None = None,
    level: float = 0.95,
    draws: int = 9_999,
    seed: int = 0,
    tolerance: float = AGREE,
) -> SimilarityCorrelation:
    """Correlations of S ``[n]`` with accuracy ``[n]``, by clusters and raw.

    ``clusters [n]`` names each sequence's cluster; by default sequences whose S differs by rounding (``tolerance``) are one.

    - By clusters: correlation of the clusters' mean S and mean accuracy; p is the share of ``draws`` seeded permutations of
      the means that correlate as strongly, (1 + those) / (1 + draws); bounds are percentiles of ``draws`` seeded
      bootstraps over clusters, NaN below five clusters.
    - Raw: p of scipy (exact for Spearman up to nine), bounds by Fisher's z with variance 1 / (n - 3), for Spearman
      (1 + r^2 / 2) / (n - 3) ("Sample Size Requirements for Estimating Pearson, Kendall and Spearman Correlations", Bonett and
      Wright, 2000).

    Clusters may still share classes with each other; that is in none of the figures.

    Raises:
        ValueError: lists of different length, fewer than two sequences, missing values.
    """
    s, a = finite(similarity, "similarities"), finite(accuracy, "accuracies")
    if len(s) != len(a) or len(s) < 2:
        raise ValueError(f"correlations need two or more pairs, not {len(s)} similarities and {len(a)} accuracies")
    labels = (
        _by_similarity(s, tolerance) if clusters is None else np.unique(np.asarray(clusters), return_inverse=True)[1]
    )
    if labels.shape != s.shape:
        raise ValueError(f"{len(s)} sequences need as many cluster labels, not shape {labels.shape}")
    sizes = np.bincount(labels)
    s_C, a_C = np.bincount(labels, s) / sizes, np.bincount(labels, a) / sizes
    rng = np.random.default_rng(seed)
    return SimilarityCorrelation(
        pearson=_clustered(s_C, a_C, _as_is, level, draws, rng),
        spearman=_clustered(s_C, a_C, _ranks, level, draws, rng),
        clusters=len(sizes),
        raw_pearson=_raw_pearson(s, a, level),
        raw_spearman=_raw_spearman(s, a, level),
        n=len(s),
        level=level,
    )


def _by_similarity(s: Float64, tolerance: float) -> NDArray[np.int64]:
    order = np.argsort(s, kind="stable")
    labels = np.empty(len(s), dtype=np.int64)
    labels[order] = np.concatenate([[0], np.cumsum(np.diff(s[order]) > tolerance)])
    return labels


def _as_is(x_Dn: Float64) -> Float64:
    return x_Dn


def _ranks(x_Dn: Float64) -> Float64:
    ranks: Float64 = stats.rankdata(x_Dn, axis=1)
    return ranks


def _clustered(
    x_C: Float64, y_C: Float64, scale: Callable[[Float64], Float64], level: float, draws: int, rng: np.random.Generator
) -> Coefficient:
    x, y = scale(x_C[None]), scale(y_C[None])
    r, C = float(_pearson(x, y)[0]), len(x_C)
    if math.isnan(r):
        return Coefficient(UNKNOWN, math.nan)
    as_strong, bootstrapped = 0, []
    for D in _blocks(draws, C):
        permuted = rng.permuted(np.tile(x, (D, 1)), axis=1)
        as_strong += int((np.abs(_pearson(permuted, y)) >= abs(r) - 1e-9).sum())
        rows_DC = rng.integers(C, size=(D, C))
        bootstrapped.append(_pearson(scale(x_C[rows_DC]), scale(y_C[rows_DC])))
    low, high = (
        np.nanquantile(np.concatenate(bootstrapped), [tail(level), 1 - tail(level)]) if C >= 5 else (math.nan,) * 2
    )
    return Coefficient(Interval(r, float(low), float(high)), (1 + as_strong) / (1 + draws))


def _blocks(draws: int, n: int) -> list[int]:
    """Draws to make at once, so that memory stays small."""
    block = max(1, 1_000_000 // n)
    return [min(block, draws - done) for done in range(0, draws, block)]


def _pearson(x_Dn: Float64, y_Dn: Float64) -> Float64:
    """``[D]``, row by row (broadcast); NaN where a row is constant."""
    x, y = (v - v.mean(axis=1, keepdims=True) for v in (x_Dn, y_Dn))
    constant = (np.ptp(x_Dn, axis=1) < 1e-12) | (np.ptp(y_Dn, axis=1) < 1e-12)
    with np.errstate(invalid="ignore", divide="ignore"):
        r = (x * y).sum(axis=1) / np.sqrt((x**2).sum(axis=1) * (y**2).sum(axis=1))
    found: Float64 = np.where(constant, np.nan, r)
    return found


def _raw_pearson(s: Float64, a: Float64, level: float) -> Coefficient:
    r = float(_pearson(s[None], a[None])[0])
    if math.isnan(r) or len(s) < 3:
        return Coefficient(Interval(r), math.nan)
    return Coefficient(_fisher(r, 1.0, len(s), level), float(stats.pearsonr(s, a).pvalue))


def _raw_spearman(s: Float64, a: Float64, level: float) -> Coefficient:
    r = float(_pearson(_ranks(s[None]), _ranks(a[None]))[0])
    if math.isnan(r) or len(s) < 3:
        return Coefficient(Interval(r), math.nan)
    p = rank_correlations(s, a).srcc_p if len(s) <= 9 else float(stats.spearmanr(s, a).pvalue)
    return Coefficient(_fisher(r, 1 + r**2 / 2, len(s), level), p)


def _fisher(r: float, variance: float, n: int, level: float) -> Interval:
    if math.isnan(r) or n <= 3 or abs(r) >= 1:
        return Interval(r)
    reach = float(stats.norm.isf(tail(level))) * math.sqrt(variance / (n - 3))
    return Interval(r, math.tanh(math.atanh(r) - reach), math.tanh(math.atanh(r) + reach))
