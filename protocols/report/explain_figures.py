"""The figure of an explanation: the effects that make found sequences hard."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from protocols.evaluate.explain.summary import Summary
from protocols.report import explain_words as words
from protocols.report.figures import Panel, Panels
from protocols.report.shapes import Bar, bars

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def figures(s: Summary) -> list[Panels]:
    """One section, where there are effects."""
    rows = _rows(s)
    if not rows or s.overall is None:
        return []
    said = "; ".join(f"{row.name}: {100 * row.marks[0][2][0]:.1f}" for row in rows)
    legend = f"{s.overall.method}: points of accuracy, to the right what makes found sequences harder."
    return [Panels("effects", "What makes them hard", legend, (Panel(effects(s), said, wide=True),), shared=True)]


def effects(s: Summary, ax: Axes | None = None) -> Figure:
    """Effects with their intervals, of what the headline speaks of."""
    return bars(_rows(s), "points of accuracy", ax)


def _rows(s: Summary) -> list[Bar]:
    rows = []
    for measure, e in s.overall.measures.items() if s.overall else ():
        for name, c in e.effects.items():
            i = c.interval
            low, high = (i.low, i.high) if math.isfinite(i.low) else (i.value, i.value)
            marks = (("estimate", "random", (i.value,)), ("0: no effect", "soft", (0.0,)))
            rows.append(
                Bar(f"{words.MEASURED[measure]}: {name}", "95 % interval, one by one", "found", low, high, marks)
            )
    return rows
