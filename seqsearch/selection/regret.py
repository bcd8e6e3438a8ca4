"""What transferring a setting costs, and by how much its score promised too much: mean differences over class orders.

*Regret*: of the setting that would have been chosen on the evaluation data over the transferred one, both evaluated on test
images that chose neither, on the same orders. *Optimism*: the score as it was selected minus what the same setting shows on fresh
orders and images of the data set that it was chosen on. Neither compares two data sets: the score on one less that on the other
would.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from seqsearch.distribution.interval import AGREE, Interval, finite
from seqsearch.distribution.mean import ACCURACY, DIFFERENCE, FEWEST, Limits, mean_interval


@dataclass(frozen=True)
class Difference:
    """A mean over ``orders`` class orders. ``unavailable_because`` says why there are no bounds, empty where there are."""

    value: Interval
    orders: int
    unavailable_because: str = ""


def regret(conventional: ArrayLike, transferred: ArrayLike, level: float = 0.95) -> Difference:
    """Mean of ``conventional [S]`` minus ``transferred [S]``, scores of two given settings on the same orders.

    It speaks of these two settings on further orders of the same classes and images: which settings another search would have
    found is not in it. The bounds are those of `seqsearch.distribution.mean`; where single orders collapse (one in ten, far
    off), few orders may all miss them, and the bounds then hold less often (docs/selection.md). The same setting twice has the
    regret 0, and no bounds.

    Raises:
        ValueError: orders that do not pair, missing scores: a setting that diverged has no regret.
    """
    a, b = finite(conventional, "scores of the setting chosen here"), finite(transferred, "scores of the transferred")
    if len(a) != len(b):
        raise ValueError(f"{len(a)} orders of one setting do not pair with {len(b)} of the other")
    return mean_over_orders(a - b, DIFFERENCE, level)


def optimism(selected: float, fresh: ArrayLike, level: float = 0.95) -> Difference:
    """``selected`` minus the mean of ``fresh [S]``, scores of the chosen setting on orders and seeds that did not choose it.

    The score as selected is taken as it is: the interval is over fresh orders only, as that of `regret`, and says by how much
    THIS selection promised too much, not how much such selections do on average.

    Raises:
        ValueError: missing scores.
    """
    gaps = float(finite([selected], "the score as selected")[0]) - finite(fresh, "scores on fresh orders")
    return mean_over_orders(gaps, DIFFERENCE, level)


def mean_over_orders(values: ArrayLike, limits: Limits = ACCURACY, level: float = 0.95) -> Difference:
    """Mean of ``values [S]``, scores or differences of given settings, with the bounds of `regret`: over class orders alone.

    Raises:
        ValueError: a value is missing.
    """
    x = finite(values, "values of class orders")
    unavailable_because = ""
    if len(x) < FEWEST:
        unavailable_because = f"{FEWEST} class orders needed, {len(x)} there"
    elif np.ptp(x) <= AGREE:
        unavailable_because = "it is the same in all class orders"
    return Difference(mean_interval(x, limits, level), len(x), unavailable_because)
