"""Are there enough trials? What more of them would add at most, against what class orders make differ anyway.

The expected best of r is concave in r. Draw the settings one after the other: the next one adds (X - M_r)+ to the best M_r so
far. All of those not drawn yet are alike, so that the one after it adds (X' - M_{r+1})+, which is at most (X' - M_r)+, since M
does not fall, and that has the mean of what the next one adds. So every trial adds at most what the one before did, on average,
and k more trials add at most what the last k did. This holds for draws without replacement as for independent ones, whatever
the scores.

On average over searches, that is: where the best setting has not come up yet, the last k seem to have added little, and the bound
alone stops far too early (docs/selection.md). So what k more would add FROM HERE is estimated beside it, and both count.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from seqsearch.distribution.interval import AGREE
from seqsearch.selection.best_of import best_of
from seqsearch.selection.settings import settings

MORE = 10
"""Trials that are weighed at a time."""
TAIL = 1 / 3
"""Share of the settings whose scores tell how the best ones fall off."""
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
    unavailable_because: str = ""


def gain_at_most(scores: ArrayLike, more: int = MORE) -> float:
    """What the last ``more`` of the R settings added to the expected best, from ``scores [R]``; one that diverged counts as 0.

    For independent draws from a search space it is an unbiased estimate of a bound: ``more`` further draws add at most as much in
    expectation. It knows nothing of how lucky this search was: a lucky one is told to go on. NaN with ``more`` settings or fewer.

    Raises:
        ValueError: as `best_of`, or ``more`` below 1.
    """
    if more < 1:
        raise ValueError(f"{more} further trials add nothing")
    x = np.asarray(scores, dtype=np.float64)
    expected = best_of(np.where(np.isnan(x), 0.0, x)).expected
    return float(expected[-1] - expected[-1 - more]) if len(expected) > more else math.nan


def gain_from_here(scores: ArrayLike, more: int = MORE) -> float:
    """What ``more`` further draws would add on average to the best of ``scores [R]``; one that diverged is a draw.

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
        ValueError: as `seqsearch.selection.settings.settings`, or ``more`` below 1.
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
