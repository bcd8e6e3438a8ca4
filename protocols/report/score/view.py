"""The report of a score run, and its figures (Figs. 2 and 8 of CLDyB)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len

from protocols.evaluate.score.summary import MethodScore, ScoreSummary
from protocols.report.cldyb.figures import BY_METHOD
from protocols.report.cldyb.tables import joint
from protocols.report.figures import WIDTH, Panel, Panels, axes_of, styled
from protocols.report.gallery import drawn, found_and_random
from protocols.report.labels import labels
from protocols.report.maps import cells
from protocols.report.score import notes
from protocols.report.score.tables import KINDS, bounds, joint_rows, key, tasks, transfer
from protocols.report.shapes import Line, line_over_tasks, over_tasks
from protocols.report.text import percent
from protocols.report.view import View
from seqsearch.results.run import RunResults

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HELD_OUT = "By which ranks of methods are compared: no search saw their pool."


HOW = (
    "The methods were trained on fixed task sequences, on found and on random ones alike, with the training seeds of the "
    "sequences, and scored on test images."
)


def view(s: ScoreSummary, results: RunResults | None = None) -> View:
    """Headline, tables, figures, pictures and notes."""
    return View(
        section="score",
        name=s.run,
        kind="methods on fixed sequences",
        headline=notes.headline(s),
        tiles=tuple(notes.tiles(s)),
        key=() if s.reached else (key(s),),
        tables=() if s.reached else (joint(joint_rows(s)), transfer(s), bounds(s), tasks(s)),
        notes=tuple(notes.notes(s)),
        draws=lambda: figures(s),
        pictures=lambda pools: (
            [*found_and_random(results, pools), *drawn(results, pools, HELD_OUT, "heldout")] if results else ()
        ),
        how=(HOW,),
        configs=(results.config,) if results else (),
        data=_data(s),
    )


def _data(s: ScoreSummary) -> dict[str, Any]:
    transfers = [
        {"searched_for": group, "method": method, "drop": drop} for (group, method), drop in s.transfer.items()
    ]
    return {**vars(s), "transfer": transfers, "for_whom": notes.for_whom(s)}


# ------------------------------------------------------------------------------------------------ figures


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
    return [p for p in (transferred(s), accuracy(s)) if p.panels]


def transferred(s: ScoreSummary) -> Panels:
    """The relative drop of each method on the sequences that were searched with each group of methods."""
    rows, columns = (list(dict.fromkeys(key[i] for key in s.transfer)) for i in (0, 1))
    drops = {
        (rows.index(group), columns.index(method)): d.relative.value
        for (group, method), d in s.transfer.items()
        if d is not None and math.isfinite(d.relative.value)
    }
    label = "; ".join(f"{rows[i]}, {columns[j]}: {percent(v)} %" for (i, j), v in drops.items())
    panels = (Panel(_map(drops, labels(rows), labels(columns)), label, wide=True),) if drops else ()
    legend = "Relative drop, percent, stronger colours for larger drops. Rows: methods that searched; columns: methods evaluated."
    return Panels("transfer", "Transfer between methods", legend, panels)


def _map(drops: Mapping[tuple[int, int], float], rows: Sequence[str], columns: Sequence[str]) -> Figure:
    """Cells as wide as their names."""
    with styled():
        width = LETTER * (len(columns) * max(map(cell_len, columns)) + max(map(cell_len, rows)))
        return cells(drops, rows, columns, ax=axes_of(None, max(WIDTH, width), 24 * len(rows) + 30))


def _lines(m: MethodScore) -> list[Line]:
    """A line a kind of sequence: mean, and range over sequences and seeds."""
    return [
        line_over_tasks(KINDS.get(kind, kind), COLOURS[kind], a.acc_by_step, a.low, a.high)
        for kind, a in m.sides.items()
        if kind in COLOURS
    ]


def accuracy(s: ScoreSummary) -> Panels:
    """A figure a method, on one axis."""
    return over_tasks("tasks", "Accuracy as tasks arrive", BY_METHOD, ((m.method, _lines(m)) for m in s.methods))
