"""Do two ways of judging rank methods alike? Kendall's tau-b of their mean scores, and what noise of class orders leaves of it.

The p-value asks whether rankings that have nothing to do with each other would agree as well: exact up to nine methods, over
all their orders. The interval asks another thing: what tau of the TRUE means over all orders may be, for these very methods. It
is not the interval over methods that might have been compared (`seqsearch.distribution.rank_difference` has that question).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from seqsearch.distribution.interval import AGREE, Float64, Interval, finite
from seqsearch.metrics.ranks import rank_correlations

Signs = NDArray[np.int8]


@dataclass(frozen=True)
class Agreement:
    """Of M methods.

    Attributes:
        tau: Kendall's tau-b of the mean scores; -1 to 1 where no pair is told, NaN with one order.
        p: two-sided, of rankings that have nothing to do with each other; ``exact`` up to nine methods.
        told: pairs of methods that can be told apart in the first, in the second, and in both.
        pairs: of methods.
        lacking: why the bounds say nothing, or why there are none; empty where they say something.
    """

    tau: Interval
    p: float
    exact: bool
    told: tuple[int, int, int]
    pairs: int
    lacking: str = ""


def agreement(first: ArrayLike, second: ArrayLike, level: float = 0.95) -> Agreement:
    """From ``first [M, S]`` and ``second [M, T]``: scores of the same methods over the class orders of each, paired within each.

    A pair of methods is told apart by Student's t of its paired differences, two-sided at (1 - ``level``) over all pairs of
    both sides (Bonferroni), and where that follows from other pairs. Tau lies between what it is if all pairs that are not told
    in both disagree, and if all agree. That holds at least in ``level``, if differences over orders are normal and no two true
    means are equal, whatever the variances and whether or not both sides share orders. Drawing orders again with replacement
    (the bootstrap) is narrower and misses (docs/selection.md).

    Raises:
        ValueError: other methods, fewer than two, missing or infinite scores: leave out methods that diverged.
    """
    a, b = finite(first, "scores", (2,)), finite(second, "scores", (2,))
    if len(a) != len(b):
        raise ValueError(f"{len(a)} methods do not pair with {len(b)}")
    found = rank_correlations(a.mean(axis=1), b.mean(axis=1))
    M = len(a)
    pairs = M * (M - 1) // 2
    known = [_told(x, (1 - level) / (2 * pairs)) for x in (a, b)]
    both = known[0] * known[1]
    agree, differ = (int(np.triu(both == sign).sum()) for sign in (1, -1))
    told = int(np.triu(known[0] != 0).sum()), int(np.triu(known[1] != 0).sum()), agree + differ
    value, lacking = found.krcc, ""
    if math.isnan(value):
        lacking = "all methods score alike on one side"
    elif min(a.shape[1], b.shape[1]) < 2:
        lacking = "one class order on a side: how methods vary over orders is not known"
    if lacking:
        return Agreement(Interval(value), found.krcc_p, found.exact, told, pairs, lacking)
    if not told[2]:
        lacking = f"no pair of {M} methods can be told apart on both sides: more orders needed"
    tau = Interval(value, max(-1.0, 2 * agree / pairs - 1), min(1.0, 1 - 2 * differ / pairs))
    return Agreement(tau, found.krcc_p, found.exact, told, pairs, lacking)


def _told(x: Float64, beyond: float) -> Signs:
    """Of ``x [M, S]``, which of two methods is truly higher ``[M, M]``: 1 the row, -1 the column, 0 not told."""
    M, S = x.shape
    signs = np.zeros((M, M), dtype=np.int8)
    if S < 2:
        return signs
    gaps = x[:, None] - x[None]
    error = gaps.std(axis=2, ddof=1) / math.sqrt(S)
    sure = (np.abs(gaps.mean(axis=2)) > float(stats.t.isf(beyond / 2, S - 1)) * error) & (np.ptp(gaps, axis=2) > AGREE)
    above = sure & (gaps.mean(axis=2) > 0)
    for j in range(M):  # what is above j is above all that j is above
        above |= above[:, j, None] & above[None, j]
    signs[above] = 1
    signs[above.T] = -1
    return signs
