"""The result of a search of r trials, and whether there are enough trials. A trial evaluates one hyperparameter setting.

`best_of` is the expected best of r: choose the setting with the highest score among r random settings; the mean of its result,
for r from 1 to R, the number of settings tried. The mean is exact: all subsets of r of the R settings are equally likely (drawn
without replacement). If the settings are independent draws from a search space, it is the unbiased estimate of the result of a
search of r trials ("Showing Your Work Doesn't Always Work", Tang et al., 2020). Drawing with replacement ("Show Your Work:
Improved Reporting of Experimental Results", Dodge et al., 2019) is biased. The scores are those measured on these class orders.
The score of a chosen setting is too high on average, since the setting was chosen for it; the curve with ``of`` shows the same
setting on other data. The expected best has no interval: the jackknife's misses far too often from r = 3 on (docs/selection.md).
The typical best, which half of all searches of r trials reach, has an interval that holds for any distribution.

`enough` weighs the gain of more trials against the differences between class orders. The expected best of r is concave in r:

1. Draw the settings one after the other, with scores X_1, X_2, ... and M_r the best of the first r. Draw r + 1 adds
   (X_{r+1} - M_r)+ to the best, and draw r + 2 adds (X_{r+2} - M_{r+1})+ <= (X_{r+2} - M_r)+, since M does not fall.
2. All settings not drawn yet are exchangeable, so (X_{r+2} - M_r)+ has the same mean as (X_{r+1} - M_r)+.
3. So on average every draw adds at most as much as the one before, and k more trials add at most as much as the last k did.

This holds for draws without replacement and for independent draws, whatever the scores. It is an average over searches: where the
best setting has not come up yet, the last k trials seem to have added little, and a rule with this bound alone stops far too
early (docs/selection.md). So the gain of k more trials from here, given the scores of this search, is estimated as well. `enough`
stops only if the bound and the estimate are both below the noise.
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
    """The best of r of R settings, over all subsets of r settings. Entry r - 1 of each array ``[R]`` is for r.

    The winner of a subset is the setting with the highest score. There is none if all settings of the subset diverged.

    Attributes:
        expected: mean of ``of`` (by default the score) for the winner, over those subsets that have a winner with a finite
            ``of``; NaN if there is no such subset.
        undefined: share of the subsets that are left out of ``expected``: they have no winner, or its ``of`` is not finite.
    """

    expected: Float64
    undefined: Float64


@dataclass(frozen=True)
class Typical:
    """The score that half of all searches of r trials reach. ``unavailable_because``: why it has no bounds, else empty."""

    value: Interval
    unavailable_because: str = field(default="", metadata=LACKING)


def best_of(scores: ArrayLike, of: ArrayLike | None = None) -> BestOf:
    """The expected best of r = 1 .. R settings.

    Args:
        scores: ``[R]``, one per setting; NaN if it diverged. Such a setting is in subsets, but never wins. Settings with equal
            scores win equally often.
        of: ``[R]``, the value that is reported of the winner, if not its score; NaN where the setting diverged there.

    Raises:
        ValueError: no settings, infinite scores, or not as many values as settings.
    """
    x = _scores(scores)
    y = x if of is None else _scores(of)
    if y.shape != x.shape:
        raise ValueError(f"{len(x)} settings need as many values of the chosen, not {len(y)}")
    wins = chosen(x)[:, np.isfinite(y)]
    defined = wins.sum(axis=1)  # share of the subsets with a winner whose value is finite
    expected: Float64 = wins @ y[np.isfinite(y)] / np.where(defined > 0, defined, np.nan)
    return BestOf(expected, np.where(np.isfinite(x + y).all(), 0.0, np.clip(1 - defined, 0, 1)))


def chosen(scores: ArrayLike) -> Float64:
    """Probability ``[R, R]`` that a setting (column) wins among r = 1 .. R random settings (row); 0 for those that diverged.

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
    """The median score of the best of ``r`` settings, from ``scores [R]``; a setting that diverged counts as 0.

    It is the quantile 0.5^(1 / r) of the score of one setting, with order statistics as bounds. If the settings are independent
    draws, the bounds cover it with probability ``level`` or more, for any distribution, ties included. NaN if R is too small for
    ``r``.

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
    """Probability ``[R, R]`` that the i-th lowest of R (column) is the highest of r drawn (row): C(i - 1, r - 1) / C(R, r)."""
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
"""Number of further trials whose gain is weighed."""
TAIL = 1 / 3
"""Share of the settings, the best ones, to whose scores the exponential tail is fitted."""
FEWEST = 4
"""Least number of settings that did not diverge, for an estimate of the tail."""


@dataclass(frozen=True)
class Enough:
    """Whether to stop.

    Attributes:
        bound: the most that ``more`` trials add to the best score, in expectation over searches of this length.
        from_here: the expected gain of ``more`` trials over the best score of this search, if the upper tail of scores is
            exponential.
        noise: standard error over the class orders of the difference between a setting and the best one; the median over
            settings.
        stop: ``bound`` and ``from_here`` are both below ``noise``; False if one of the three is NaN.
        unavailable_because: why one of the three is NaN, empty if none is.
    """

    bound: float
    from_here: float
    noise: float
    stop: bool
    unavailable_because: str = field(default="", metadata=LACKING)


def gain_at_most(scores: ArrayLike, more: int = MORE) -> float:
    """The expected best of R settings minus that of R - ``more``, from ``scores [R]``; a setting that diverged counts as 0.

    For independent draws from a search space it is an unbiased estimate of a bound: ``more`` further trials add at most as much
    in expectation. It ignores the score that this search has reached: after an early high score it still advises to go on. NaN
    with ``more`` settings or fewer.

    Raises:
        ValueError: as `best_of`, or ``more`` below 1.
    """
    if more < 1:
        raise ValueError(f"{more} further trials add nothing")
    x = np.asarray(scores, dtype=np.float64)
    expected = best_of(np.where(np.isnan(x), 0.0, x)).expected
    return float(expected[-1] - expected[-1 - more]) if len(expected) > more else math.nan


def gain_from_here(scores: ArrayLike, more: int = MORE) -> float:
    """The mean gain of ``more`` further trials over the best of ``scores [R]``. A setting that diverged counts in R.

    The upper tail of scores, estimated from the share `TAIL` of the settings with the best scores, is assumed to be exponential.
    For scores with an upper limit and for normal scores the real tail is shorter, so the gain is rather too high. For heavier
    tails it is too low. Let u be the score at which the tail starts, b the mean excess over u of the scores in the tail, and q
    the probability that a new setting beats the best. The gain is b times the sum over j = 1 .. ``more`` of (1 - (1 - q)^j) / j.
    NaN with fewer than `FEWEST` settings that did not diverge.

    Raises:
        ValueError: as `best_of`, or ``more`` below 1.
    """
    if more < 1:
        raise ValueError(f"{more} further trials add nothing")
    R = len(best_of(scores).expected)
    x = np.sort(np.asarray(scores, dtype=np.float64))  # NaN last
    x = x[np.isfinite(x)][::-1]  # best first
    if len(x) < FEWEST:
        return math.nan
    k = min(max(3, round(R * TAIL)), len(x) - 1)  # settings in the tail; x[k] is its start
    scale = float((x[:k] - x[k]).mean())
    if scale <= AGREE:
        return 0.0
    q = k / R * math.exp(-float(x[0] - x[k]) / scale)
    return scale * sum((1 - (1 - q) ** j) / j for j in range(1, more + 1))


def enough(scores: ArrayLike, more: int = MORE) -> Enough:
    """The stopping rule for ``scores [R, S]`` of R settings on S class orders: stop if ``more`` trials add less than the noise.

    It is a rule, not a significance test; docs/selection.md has the measured share of searches that it stops too early.

    Raises:
        ValueError: as `seqsearch.stats.choice.settings`, or ``more`` below 1.
    """
    found = settings(scores)
    gains = gain_at_most(found.mean, more), gain_from_here(found.mean, more)
    if found.best is None:
        return Enough(*gains, math.nan, False, "all settings diverged")
    error = found.behind(found.best)[1]
    finite = error[np.isfinite(error)]
    noise = float(np.median(finite)) if len(finite) else math.nan
    unavailable_because = ""
    if math.isnan(gains[0]):
        unavailable_because = f"more than {more} settings needed, {len(found.mean)} there"
    elif math.isnan(gains[1]):
        unavailable_because = f"{FEWEST} settings needed that did not diverge, {len(found.valid)} there"
    elif math.isnan(noise):
        unavailable_because = "no two settings differ from order to order: more orders or settings needed"
    return Enough(*gains, noise, not unavailable_because and max(gains) < noise, unavailable_because)
