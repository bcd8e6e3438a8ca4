"""What joint training says of found sequences: harder to learn continually, or made of harder classes or tasks."""

from __future__ import annotations

import math
from collections.abc import Sequence

from protocols.cldyb.compared import Placed
from protocols.cldyb.joint import Gap
from protocols.cldyb.summary import Summary
from protocols.report.table import DOWN, OURS, PERCENT, POINTS, UP, Column, Layout, Table
from protocols.report.table import table as filled
from protocols.report.text import enumerated, percent
from seqsearch.core.text import as_clause
from seqsearch.distribution.drop import Drop
from seqsearch.distribution.gap import GapDifference
from seqsearch.distribution.interval import Interval, shows

Rows = Sequence[tuple[str, GapDifference | None]]
OWN = f"{OURS}, docs/cldyb.md"
JOINTLY = Column(
    "joint_...",
    "Joint, ...",
    "Acc of joint training: the method learns all classes of a sequence at once, with the same seeds",
    PERCENT,
    UP,
    OWN,
    "mean over tasks of its accuracy, as Acc",
)
GAP = Column("gap_...", "Gap, ...", "gap to joint training", POINTS, DOWN, OWN, "Acc of joint training - Acc")
JOINT = Layout(
    "joint",
    "Joint training",
    (
        Column("method", "Method"),
        *(c.named(side) for c in (JOINTLY, GAP) for side in ("found", "random")),
        Column(
            "gap_difference", "Gap larger by [95 %]", "how much larger the gap is on found than on random sequences", POINTS,
            "higher: harder to learn continually", f"{OURS}, docs/distribution.md", "gap found - gap random",
            "the same as the relative drop",
        ),
    ),
)  # fmt: skip
"""Also of ``seqsearch score``."""


def statement(gap: Gap | None, methods: Sequence[str], drop: Drop | None, placed: Placed | None) -> str:
    """The second sentence of a headline that found sequences are harder; empty without that verdict, or without joint training.

    ``methods``: those that the headline speaks of.
    """
    if gap is None or not harder(drop, placed):
        return ""
    said = _statement(gap.of, one=placed is not None and placed.test.found == 1)
    return said if len(gap.methods) == len(methods) else f"For {enumerated(gap.methods)}: {as_clause(said)}"


def harder(drop: Drop | None, placed: Placed | None) -> bool:
    """The verdict is that found sequences are harder."""
    if drop is None or placed is None or drop.nothing_differs or percent(drop.found) == percent(drop.random):
        return False
    return placed.test.significant and placed.test.end == "harder"


def _statement(g: GapDifference, one: bool) -> str:
    d, loss = g.difference, g.joint_random - g.joint_found
    they, are, have = ("the sequence", "is", "has") if one else ("the sequences", "are", "have")
    if d.sign > 0:
        classes = ", not only made of harder classes" if loss > 0 and shows(loss) else ""
        return f"The gap to joint training is larger by {_pp(d)}: {they} {are} harder to learn continually{classes}."
    most = d.high if math.isfinite(d.high) else 2 * abs(d.value)  # by which the gap may be larger
    have = have if loss > 0 and loss + d.value > most else "may have"
    return (
        f"Joint training on the same classes loses {percent(loss)} pp, training in sequence {percent(loss + d.value)} pp"
        f"{_wider(g)}: {they} {have} harder classes or tasks, and {are} not shown to be harder to learn continually."
    )


def _wider(g: GapDifference) -> str:
    """By how much the gap is larger or smaller."""
    d = g.difference
    if g.nothing_differs:
        return "; the gap between them is the same on all sequences"
    size = f"larger by {_pp(d)}" if d.value >= 0 else f"smaller by {_pp(Interval(-d.value, -d.high, -d.low))}"
    return f"; the gap between them is {size}"


def _pp(d: Interval) -> str:
    """``4.2 pp [1.1, 7.3]``."""
    return f"{percent(d.value)} pp{_bounds(d) or ' (no interval)'}"


def _bounds(d: Interval) -> str:
    return f" [{percent(d.low)}, {percent(d.high)}]" if math.isfinite(d.low) else ""


def rows_of(summary: Summary) -> Rows:
    """Of each method, and of the mean over those that were trained jointly."""
    rows = [(m.method, m.gap) for m in summary.methods]
    return rows if summary.gap is None or len(rows) == 1 else [*rows, ("mean", summary.gap.of)]


def table(rows: Rows) -> Table:
    """Joint training beside training in sequence; a dash where a method was not trained jointly. No rows if none was."""
    lead = (
        "Joint: accuracy of the same method that learns all classes of a sequence at once, in percent. Gap: joint minus final "
        "accuracy, in pp."
    )
    if rows and rows[-1][0] == "mean":
        lead += " The last row is the mean over the methods that were trained jointly."
    made = [
        (method, *((g.joint_found, g.joint_random, g.found, g.random, g.difference) if g else [None] * 5))
        for method, g in rows
    ]
    return filled(JOINT, lead, made if any(g for _, g in rows) else ())


def notes(rows: Rows, drop: Drop | None, placed: Placed | None) -> list[str]:
    """Which methods were not trained jointly, and why a difference of gaps has no interval."""
    without = [method for method, g in rows if g is None]
    if len(without) == len(rows):
        if not harder(drop, placed):
            return []
        return ["No method was trained jointly (--joint): whether classes are harder for any learner is not measured."]
    said = []
    if not harder(drop, placed):
        said.append(
            "Only with the verdict that found sequences are harder does the headline say whether they have harder classes, or "
            "are harder to learn continually."
        )
    if without:
        said.append(f"Not trained jointly: {enumerated(without)}. --joint trains all methods jointly.")
    unavailable_because = dict.fromkeys(g.unavailable_because for _, g in rows if g and g.unavailable_because)
    return [*said, *(f"A gap to joint training has no interval: {why}." for why in unavailable_because)]
