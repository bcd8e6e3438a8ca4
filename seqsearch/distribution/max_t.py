"""For which methods by themselves are found sequences harder (easier) than random ones? One correction over all methods.

The step-down max-T procedure ("Resampling-Based Multiple Testing", Westfall and Young, 1993) over the relabellings of
`seqsearch.distribution.rank_test`. All methods share the sequences, so that one relabelling moves all methods together: the
dependence of methods is kept, and the smallest possible p is 1 / (number of relabellings), whatever the number of methods.
"""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import ArrayLike

from seqsearch.distribution.interval import AGREE, Float64, accuracies
from seqsearch.distribution.rank_test import End, relabellings


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
