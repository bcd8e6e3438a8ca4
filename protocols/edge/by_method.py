"""Verdicts of several methods on the same sequences: of their mean, and of each, adjusted for the number of methods."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import cast

import numpy as np

from protocols.edge.groups import Group
from seqsearch.stats.multiple import holm, max_t
from seqsearch.stats.rank_test import End, Ends, ExtremesTest, adjusted

ENDS: tuple[tuple[str, End], ...] = (("hard", "harder"), ("easy", "easier"), ("hard", "easier"), ("easy", "harder"))
"""Sequences and claims, as in `Ends`."""
SIDES = ("hard", "easy", "random", "every")
"""Groups of sequences that the test of the mean over methods rests on."""
Tested = tuple[ExtremesTest | None, dict[str, Group]]


def shared(tested: Sequence[Tested]) -> bool:
    """Whether the methods with a test have the same random sequences, so that one relabelling moves all methods together."""
    return len({groups["random"].names for test, groups in tested if test}) == 1


def averaged(groups: Sequence[dict[str, Group]]) -> dict[str, Group]:
    """The `SIDES` of methods that were evaluated on the same sequences, with the mean accuracy over the methods."""

    def mean(side: str) -> Group:
        seeds = min(g[side].accuracy.shape[1] for g in groups)
        return replace(groups[0][side], accuracy=np.mean([g[side].accuracy[:, :seeds] for g in groups], axis=0))

    return {side: mean(side) for side in SIDES}


def adjusted_tests(tested: Sequence[Tested], planned: int | None) -> list[ExtremesTest | None]:
    """Of each method, by its test and its groups, with adjusted p-values; None without a test, or with one method alone.

    Step-down max-T over the methods, end by end and way by way, among the first ``planned`` random sequences; Holm's method where
    random sequences are not `shared`. The ends of a method are then evaluated together as those of one method are.
    """
    if sum(test is not None for test, _ in tested) < 2:
        return [None] * len(tested)
    p = np.full((len(tested), len(ENDS)), math.nan)
    for e, (side, claim) in enumerate(ENDS):
        there = [i for i, (test, groups) in enumerate(tested) if test and len(groups[side])]
        extreme = [tested[i][1][side].first[:1] for i in there]
        random = [tested[i][1]["random"].first[:planned] for i in there]
        if there and shared(tested):
            p[there, e] = max_t(extreme, random, claim)
        else:
            p[there, e] = holm([max_t([f], [r], claim)[0] for f, r in zip(extreme, random, strict=True)])
    return [
        adjusted(test, cast("Ends", tuple(row))) if test else None
        for (test, _), row in zip(tested, p.tolist(), strict=True)
    ]
