"""Which of several methods differ? Corrections for many comparisons.

- `holm`: for any p-values, whatever their dependence.
- `pairs`: all pairs of methods over the same runs, with Holm's p-values and Bonferroni's intervals.
- `max_t`: methods for which found sequences are harder (easier) than random ones. The step-down max-T procedure
  ("Resampling-Based Multiple Testing", Westfall and Young, 1993) over the relabellings of `seqsearch.stats.rank_test`. All
  methods share the sequences, so that one relabelling moves all methods together. The dependence of methods is kept, and the
  smallest possible p is 1 / (number of relabellings), whatever the number of methods.
- `set_of_best`: the 95 % set of the methods that may be the best on found sequences. A method leaves the set if another is
  better beyond the error of their difference ("Simultaneous Confidence Intervals for All Distances from the 'Best'", Hsu,
  1981). Each of the k - 1 differences to a method is taken at (1 - level) / (k - 1), one-sided. So the truly best method leaves
  with a probability of at most 1 - level, whatever the correlation of methods. The interval of a difference is that of
  `seqsearch.stats.contrast`: methods are paired on sequences, seeds and test images.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from seqsearch.stats.contrast import Stratum, contrast
from seqsearch.stats.drop import FOUND, ImageShares
from seqsearch.stats.interval import AGREE, Float64, Interval, accuracies, finite
from seqsearch.stats.mean import OverRuns, over_runs
from seqsearch.stats.rank_test import End, relabellings


def holm(p: Sequence[float], planned: int = 0) -> list[float]:
    """p-values adjusted so that any false one among those at most .05 comes in at most 5 % of cases, whatever their dependence
    ("A Simple Sequentially Rejective Multiple Test Procedure", Holm, 1979).

    ``planned``: tests that there should have been, if more; those that are missing count as not significant.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    >>> holm([0.01], planned=3)
    [0.03]
    """
    tests = max(planned, len(p))
    adjusted, worst = [0.0] * len(p), 0.0
    for rank, i in enumerate(np.argsort(p, kind="stable").tolist()):
        worst = max(worst, min(1.0, (tests - rank) * p[i]))
        adjusted[i] = worst
    return adjusted


@dataclass(frozen=True)
class Pair:
    """Two methods by their places ``first < second``: the mean of first minus second over the same runs.

    Attributes:
        together: its interval at the level at which those of all pairs hold together (Bonferroni), cut at -1 and 1.
        p: Holm's, over all pairs; NaN where the pair has no interval.
        alike: whether they agree in every run.
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


def max_t(found: ArrayLike, random: ArrayLike, end: End = "harder") -> list[float]:
    """The adjusted p of each of M methods, of ``found [M, F]`` against ``random [M, L]``: final accuracies of one training each.

    The statistic of a method is the difference of its means, over the spread of its accuracies on all F + L sequences. Ties count
    against the claim; a method without spread has p = 1. With one method p is that of `rank_test`. At most 5 % of tables have a
    false p of 0.05 or less if the methods without an effect have the same joint distribution under every relabelling.

    Raises:
        ValueError: no sequences on a side, sides differ in their methods, or accuracies are no fractions.

    >>> random = [[0.5, 0.6, 0.7, 0.8], [0.5, 0.6, 0.7, 0.8]]
    >>> max_t([[0.2], [0.65]], random)
    [0.2, 0.6]
    """
    f, r = (
        np.stack([accuracies(row, f"accuracies of {side} sequences") for row in np.asarray(values, dtype=float)])
        for side, values in (("found", found), ("random", random))
    )
    if len(f) != len(r):
        raise ValueError(f"{len(f)} methods on found sequences, {len(r)} on random ones")
    sign = 1.0 if end == "harder" else -1.0
    return _step_down(sign * np.concatenate([f, r], axis=1), f.shape[1])


def _step_down(values: Float64, F: int) -> list[float]:
    """Of ``values [M, F + L]``, the first F of which are low if a claim holds: the share of relabellings in which the method or
    a less extreme one is as extreme, and never less than the share of a more extreme method."""
    chosen, sd = relabellings(values.shape[1], F), values.std(axis=1)
    below = {m: F * row.mean() - row[:F].sum() for m, row in enumerate(values) if np.ptp(row) > AGREE}
    order = sorted(below, key=lambda m: below[m] / sd[m])
    highest, shares = np.full(len(chosen), -np.inf), dict.fromkeys(range(len(values)), 1.0)
    for m in order:
        relabelled = F * values[m].mean() - values[m][chosen].sum(axis=1)
        highest = np.maximum(highest, (relabelled + F * AGREE) / sd[m])
        shares[m] = float((highest >= below[m] / sd[m]).mean())
    for less, more in itertools.pairwise(order[::-1]):
        shares[more] = max(shares[more], shares[less])
    return list(shares.values())


Images = Callable[[int, int], ImageShares | None]
"""Of two methods, by number: what each test image adds to the accuracies of the first (``found``) and the second (``random``)."""


def set_of_best(
    accuracies: Sequence[ArrayLike], images: Images = lambda i, j: None, level: float = 0.95
) -> tuple[int, ...]:
    """The numbers of the methods that may be the best, of ``accuracies`` ``[F, R]`` of each on the same sequences and seeds.

    Pairs of which too little is known for an interval take no method out.

    Raises:
        ValueError: other shapes, missing values, or images that do not add up to the accuracies.
    """
    values = [finite(a, "accuracies", dimensions=(2,)) for a in accuracies]
    if len({v.shape for v in values}) > 1:
        raise ValueError("methods must have the same sequences and seeds")
    pairs = itertools.combinations(range(len(values)), 2)
    worse = set()
    for i, j in pairs:
        of = images(i, j)
        shares = None if of is None else of.found - of.random
        difference = Stratum.of_found(FOUND, values[i] - values[j], shares)
        one_sided = 1 - 2 * (1 - level) / (len(values) - 1)
        sign = contrast([(1.0, difference)], None if of is None else of.classes, one_sided).interval.sign
        worse |= {j} if sign > 0 else {i} if sign < 0 else set()
    return tuple(i for i in range(len(values)) if i not in worse)
