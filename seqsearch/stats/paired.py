"""Which of two methods is more accurate on the same class sequences: how often, and by how much?

A gap is the final accuracy of A minus that of B on one random sequence, both trained with the same seed, which serves no other
sequence: gaps are independent draws over sequences and training seeds. All figures are conditional on the classes, their split
and the test images: methods and sequences share images, and no interval covers other images.

The shares (Clopper and Pearson), the sign test, the quantiles and the share beyond the worst gaps hold for any distribution,
ties included. The mean has the interval of `seqsearch.stats.mean`, which can miss where rare sequences are far off.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from seqsearch.stats.interval import AGREE, Interval, accuracies
from seqsearch.stats.mean import DIFFERENCE, mean_interval
from seqsearch.stats.quantiles import quantile, share, share_beyond

Side = Literal["a", "b", ""]
"""Method A, method B, or neither."""
FEWEST_SIGNS = 6
"""Sequences below which no sign test has a p-value of 5 % or less, whatever comes out: 2 / 2^5 is 6 %."""


@dataclass(frozen=True)
class Gap:
    """Of one sequence: its number among those given, and accuracy of A minus that of B."""

    number: int
    value: float


@dataclass(frozen=True)
class Paired:
    """Accuracies of A and B on ``L`` random sequences, one training each; bounds are NaN where nothing can be said.

    Attributes:
        above, ties, below: shares of sequences (and training seeds) with A above B, both alike, A below B; each with its own
            interval.
        counts: sequences of each.
        sign_p: two-sided p-value of the sign test, ties left out: that A is above B as often as below.
        mean: gap over all sequences and training seeds.
        sd: of the gap of one training.
        median, low, high: quantiles 1/2, 1/10 and 9/10 of the gap.
        worst_a, worst_b: the lowest and the highest gap seen. They are selected extremes of single trainings: on fresh seeds
            these sequences will show less.
        beyond: with 95 % confidence, at most this share of sequences has a gap below the lowest. The same holds above
            the highest.
    """

    L: int
    above: Interval
    ties: Interval
    below: Interval
    counts: tuple[int, int, int]
    sign_p: float
    mean: Interval
    sd: float
    median: Interval
    low: Interval
    high: Interval
    worst_a: Gap
    worst_b: Gap
    beyond: float

    @property
    def on_most(self) -> Side:
        """The method that is above the other on more than half of all sequences, at 5 % over both."""
        return "a" if self.above.low > 0.5 else "b" if self.below.low > 0.5 else ""

    @property
    def more_often(self) -> Side:
        """The method that is above the other more often than below, by the sign test at 5 %."""
        if self.sign_p > 0.05:
            return ""
        return "a" if self.counts[0] > self.counts[2] else "b"

    @property
    def on_average(self) -> Side:
        """The method with the higher mean, where 0 is outside the mean's interval and the difference shows."""
        return "a" if self.mean.sign > 0 else "b" if self.mean.sign < 0 else ""


def paired(a: ArrayLike, b: ArrayLike, level: float = 0.95) -> Paired:
    """From ``a [L]`` and ``b [L]``, final accuracies on independently drawn sequences; equal within rounding is a tie.

    Raises:
        ValueError: accuracies that are no fractions, or not as many of A as of B.
    """
    x, y = accuracies(a, "accuracies of A"), accuracies(b, "accuracies of B")
    if len(x) != len(y):
        raise ValueError(f"{len(x)} accuracies of A do not pair with {len(y)} of B")
    gaps = x - y
    gaps[np.abs(gaps) <= AGREE] = 0.0
    counts = int((gaps > 0).sum()), int((gaps == 0).sum()), int((gaps < 0).sum())
    shares = [share(n, len(gaps), level) for n in counts]
    lowest, highest = int(gaps.argmin()), int(gaps.argmax())
    return Paired(
        L=len(gaps),
        above=shares[0],
        ties=shares[1],
        below=shares[2],
        counts=counts,
        sign_p=sign_p(counts[0], counts[2]),
        mean=mean_interval(gaps, DIFFERENCE, level),
        sd=float(gaps.std(ddof=1)) if len(gaps) > 1 else math.nan,
        median=quantile(gaps, 0.5, level),
        low=quantile(gaps, 0.1, level),
        high=quantile(gaps, 0.9, level),
        worst_a=Gap(lowest, float(gaps[lowest])),
        worst_b=Gap(highest, float(gaps[highest])),
        beyond=share_beyond(len(gaps), level),
    )


def sign_p(above: int, below: int) -> float:
    """Two-sided p-value of the sign test; exact, 1 where all are ties."""
    return float(stats.binomtest(above, above + below).pvalue) if above + below else 1.0
