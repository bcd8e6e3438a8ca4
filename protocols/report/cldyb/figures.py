"""The figures of a CLDyB summary: accuracy as tasks arrive, the found sequences among the random ones, candidates evaluated.

J is the value of a candidate task in the search: the mean over simulations of the rewards of the candidate and of the tasks that
the look-ahead appends to it (Eq. 7 of CLDyB).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from protocols.cldyb.compared import Placed
from protocols.cldyb.summary import MethodSummary, Side, Summary
from protocols.report.cldyb.tables import one_task, steps_of
from protocols.report.figures import Panel, Panels
from protocols.report.shapes import Line, line_over_tasks, over_tasks
from protocols.report.strips import Strip, strips
from protocols.report.text import enumerated, percent
from seqsearch.results.rows import Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SIDES = ("random", "found")
BY_METHOD = "Mean accuracy on the tasks learned so far, percent; bands: range over sequences and seeds."


def figures(s: Summary, trace: Sequence[Row] = ()) -> list[Panels]:
    """The figures of a run of several tasks, the key figures first; none for a run of one task (`one_task`)."""
    if one_task(s):
        return []
    first = [placed(s.placed)] if s.placed else []
    last = [candidates(trace)] if trace else []
    return [*first, *(p for p in (accuracy(s), masked(s)) if p.panels), *last]


# ------------------------------------------------------------------------------------------------ lines


def accuracy_lines(m: MethodSummary) -> list[Line]:
    """Accuracy on the tasks learned so far, on found and on random sequences: mean and range."""
    return [line_over_tasks(name, name, side.acc_by_step, side.low, side.high) for name, side in _sides(m)]


def masked_lines(m: MethodSummary) -> list[Line]:
    """Masked accuracy (among the classes of an image's own task only) and plain accuracy, on found and on random sequences."""
    lines = []
    for name, side in _sides(m):
        if side.masked_by_step:
            lines += [
                line_over_tasks(f"{name}, masked", name, side.masked_by_step, dashed=True),
                line_over_tasks(name, name, side.acc_by_step),
            ]
    return lines


def _sides(m: MethodSummary) -> list[tuple[str, Side]]:
    return [(name, side) for name in SIDES if (side := getattr(m, name)) is not None]


def accuracy(s: Summary) -> Panels:
    """One panel per method, with a common scale."""
    return over_tasks(
        "tasks", "Accuracy as tasks arrive", BY_METHOD, ((m.method, accuracy_lines(m)) for m in s.methods)
    )


def masked(s: Summary) -> Panels:
    """Masked and plain accuracy: whether the tasks themselves are harder, or are confused with each other more."""
    legend = (
        "Dashed: scores restricted to the classes of the image's own task. Where found and random differ in them, the tasks "
        "themselves are harder. "
        "The gap from dashed to solid is confusion with other tasks."
    )
    drawn = ((m.method, masked_lines(m)) for m in s.methods)
    return over_tasks("masked", "Harder tasks, or more confusion?", legend, drawn)


# ------------------------------------------------------------------------------------------------ strips


def among_random_strip(p: Placed, ax: Axes | None = None) -> Figure:
    """The strip of `placed`: the found sequences among the random ones, on which the verdict is based."""
    name_of_found = "found sequence" if len(p.found) == 1 else "found sequences"
    row = Strip("", tuple(p.random), tuple(p.found))
    return strips([row], ("random sequences", name_of_found), "final accuracy, percent", ax=ax)


def placed(p: Placed) -> Panels:
    """The found sequences among the random ones, as one strip."""
    legend = "Final accuracy of one training each, all with the same seed, mean over methods."
    random = f"{percent(min(p.random))} % to {percent(max(p.random))} %"
    panel = Panel(among_random_strip(p), f"found: {', '.join(map(percent, p.found))} %; random: {random}", wide=True)
    return Panels("placed", "Found among random sequences", legend, (panel,), shared=True)


def candidates_strips(trace: Sequence[Row], ax: Axes | None = None) -> Figure:
    """The strips of `candidates`: J of the candidates of each step, with the chosen one marked."""
    return strips(_by_step(trace), ("candidate task, evaluated by training", "chosen"), "J", percent_x=False, ax=ax)


def _by_step(trace: Sequence[Row]) -> list[Strip]:
    return [
        Strip(f"{search}, task {step}", _values(rows), _values([r for r in rows if r["chosen"]]))
        for (search, step), rows in steps_of(trace).items()
    ]


def _values(rows: Sequence[Row]) -> tuple[float, ...]:
    return tuple(r["value"] for r in rows if r["value"] is not None)


def candidates(trace: Sequence[Row]) -> Panels:
    """J of the candidates, one strip per step of a search."""
    legend = "Each dot at its J. J is comparable within a row only."
    texts = (
        f"{row.name}: {min(row.values):.3g} to {max(row.values):.3g}, chosen {enumerated([f'{v:.3g}' for v in row.marked])}"
        for row in _by_step(trace)
        if row.values
    )
    panels = (Panel(candidates_strips(trace), f"J of the candidates: {'; '.join(texts)}", wide=True),)
    return Panels("candidates", "Candidates evaluated", legend, panels, shared=True)
