"""Rows of a table, one for each method: which are marked, and the sentences on marks and intervals."""

from __future__ import annotations

from collections.abc import Sequence

from protocols.cldyb.compared import Placed
from protocols.report.text import count, percent
from seqsearch.distribution.drop import Drop
from seqsearch.distribution.interval import AGREE
from seqsearch.distribution.rank_test import LEVEL, fewest_random

EACH = "Intervals of rows are each by itself."


def stars(rows: Sequence[tuple[Drop | None, float | None]]) -> list[str]:
    """The mark of each row, from its drop and its adjusted p: a star or nothing.

    No row has one if only one was compared, since the headline is its test; nor has a row whose sides show the same digits.
    """
    there = sum(p is not None for _, p in rows)
    return ["*" if there > 1 and d and p is not None and _claimed(d, p) else "" for d, p in rows]


def _claimed(d: Drop, p: float) -> bool:
    return p <= LEVEL * (1 + AGREE) and percent(d.found) != percent(d.random)


def marks(placed: Placed | None, shown: Sequence[str], of: str = "") -> str:
    """What the stars ``shown`` stand for, or that no row has one; empty with one method, or if no row could have one.

    ``of``: which found sequences, where a table has two kinds.
    """
    if placed is None or (n := len(placed.adjusted_p)) < 2:
        return ""
    t, tests = placed.test, 1 if placed.shared else n
    if t.random < fewest_random(t.found, LEVEL / tests):
        return ""
    how = f"over the {count(n, 'method')} ({'step-down max-T' if placed.shared else 'Holm'})"
    if any(shown):
        return f"* {t.end} than random sequences for this method by itself{of}: adjusted p at most {LEVEL} {how}."
    return f"For no method by itself are found sequences{of} significantly {t.end}: adjusted p above {LEVEL} {how}."


def covering(said: str, rows: Sequence[object]) -> str:
    """The note on what intervals hold over, and that of several rows each does so by itself."""
    return f"{said} {EACH}" if said and len(rows) > 1 else said


def may_be_best(methods: Sequence[str], where: str) -> str:
    """Which methods are bold; empty if none is."""
    if not methods:
        return ""
    best = methods[0] if len(methods) == 1 else f"{', '.join(methods[:-1])} or {methods[-1]}"
    return (
        f"Bold: of the methods compared {where}, the best is {best} (95 %, for what the intervals are conditional on)."
    )
