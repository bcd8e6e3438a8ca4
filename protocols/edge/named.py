"""Named orders of an EDGE run among its random sequences: is an order of a theory better, or worse, than random ones?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from protocols.edge.groups import Group
from seqsearch.stats.interval import AGREE, Interval
from seqsearch.stats.multiple import holm, max_t
from seqsearch.stats.quantiles import percentile
from seqsearch.stats.rank_test import LEVEL, OPPOSITE_LEVEL, End, fewest_random

ENDS: tuple[End, End] = ("easier", "harder")
"""Than random sequences: scoring higher, and lower."""
Finding = Literal["better", "worse", "none", "too few", "constant"]
"""``better`` or ``worse`` than random sequences; ``too few`` of these for a finding; ``constant``: all accuracies are equal."""


@dataclass(frozen=True)
class NamedOrder:
    """A named order of a method.

    Attributes:
        name: of ``--heuristics``.
        S: the objective; None where it is not defined.
        accuracy: mean over training seeds.
        seeds: training seeds.
        place: share of random sequences that score lower than its first training.
        p_better, p_worse: of scoring higher, or lower, than random sequences: exact, one-sided, adjusted for all methods
            (max-T) and named orders (Bonferroni).
        L: random sequences.
        finding: ``better`` at 5 %, which the theory expects; ``worse`` at 1 %.
        needed: random sequences that are missing for a finding.
    """

    name: str
    S: float | None
    accuracy: float
    seeds: int
    place: Interval
    p_better: float
    p_worse: float
    L: int
    finding: Finding
    needed: int


def named_orders(methods: Sequence[dict[str, Group]], planned: int | None) -> list[tuple[NamedOrder, ...]]:
    """Of each method, by its groups; ``planned`` random sequences were fixed before any accuracy was seen (None: all)."""
    names = sorted({name for groups in methods for name in groups["named"].names})
    shared = len({groups["random"].names for groups in methods}) == 1
    better, worse = (_p_values(methods, names, planned, c, shared) for c in ENDS)
    return [
        tuple(
            _order(groups, groups["named"].names.index(name), planned, better[i, j], worse[i, j], len(names))
            for j, name in enumerate(names)
            if name in groups["named"].names and len(groups["random"]) >= 2
        )
        for i, groups in enumerate(methods)
    ]


def _p_values(
    methods: Sequence[dict[str, Group]], names: Sequence[str], planned: int | None, claim: End, shared: bool
) -> NDArray[np.float64]:
    """Adjusted p ``[methods, names]``; NaN where an order or the random sequences are missing."""
    p = np.full((len(methods), len(names)), np.nan)
    for j, name in enumerate(names):
        there = [i for i, g in enumerate(methods) if name in g["named"].names and len(g["random"]) >= 2]
        found = [methods[i]["named"].first[methods[i]["named"].names.index(name)][None] for i in there]
        random = [methods[i]["random"].first[:planned] for i in there]
        if there and shared:
            p[there, j] = max_t(found, random, claim)
        elif there:
            p[there, j] = holm([max_t([f], [r], claim)[0] for f, r in zip(found, random, strict=True)])
    adjusted: NDArray[np.float64] = np.minimum(1.0, p * len(names))
    return adjusted


def _order(
    groups: dict[str, Group], at: int, planned: int | None, better: float, worse: float, names: int
) -> NamedOrder:
    named, random = groups["named"], groups["random"].first[:planned]
    L, first = len(random), named.first[at : at + 1]
    needed = max(0, fewest_random(1, LEVEL / names) - L)
    seen = np.concatenate([named.accuracy.ravel(), groups["random"].accuracy.ravel()])
    finding: Finding = "too few" if needed else "none"
    if np.ptp(seen) <= AGREE:
        finding = "constant"
    elif better <= LEVEL * (1 + AGREE):
        finding = "better"
    elif worse <= OPPOSITE_LEVEL * (1 + AGREE):
        finding = "worse"
    return NamedOrder(
        name=named.names[at].removeprefix("named-"),
        S=named.S[at],
        accuracy=float(named.means[at]),
        seeds=named.accuracy.shape[1],
        place=percentile(first, random).orders[0].share,
        p_better=float(better),
        p_worse=float(worse),
        L=L,
        finding=finding,
        needed=needed,
    )
