"""The figure of a score summary: accuracy as tasks arrive (Figs. 2 and 8 of CLDyB)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from protocols.evaluate.score.summary import MethodScore, ScoreSummary
from protocols.report.figures import Panel, Panels
from protocols.report.shapes import Line, curves, in_words, tenths

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = {
    "searched": "found",
    "hard": "found",
    "random": "random",
    "easy": "easy",
    "given": "given",
    "heldout": "paper",
}
"""By kind of sequence."""


def figures(s: ScoreSummary) -> list[Panels]:
    """One section, where anything was trained."""
    found = over_tasks(s)
    return [found] if found.panels else []


def accuracy(m: MethodScore, y: tuple[float, float] | None = None, ax: Axes | None = None) -> Figure:
    """Of a method, a line a kind of sequence: mean, and range over sequences and seeds."""
    return curves(_lines(m), "tasks learned", y=y, ax=ax)


def _lines(m: MethodScore) -> list[Line]:
    return [
        Line(kind, COLOURS[kind], tuple(map(float, range(1, len(a.acc_by_step) + 1))), a.acc_by_step, a.low, a.high)
        for kind, a in m.sides.items()
        if kind in COLOURS
    ]


def over_tasks(s: ScoreSummary) -> Panels:
    """A figure a method, on one axis."""
    drawn = [(m, lines) for m in s.methods if (lines := _lines(m))]
    y = tenths([v for _, lines in drawn for line in lines for v in (*line.y, *line.low, *line.high)] or [0.0])
    panels = tuple(Panel(accuracy(m, y), in_words(lines), m.method) for m, lines in drawn)
    legend = "Mean accuracy on the tasks learned so far, percent; bands: range over sequences and seeds."
    return Panels("tasks", "Accuracy as tasks arrive", legend, panels, shared=True)
