"""Exact p-values of a figure among the same figure of random draws, and of several such tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from seqsearch.distribution.interval import AGREE, finite


@dataclass(frozen=True)
class Place:
    """Where a figure stands among draws of what it would be by chance.

    Attributes:
        share: of the draws below it, ties half.
        p: two-sided: twice the smaller of (1 + draws as high) and (1 + draws as low), over draws + 1, at most 1. Exact for any
            number of independent draws, if by chance the figure is one more of them.
    """

    value: float
    mean: float
    share: float
    p: float
    draws: int


def place(value: float, draws: ArrayLike) -> Place:
    """Of ``value`` among ``draws [B]``; figures that differ by rounding are ties, which count against any claim.

    Raises:
        ValueError: no draws, or what is not finite.
    """
    x = finite(draws, "draws")
    low, high = int((x <= value + AGREE).sum()), int((x >= value - AGREE).sum())
    return Place(
        value,
        float(x.mean()),
        float(np.mean(x < value - AGREE) + np.mean(np.abs(x - value) <= AGREE) / 2),
        min(1.0, 2 * (1 + min(low, high)) / (len(x) + 1)),
        len(x),
    )


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
