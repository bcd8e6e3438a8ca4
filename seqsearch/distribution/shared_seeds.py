"""The difference of two sets of given orders that were trained with the same seeds, with an interval over these seeds."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from seqsearch.distribution.interval import AGREE, Interval, accuracies
from seqsearch.distribution.pivot import Pivot

FEWEST = 5
"""Seeds below which a difference has no interval: of fewer, how they vary is chance."""
SHARE = 0.4
"""Of the misses that are allowed, those that the bounds are made for: noise of a single order may be far from symmetric.
Measured (``benchmarks/coverage/fitted.py``): lognormal noise of one side alone needs it, symmetric noise is covered in 98 % of
cases."""


def paired_difference(ours: ArrayLike, theirs: ArrayLike, level: float = 0.95) -> Interval:
    """Mean accuracy of ``ours [A, R]`` minus that of ``theirs [B, R]``, R seeds shared by all.

    It speaks of these orders: what the same ones differ by when they are trained with other seeds. What a seed does to all
    orders alike cancels. The bounds are those of `Pivot` over the R differences by seed, for `SHARE` of the misses; NaN
    below `FEWEST` seeds, and where the differences agree. The seeds must have served nothing by which the orders were chosen.

    Raises:
        ValueError: seeds that do not pair, or accuracies that are no fractions.
    """
    a, b = (accuracies(x, "accuracies of given orders", (2,)) for x in (ours, theirs))
    if a.shape[1] != b.shape[1]:
        raise ValueError(f"orders {a.shape} and {b.shape} must share their seeds")
    by_seed = a.mean(axis=0) - b.mean(axis=0)
    value = float(by_seed.mean())
    if len(by_seed) < FEWEST or np.ptp(by_seed) <= AGREE:
        return Interval(value)
    return Interval(value, *Pivot.of_mean(by_seed).bounds(1 - SHARE * (1 - level)))
