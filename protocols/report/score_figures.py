"""The figures of a score summary: drops by who searched, and accuracy as tasks arrive (Figs. 2 and 8 of CLDyB)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len

from protocols.evaluate.score.summary import MethodScore, ScoreSummary
from protocols.report.figures import WIDTH, Panel, Panels, axes_of, styled
from protocols.report.labels import labels
from protocols.report.maps import cells
from protocols.report.shapes import Line, curves, in_words, tenths
from protocols.report.text import percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LETTER = 7
"""Width of a letter beside a map."""
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
    """The key figure first: of several groups of searches the map of drops."""
    return [p for p in (transferred(s), over_tasks(s)) if p.panels]


def transferred(s: ScoreSummary) -> Panels:
    """The relative drop of each method on the sequences that were searched with each group of methods."""
    rows, columns = (list(dict.fromkeys(key[i] for key in s.transfer)) for i in (0, 1))
    drops = {
        (rows.index(group), columns.index(method)): d.relative.value
        for (group, method), d in s.transfer.items()
        if d is not None and math.isfinite(d.relative.value)
    }
    said = "; ".join(f"{rows[i]}, {columns[j]}: {percent(v)} %" for (i, j), v in drops.items())
    drawn = (Panel(_map(drops, labels(rows), labels(columns)), said, wide=True),) if drops else ()
    legend = "Relative drop, percent, stronger colours for larger drops. Rows: methods that searched; columns: methods evaluated."
    return Panels("transfer", "Transfer between methods", legend, drawn)


def _map(drops: Mapping[tuple[int, int], float], rows: Sequence[str], columns: Sequence[str]) -> Figure:
    """Cells as wide as their names."""
    with styled():
        width = LETTER * (len(columns) * max(map(cell_len, columns)) + max(map(cell_len, rows)))
        return cells(drops, rows, columns, ax=axes_of(None, max(WIDTH, width), 24 * len(rows) + 30))


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
