"""Expected best of r: what choosing among r random settings gives on average, for r up to the number that were tried.

Exactly, by counting: every r of the R settings are as likely, without replacement. For settings that are independent draws from
a search space this is the unbiased estimate of what a search of r trials gives ("Showing Your Work Doesn't Always Work", Tang
et al., 2020; drawing with replacement, as "Show Your Work: Improved Reporting of Experimental Results", Dodge et al., 2019, is
biased).

It speaks of the scores as they were measured on these class orders. The score of a chosen setting is too high on average, since
it was chosen for it: what the same setting shows elsewhere is the curve with ``of``.

The expected best has no interval: that of the jackknife misses far too often from r = 3 on (docs/selection.md). The typical best,
which half of all searches of r trials reach, has one that holds for any distribution.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from seqsearch.distribution.interval import AGREE, Float64, Interval, tail
from seqsearch.distribution.paired import quantile


@dataclass(frozen=True)
class BestOf:
    """Of r = 1 .. R settings; entry r - 1 of each ``[R]``.

    Attributes:
        expected: mean value of the chosen setting over all r of the R settings of which one can be chosen and has a value; NaN
            where there is no such choice of r.
        undefined: share of the other choices of r: all of them diverged, or the chosen one did on what is reported of it.
    """

    expected: Float64
    undefined: Float64


@dataclass(frozen=True)
class Typical:
    """What half of all searches of so many trials reach. ``unavailable_because``: why there are no bounds, else empty."""

    value: Interval
    unavailable_because: str = ""


def best_of(scores: ArrayLike, of: ArrayLike | None = None) -> BestOf:
    """From ``scores [R]``, one a setting, NaN if it diverged: such never win, but were drawn.

    ``of [R]``: what is reported of the chosen setting, if not its score; NaN where it diverged there. Settings that score alike
    are chosen as often as each other.

    Raises:
        ValueError: no settings, infinite scores, or not as many values as settings.
    """
    x = _scores(scores)
    y = x if of is None else _scores(of)
    if y.shape != x.shape:
        raise ValueError(f"{len(x)} settings need as many values of the chosen, not {len(y)}")
    known = chosen(x)[:, np.isfinite(y)]
    there = known.sum(axis=1)
    expected: Float64 = known @ y[np.isfinite(y)] / np.where(there > 0, there, np.nan)
    return BestOf(expected, np.where(np.isfinite(x + y).all(), 0.0, np.clip(1 - there, 0, 1)))


def chosen(scores: ArrayLike) -> Float64:
    """Probability ``[R, R]`` that of r = 1 .. R settings (rows) each one (columns) is chosen; 0 for those that diverged.

    Raises:
        ValueError: as `best_of`.
    """
    x = _scores(scores)
    order = np.argsort(np.where(np.isnan(x), -np.inf, x), kind="stable")
    ranked = x[order]
    alike = np.concatenate([[0], np.cumsum(~(np.diff(ranked) <= AGREE))])
    weights = _weights(len(x))
    of_group = np.stack([np.bincount(alike, row) for row in weights]) / np.bincount(alike)
    found = np.zeros_like(weights)
    found[:, order] = np.where(np.isnan(ranked), 0.0, of_group[:, alike])
    return found


def typical_best(scores: ArrayLike, r: int, level: float = 0.95) -> Typical:
    """The median score of the best of ``r`` settings, from ``scores [R]``; one that diverged counts as 0.

    It is the quantile .5^(1 / r) of the score of one setting, with order statistics as bounds: for any distribution, ties
    included, they hold in at least ``level``, if the settings are independent draws. NaN if R is too small for ``r``.

    Raises:
        ValueError: as `best_of`, or ``r`` below 1.
    """
    x = _scores(scores)
    if r < 1:
        raise ValueError(f"the best of {r} settings is none")
    found = quantile(np.where(np.isnan(x), 0.0, x), 0.5 ** (1 / r), level)
    if not math.isnan(found.low):
        return Typical(found)
    fewest = math.ceil(r * math.log(tail(level)) / math.log(0.5))
    return Typical(found, f"the typical best of {r} needs {max(fewest, len(x) + 1)} settings, {len(x)} there")


@lru_cache(maxsize=64)
def _weights(R: int) -> Float64:
    """Probability ``[R, R]`` that the i-th lowest of R is the highest of r drawn (rows): C(i - 1, r - 1) / C(R, r)."""
    below = np.arange(R)
    factors = np.ones((R, R))
    for j in range(1, R):
        factors[j] = np.clip(below - j + 1, 0, None) / (R - j)
    weights: Float64 = np.arange(1, R + 1)[:, None] / R * np.cumprod(factors, axis=0)
    weights.setflags(write=False)
    return weights


def _scores(values: ArrayLike) -> Float64:
    x = np.asarray(values, dtype=np.float64)
    if x.ndim != 1 or not x.size or np.isinf(x).any():
        raise ValueError(f"scores must be one a setting, finite or NaN, not of shape {x.shape}")
    return x
