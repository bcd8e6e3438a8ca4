"""Do two ways of evaluating rank methods alike? Kendall's tau-b of their mean scores, and the pairs of methods that differ.

The p-value asks whether unrelated rankings would agree as well: exact up to nine methods, over all their orders.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from seqsearch.distribution.interval import AGREE, Float64, finite
from seqsearch.metrics.ranks import rank_correlations

Pair = tuple[int, int]


@dataclass(frozen=True)
class Agreement:
    """Of M methods.

    Attributes:
        tau: Kendall's tau-b of the mean scores; NaN where all methods score alike on one side.
        p: two-sided, of unrelated rankings; ``exact`` up to nine methods.
        first, second: pairs of methods that differ significantly on each side, by number, the higher one before the lower.
        pairs: number of pairs of methods.
        unavailable_because: why no pair differs significantly on both sides; empty where one does.
    """

    tau: float
    p: float
    exact: bool
    first: tuple[Pair, ...]
    second: tuple[Pair, ...]
    pairs: int
    unavailable_because: str = ""

    @property
    def same(self) -> tuple[Pair, ...]:
        """Pairs that differ in the same direction on both sides."""
        return tuple(p for p in self.first if p in self.second)

    @property
    def reverse(self) -> tuple[Pair, ...]:
        """Pairs that differ in opposite directions: as on the first side."""
        return tuple(p for p in self.first if p[::-1] in self.second)


def agreement(first: ArrayLike, second: ArrayLike, level: float = 0.95) -> Agreement:
    """From ``first [M, S]`` and ``second [M, T]``: scores of the same methods over the class orders of each, paired within each.

    A pair of methods differs by Student's t of its paired differences, two-sided at (1 - ``level``) over all pairs of both
    sides (Bonferroni), or because it follows from other pairs. All pairs together are right in at least ``level`` if
    differences over orders are normal, whatever the variances and whether or not both sides share orders.

    Raises:
        ValueError: other methods, fewer than two, missing or infinite scores: leave out methods that diverged.
    """
    a, b = finite(first, "scores", (2,)), finite(second, "scores", (2,))
    if len(a) != len(b):
        raise ValueError(f"{len(a)} methods do not pair with {len(b)}")
    ranks = rank_correlations(a.mean(axis=1), b.mean(axis=1))
    M = len(a)
    pairs = M * (M - 1) // 2
    one, other = (tuple(_differing(x, (1 - level) / (2 * pairs))) for x in (a, b))
    found = Agreement(ranks.krcc, ranks.krcc_p, ranks.exact, one, other, pairs)
    if math.isnan(found.tau):
        return replace(found, unavailable_because="all methods score alike on one side")
    if min(a.shape[1], b.shape[1]) < 2:
        return replace(
            found, unavailable_because="one class order on a side: how methods vary over orders is not known"
        )
    if not (found.same or found.reverse):
        return replace(found, unavailable_because=f"no pair of {M} methods differs significantly on both sides")
    return found


def _differing(x: Float64, beyond: float) -> Iterator[Pair]:
    """Of ``x [M, S]``, which method is truly higher than which."""
    M, S = x.shape
    if S < 2:
        return
    gaps = x[:, None] - x[None]
    error = gaps.std(axis=2, ddof=1) / math.sqrt(S)
    sure = (np.abs(gaps.mean(axis=2)) > float(stats.t.isf(beyond / 2, S - 1)) * error) & (np.ptp(gaps, axis=2) > AGREE)
    above = sure & (gaps.mean(axis=2) > 0)
    for j in range(M):  # what is above j is above all that j is above
        above |= above[:, j, None] & above[None, j]
    for i, j in np.argwhere(above).tolist():
        yield i, j
