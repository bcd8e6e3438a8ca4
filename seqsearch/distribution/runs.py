"""A mean over few independent runs, and the differences of methods over the same runs, with p-values.

A run is a draw of a class order and a training seed. Intervals are those of `seqsearch.distribution.mean`
(`benchmarks.coverage.runs`: normal, skewed and tied runs).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from seqsearch.distribution.interval import AGREE, Interval, finite
from seqsearch.distribution.mean import DIFFERENCE, FEWEST, Limits, mean_interval, of_draws
from seqsearch.distribution.permutation import holm


@dataclass(frozen=True)
class OverRuns:
    """A mean over ``runs`` runs.

    Attributes:
        interval: 95 %, by itself.
        p: two-sided, of the mean being 0; NaN without an interval.
        unavailable_because: what there is too little of for an interval; empty where there is one.
    """

    interval: Interval
    p: float
    runs: int
    unavailable_because: str = ""


@dataclass(frozen=True)
class Pair:
    """Two methods by their places ``first < second``: the mean of first minus second over the same runs.

    Attributes:
        together: its interval at the level at which those of all pairs hold together (Bonferroni), cut at -1 and 1.
        p: Holm's, over all pairs; NaN where the pair has no interval.
        alike: they agree in every run.
    """

    first: int
    second: int
    over: OverRuns
    together: Interval
    p: float
    alike: bool

    @property
    def differs(self) -> bool:
        """They differ, at 5 % over all pairs."""
        return self.p <= 0.05 and self.over.interval.sign != 0


def over_runs(values: ArrayLike, limits: Limits = DIFFERENCE, level: float = 0.95) -> OverRuns:
    """The mean of ``values [n]``, one of each run; no bounds below `FEWEST` runs, and where all agree but for rounding.

    Raises:
        ValueError: nothing at all, or what is not finite.
    """
    x = finite(values, "figures of runs")
    n, interval = len(x), mean_interval(x, limits, level)
    if n < FEWEST:
        return OverRuns(interval, math.nan, n, f"{n} of {FEWEST} runs that an interval needs")
    if np.ptp(x) <= AGREE:
        return OverRuns(interval, math.nan, n, "all runs agree, so that how they vary is not known")
    return OverRuns(interval, of_draws(x).p(0.0), n)


def pairs(values: ArrayLike, level: float = 0.95, planned: int = 0) -> list[Pair]:
    """All pairs of ``values [M, n]``, method by run: the same runs for all.

    ``planned``: methods that were to be compared, if some have failed. Their pairs count in both corrections, so that the
    failure of one method makes no difference of two others significant.

    Raises:
        ValueError: another shape, or what is not finite.
    """
    x = finite(values, "figures of methods by run", (2,))
    places = [(a, b) for a in range(len(x)) for b in range(a + 1, len(x))]
    over = [over_runs(x[a] - x[b], level=level) for a, b in places]
    family = max(1, len(places), planned * (planned - 1) // 2)
    adjusted = iter(
        holm([o.p for o in over if not o.unavailable_because], family - sum(bool(o.unavailable_because) for o in over))
    )
    return [
        Pair(
            a,
            b,
            o,
            over_runs(x[a] - x[b], level=1 - (1 - level) / family).interval,
            math.nan if o.unavailable_because else next(adjusted),
            bool(np.abs(x[a] - x[b]).max() <= AGREE),
        )
        for (a, b), o in zip(places, over, strict=True)
    ]


def differing(found: Sequence[Pair]) -> list[Pair]:
    """Pairs that differ, the largest difference first."""
    return sorted((p for p in found if p.differs), key=lambda p: -abs(p.over.interval.value))
