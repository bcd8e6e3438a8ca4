"""The figures of a comparison of runs: agreement with the reference, and accuracy as tasks arrive.

Colours of sides of a run stand for nothing else: runs and methods that share a chart have the other colours (`OTHERS`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from protocols.evaluate.compare.comparison import Comparison
from protocols.evaluate.compare.figures import MEAN, Side
from protocols.report.figures import Panel, Panels
from protocols.report.labels import AXIS, labels
from protocols.report.shapes import Line, line_over_tasks, named_dots, over_tasks
from protocols.report.text import percent

if TYPE_CHECKING:
    pass

SIDES = ("found", "random", "easy")
OTHERS = (("given", False), ("paper", False), ("soft", False), ("given", True), ("paper", True))
"""Colours of lines that no side has, and whether they are dashed; no more lines share a figure."""
Drawn = list[tuple[str, list[Line], int | None]]
"""Title, lines, and the step at which a pool has grown."""


def figures(c: Comparison) -> list[Panels]:
    """All that there is something for."""
    return [p for p in (agreement(c), runs(c), methods(c), upcoming(c), random(c)) if p.panels]


def agreement(c: Comparison) -> Panels:
    """Methods by their accuracy in each column and in the reference column (Tables 1 and 4); none without a reference."""
    if c.ranks is None:
        return Panels("agreement", "", "", ())
    reference, panels = c.ranks.reference, []
    for column in (a.column for a in c.ranks.columns):
        values = zip(c.table.methods, c.table.column(reference).tolist(), c.table.column(column).tolist(), strict=True)
        dots = [(m, _colour(column), x, y) for m, x, y in values if math.isfinite(x + y)]
        if dots:
            label = "; ".join(f"{m}: {percent(x)}, {percent(y)}" for m, _, x, y in dots)
            [x_name, y_name] = labels([reference, column], AXIS)
            figure = named_dots(dots, f"{x_name}, percent", f"{y_name}, percent", percent_x=True)
            panels.append(Panel(figure, f"{reference}, {column}, percent: {label}", column))
    legend = f"Final accuracy of each method, percent, against that in {reference}."
    return Panels("agreement", f"Agreement with {reference}", legend, tuple(panels))


def _colour(column: str) -> str:
    """Of the side that a column of the table is of; that of a run alone is of its found sequences."""
    return {"random": "random", "held-out": "random", "easy": "easy"}.get(column.rpartition(": ")[2], "found")


def _one_of(name: str, of: Sequence[str], values: Sequence[float], first: int = 1) -> Line:
    """A run or a method."""
    colour, dashed = OTHERS[of.index(name)]
    return line_over_tasks(name, colour, values, first=first, dashed=dashed)


def runs(c: Comparison) -> Panels:
    """Found against random sequences, mean over the shared methods: a figure a run (Figs. 9 to 11)."""
    drawn: Drawn = []
    for run in c.runs:
        of = [s for s in c.sides if (s.run, s.method) == (run.name, MEAN) and s.side in SIDES]
        mark = min((p.from_step for p in run.grown), default=None)
        drawn.append((run.name, [line_over_tasks(s.side, s.side, s.steps["acc"]) for s in of], mark))
    return _panels("runs", "Found and random sequences, mean over methods", drawn)


def methods(c: Comparison) -> Panels:
    """A figure a method: the found sequences of all runs (Figs. 5 and 13), or found and random ones of a single one (Fig. 12)."""
    if len(c.runs) == 1:
        sides = [side for side in ("random", "easy", "found") if any(s.side == side for s in c.sides)]
        alone: Drawn = [
            (m, [line_over_tasks(side, side, s.steps["acc"]) for side in sides for s in c.of(side, m)], c.start)
            for m in _names(c, "found")
        ]
        return _panels("methods", "Found and random sequences by method", alone)
    drawn: Drawn = [(m, _by_run(c, c.of("found", m)), c.start) for m in _names(c, "found")]
    return _panels("methods", "Found sequences by method", drawn, _left_out(len(c.runs), "runs"))


def upcoming(c: Comparison) -> Panels:
    """Tasks since the pool has grown alone (Figs. 5 and 13)."""
    drawn: Drawn = []
    if c.start is not None:
        for method in (MEAN, *_names(c, "found")):
            of = [(s, s.steps["upcoming"][c.start - 1 :]) for s in c.of("found", method) if s.run in _shown(c)]
            lines = [_one_of(s.run, _shown(c), values, c.start) for s, values in of]
            drawn.append((method or "mean over methods", lines, c.start))
    title = f"Tasks from step {c.start} on, found sequences"
    return _panels("upcoming", title, drawn, _left_out(len(c.runs), "runs"), "Accuracy on these tasks, percent.")


def random(c: Comparison) -> Panels:
    """Methods on random sequences (Fig. 7), the first run's."""
    names = _names(c, "random")
    few = names[: len(OTHERS)]
    of = [s for s in c.sides if (s.run, s.side) == (c.runs[0].name, "random") and s.method in few]
    lines = [_one_of(s.method, few, s.steps["acc"]) for s in of]
    return _panels(
        "random", "Methods on random sequences", [(c.runs[0].name, lines, None)], _left_out(len(names), "methods")
    )


def _names(c: Comparison, side: str) -> list[str]:
    return list(dict.fromkeys(s.method for s in c.sides if s.side == side and s.method != MEAN))


def _shown(c: Comparison) -> list[str]:
    """Runs that have a colour."""
    return [r.name for r in c.runs][: len(OTHERS)]


def _by_run(c: Comparison, sides: Sequence[Side]) -> list[Line]:
    return [_one_of(s.run, _shown(c), s.steps["acc"]) for s in sides if s.run in _shown(c)]


def _left_out(number: int, what: str) -> str:
    return f" The first {len(OTHERS)} of {number} {what}." if number > len(OTHERS) else ""


def _panels(
    name: str,
    title: str,
    drawn: Drawn,
    left_out: str = "",
    what: str = "Accuracy on the tasks learned so far, percent.",
) -> Panels:
    """On one axis."""
    marks = {called: mark for called, lines, mark in drawn if lines}
    grown = " Dashed and upright: a pool has grown." if any(mark is not None for mark in marks.values()) else ""
    lines_of = ((called, lines) for called, lines, _ in drawn)
    return over_tasks(name, title, f"{what}{grown}{left_out}", lines_of, marks)
