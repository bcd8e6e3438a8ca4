"""The figures of a CLDyB summary: accuracy as tasks arrive, the found sequences among the random ones, candidates evaluated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from protocols.cldyb.compared import Placed
from protocols.cldyb.summary import MethodSummary, Side, Summary
from protocols.report.cldyb.tables import one_task, steps_of
from protocols.report.figures import Panel, Panels
from protocols.report.shapes import Line, Strip, line_over_tasks, over_tasks, strips
from protocols.report.text import enumerated, percent
from seqsearch.results.rows import Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SIDES = ("random", "found")
BY_METHOD = "Mean accuracy on the tasks learned so far, percent; bands: range over sequences and seeds."


def figures(s: Summary, trace: Sequence[Row] = ()) -> list[Panels]:
    """Of a run of several tasks, the key figures first; of `one_task` there is nothing to draw."""
    if one_task(s):
        return []
    first = [placed(s.placed)] if s.placed else []
    last = [candidates(trace)] if trace else []
    return [*first, *(p for p in (accuracy(s), masked(s)) if p.panels), *last]


# ------------------------------------------------------------------------------------------------ lines


def of_method(m: MethodSummary) -> list[Line]:
    """Accuracy on the tasks learned so far, on found and on random sequences: mean and range."""
    return [line_over_tasks(name, name, side.acc_by_step, side.low, side.high) for name, side in _sides(m)]


def of_masked(m: MethodSummary) -> list[Line]:
    """The same beside the accuracy among the classes of an image's own task."""
    found = []
    for name, side in _sides(m):
        if side.masked_by_step:
            found += [
                line_over_tasks(f"{name}, masked", name, side.masked_by_step, dashed=True),
                line_over_tasks(name, name, side.acc_by_step),
            ]
    return found


def _sides(m: MethodSummary) -> list[tuple[str, Side]]:
    return [(name, side) for name in SIDES if (side := getattr(m, name)) is not None]


def accuracy(s: Summary) -> Panels:
    """A figure a method, on one axis."""
    return over_tasks("tasks", "Accuracy as tasks arrive", BY_METHOD, ((m.method, of_method(m)) for m in s.methods))


def masked(s: Summary) -> Panels:
    """Whether tasks by themselves are harder, or are confused with each other more."""
    legend = (
        "Dashed: scores restricted to the classes of the image's own task; where these differ, the tasks themselves are harder. "
        "The gap from dashed to solid is confusion with other tasks."
    )
    drawn = ((m.method, of_masked(m)) for m in s.methods)
    return over_tasks("masked", "Harder tasks, or more confusion?", legend, drawn)


# ------------------------------------------------------------------------------------------------ strips


def among_random(p: Placed, ax: Axes | None = None) -> Figure:
    """The found sequences among the random ones, which the verdict rests on."""
    found = "found sequence" if len(p.found) == 1 else "found sequences"
    row = Strip("", tuple(p.random), tuple(p.found))
    return strips([row], ("random sequences", found), "final accuracy, percent", ax=ax)


def placed(p: Placed) -> Panels:
    """One strip."""
    legend = "Final accuracy of one training each, all with the same seed, mean over methods."
    random = f"{percent(min(p.random))} % to {percent(max(p.random))} %"
    panel = Panel(among_random(p), f"found: {', '.join(map(percent, p.found))} %; random: {random}", wide=True)
    return Panels("placed", "Found among random sequences", legend, (panel,), shared=True)


def evaluated(trace: Sequence[Row], ax: Axes | None = None) -> Figure:
    """J of the candidates of each step, and of the one that was taken."""
    return strips(_by_step(trace), ("candidate task, evaluated by training", "chosen"), "J", percent_x=False, ax=ax)


def _by_step(trace: Sequence[Row]) -> list[Strip]:
    return [
        Strip(f"{search}, task {step}", _values(rows), _values([r for r in rows if r["chosen"]]))
        for (search, step), rows in steps_of(trace).items()
    ]


def _values(rows: Sequence[Row]) -> tuple[float, ...]:
    return tuple(r["value"] for r in rows if r["value"] is not None)


def candidates(trace: Sequence[Row]) -> Panels:
    """A strip a step of a search."""
    legend = "Each dot at its J. J is comparable within a row only."
    there = [row for row in _by_step(trace) if row.values]
    said_of = (
        f"{row.name}: {min(row.values):.3g} to {max(row.values):.3g}, chosen {enumerated([f'{v:.3g}' for v in row.marked])}"
        for row in there
    )
    panels = (Panel(evaluated(trace), f"J of the candidates: {'; '.join(said_of)}", wide=True),)
    return Panels("candidates", "Candidates evaluated", legend, panels, shared=True)
