"""The result of a search of r trials, and whether there are enough trials.

`best_of` is the expected best of r: the mean result of choosing among r random settings, for r up to the number that were
tried. It counts exactly: every r of the R settings are as likely, without replacement. For settings that are independent draws
from a search space this is the unbiased estimate of the result of a search of r trials ("Showing Your Work Doesn't Always
Work", Tang et al., 2020; drawing with replacement, as "Show Your Work: Improved Reporting of Experimental Results", Dodge et
al., 2019, is biased). It is of the scores as they were measured on these class orders. The score of a chosen setting is too
high on average, since it was chosen for it; the curve with ``of`` shows the same setting elsewhere. The expected best has no
interval: that of the jackknife misses far too often from r = 3 on (docs/selection.md). The typical best, which half of all
searches of r trials reach, has one that holds for any distribution.

`enough` weighs the gain of more trials against the differences between class orders. The expected best of r is concave in r.
Draw the settings one after the other: the next one adds (X - M_r)+ to the best M_r so far. All of those not drawn yet are
alike, so that the one after it adds (X' - M_{r+1})+, which is at most (X' - M_r)+, since M does not fall, and that has the mean
of the gain of the next one. So every trial adds at most as much as the one before, on average, and k more trials add at most as
much as the last k did. This holds for draws without replacement as for independent ones, whatever the scores. It is an average
over searches: where the best setting has not come up yet, the last k seem to have added little, and the bound alone stops far
too early (docs/selection.md). So the gain of k more FROM HERE is estimated beside it, and both count.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from seqsearch.stats.choice import settings
from seqsearch.stats.interval import AGREE, LACKING, Float64, Interval, tail
from seqsearch.stats.quantiles import quantile


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
    """The score that half of all searches of so many trials reach. ``unavailable_because``: why it has no bounds, else empty."""

    value: Interval
    unavailable_because: str = field(default="", metadata=LACKING)


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


MORE = 10
"""Trials that are weighed at a time."""
TAIL = 1 / 3
"""Share of the settings whose scores show how the best ones fall off."""
FEWEST = 4
"""Settings that must not have diverged."""


@dataclass(frozen=True)
class Enough:
    """Whether to stop.

    Attributes:
        bound: what ``more`` trials add to the best score at most, in expectation over searches of this length.
        from_here: what they would add to the best score of this search, if the upper tail of scores is exponential.
        noise: standard error over the orders of how far a setting lies behind the best; the median over settings.
        stop: both are below ``noise``; False where one of the three is not known.
        unavailable_because: why it is not known, empty where all are.
    """

    bound: float
    from_here: float
    noise: float
    stop: bool
    unavailable_because: str = field(default="", metadata=LACKING)


def gain_at_most(scores: ArrayLike, more: int = MORE) -> float:
    """The gain of the last ``more`` of the R settings in the expected best, from ``scores [R]``; one that diverged counts as 0.

    For independent draws from a search space it is an unbiased estimate of a bound: ``more`` further draws add at most as much in
    expectation. It ignores the score that this search has reached: after an early high score it still advises to go on. NaN with
    ``more`` settings or fewer.

    Raises:
        ValueError: as `best_of`, or ``more`` below 1.
    """
    if more < 1:
        raise ValueError(f"{more} further trials add nothing")
    x = np.asarray(scores, dtype=np.float64)
    expected = best_of(np.where(np.isnan(x), 0.0, x)).expected
    return float(expected[-1] - expected[-1 - more]) if len(expected) > more else math.nan


def gain_from_here(scores: ArrayLike, more: int = MORE) -> float:
    """The mean gain of ``more`` further draws over the best of ``scores [R]``; one that diverged is a draw.

    Above the `TAIL` best of the R settings scores are taken to fall off exponentially: too slowly for scores that have an upper
    end or are normal, so that the gain is rather too high; too fast for heavier tails. With q the chance that a draw beats the
    best, and b the mean of what the tail exceeds its start by, it is b (the sum over j = 1 .. ``more`` of (1 - (1 - q)^j) / j).
    NaN with fewer than `FEWEST` settings that did not diverge.

    Raises:
        ValueError: as `best_of`, or ``more`` below 1.
    """
    if more < 1:
        raise ValueError(f"{more} further trials add nothing")
    R = len(best_of(scores).expected)
    x = np.sort(np.asarray(scores, dtype=np.float64))  # NaN last
    x = x[np.isfinite(x)][::-1]
    if len(x) < FEWEST:
        return math.nan
    k = min(max(3, round(R * TAIL)), len(x) - 1)
    scale = float((x[:k] - x[k]).mean())
    if scale <= AGREE:
        return 0.0
    q = k / R * math.exp(-float(x[0] - x[k]) / scale)
    return scale * sum((1 - (1 - q) ** j) / j for j in range(1, more + 1))


def enough(scores: ArrayLike, more: int = MORE) -> Enough:
    """The rule of stopping for ``scores [R, S]``: ``more`` trials add less than the noise over orders.

    A rule and no test: how often it stops too early is measured (docs/selection.md).

    Raises:
        ValueError: as `seqsearch.stats.choice.settings`, or ``more`` below 1.
    """
    found = settings(scores)
    gains = gain_at_most(found.mean, more), gain_from_here(found.mean, more)
    if found.best is None:
        return Enough(*gains, math.nan, False, "all settings diverged")
    error = found.behind(found.best)[1]
    known = error[np.isfinite(error)]
    noise = float(np.median(known)) if len(known) else math.nan
    unavailable_because = ""
    if math.isnan(gains[0]):
        unavailable_because = f"more than {more} settings needed, {len(found.mean)} there"
    elif math.isnan(gains[1]):
        unavailable_because = f"{FEWEST} settings needed that did not diverge, {len(found.valid)} there"
    elif math.isnan(noise):
        unavailable_because = "no two settings differ from order to order: more orders or settings needed"
    return Enough(*gains, noise, not unavailable_because and max(gains) < noise, unavailable_because)
