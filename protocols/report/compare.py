"""What ``seqsearch compare`` shows: terminal, JSON, and a folder with a page and files."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType

from protocols.evaluate.compare.agreement import Agreement
from protocols.evaluate.compare.comparison import Comparison
from protocols.evaluate.compare.figures import MEAN, Side
from protocols.evaluate.compare.studies import Studies
from protocols.evaluate.compare.table import Table as Accuracies
from protocols.evaluate.compare.table import write_table
from protocols.report import compare_words as words
from protocols.report.charts import Line, bounds, line_chart
from protocols.report.compare_tables import tables
from protocols.report.legend import keys, section, titled
from protocols.report.page import identity, plain, write_page
from protocols.report.table import Table
from protocols.report.tables import columns_of, grid
from protocols.report.text import line
from seqsearch.results.rows import Row, RunInfo, finite
from seqsearch.results.schema import ACCURACIES
from seqsearch.results.tables import write_rows
from seqsearch.storage.files import atomic_path

COLOURS = ("found", "random", "easy", "given", "paper", "truth")
"""Of curves that stand for runs or methods; no more are drawn in one chart."""
SIDES = {f"line dot {side}": side for side in ("found", "random", "easy", "given")}
GROWN = {"growth": "a pool has grown"}
"""Keys of lines, and of the one that stands upright."""
PAGE, TABLE, FIGURES = "compare.html", "accuracy.csv", "compare.json"


def render(found: Sequence[Table], headline: str = "", notes: Sequence[str] = ()) -> RenderableType:
    """For a terminal, or as plain text for a file."""
    parts: list[RenderableType] = [line(headline, "bold")] if headline else []
    for table in [t.cells for t in found]:
        parts += [line(""), line(table.title, "bold"), grid(table), *([line(table.lead, "dim")] if table.lead else [])]
    below = [line(""), *(line(f"- {note}") for note in notes), columns_of("compare")]
    return Group(*parts, *below)


def table_json(table: Accuracies, ranks: Agreement) -> dict[str, Any]:
    """Plain values; what is not a finite number is None."""
    said: dict[str, Any] = plain(
        {
            "methods": table.methods,
            "columns": table.columns,
            "values": table.values.tolist(),
            **dataclasses.asdict(ranks),
        }
    )
    return said


def to_json(c: Comparison) -> dict[str, Any]:
    """Plain values; what is not a finite number is None."""
    sides = [
        {"run": s.run, "method": s.method or None, "side": s.side, "by_step": s.steps, "seeds": s.seeds,
         "figures": {n: dataclasses.asdict(e) for n, e in s.estimates.items()}}
        for s in c.sides
    ]  # fmt: skip
    said: dict[str, Any] = plain({
        "runs": [r.name for r in c.runs], "shared_methods": c.shared, "unlike": c.unlike, "sides": sides,
        "differences": [dataclasses.asdict(d) for d in c.differences], "grown_at": c.start,
        "table": {"methods": c.table.methods, "columns": c.table.columns, "values": c.table.values.tolist(),
                  "half_widths": c.reach.tolist()},
        "ranks": dataclasses.asdict(c.ranks) if c.ranks else None,
        "new_classes": [dataclasses.asdict(n) for n in c.new],
        "groups": {run: dataclasses.asdict(g) for run, g in c.groups.items()}, "notes": words.notes(c),
        "studies": _studies_json(c.studies) if c.studies else None,
    })  # fmt: skip
    return said


def _studies_json(s: Studies) -> dict[str, Any]:
    spreads = [
        {
            "side": x.side,
            "method": x.method or None,
            "figure": x.figure,
            "n": len(x.values),
            "mean": x.mean,
            "range": x.range,
            "values": x.values,
        }
        for x in s.spreads
    ]
    return {"spreads": spreads, "differing": [dataclasses.asdict(d) for d in s.differing]}


def write_folder(out: Path, c: Comparison) -> list[Path]:
    """A page of all tables and charts, all figures as JSON, and the table of accuracies, which ``--table`` reads again."""
    notes = "".join(f"<li>{escape(note)}</li>" for note in words.notes(c))
    sections = [
        f'<p class="eyebrow">seqsearch compare</p>\n<h1>{escape(words.headline(c))}</h1>',
        *(t.html() for t in tables(c)), f'<ul class="notes">{notes}</ul>', _runs(c), _methods(c), _upcoming(c),
        _random(c), *(identity(r.data.config) for r in c.runs),
    ]  # fmt: skip
    write_table(out / TABLE, c.table)
    write_rows(out / ACCURACIES.file, ACCURACIES, RunInfo("", "", {}), accuracy_rows(c))
    with atomic_path(out / FIGURES) as temporary:
        temporary.write_text(json.dumps(to_json(c), indent=1) + "\n")
    page = write_page(out / PAGE, words.headline(c), sections)
    return [page, out / TABLE, out / ACCURACIES.file, out / FIGURES]


def accuracy_rows(c: Comparison) -> list[Row]:
    """Of ``accuracy.parquet``: what was measured, column by column."""
    return [
        {"column": column, "method_id": method, "accuracy": value, "half_width": finite(half)}
        for i, column in enumerate(c.table.columns)
        for method, value, half in zip(
            c.table.methods, c.table.values[:, i].tolist(), c.reach[:, i].tolist(), strict=True
        )
        if math.isfinite(value)
    ]


# ------------------------------------------------------------------------------------------------ charts


def _runs(c: Comparison) -> str:
    """Found against random sequences, mean over the shared methods: a chart a run (Figs. 9 to 11)."""
    charts = []
    for run in c.runs:
        of = [s for s in c.sides if (s.run, s.method) == (run.name, MEAN) and s.side in COLOURS]
        charts.append((run.name, [Line(s.side, s.side, s.steps["acc"]) for s in of], run.grown))
    drawn = [(name, lines, min((p.from_step for p in grown), default=None)) for name, lines, grown in charts if lines]
    return _charts("Found and random sequences, mean over methods", SIDES, drawn)


def _methods(c: Comparison) -> str:
    """A chart a method: the found sequences of all runs (Figs. 5 and 13), or found and random ones of a single one (Fig. 12)."""
    if len(c.runs) == 1:
        sides = [side for side in ("random", "easy", "found") if any(s.side == side for s in c.sides)]
        drawn = [(m, [Line(s.side, s.side, s.steps["acc"]) for side in sides for s in c.of(side, m)], c.start)
                 for m in _names(c, "found")]  # fmt: skip
        return _charts("Found and random sequences by method", SIDES, drawn)
    runs = [r.name for r in c.runs][: len(COLOURS)]
    drawn = [(m, _lines([s for s in c.of("found", m) if s.run in runs], runs), c.start) for m in _names(c, "found")]
    return _charts(
        "Found sequences by method", _named(runs), [d for d in drawn if d[1]], left_out=_left_out(len(c.runs), "runs")
    )


def _upcoming(c: Comparison) -> str:
    """Tasks since the pool has grown alone (Figs. 5 and 13)."""
    if c.start is None:
        return ""
    runs = [r.name for r in c.runs][: len(COLOURS)]
    drawn = []
    for method in (MEAN, *_names(c, "found")):
        sides = [s for s in c.of("found", method) if s.run in runs]
        lines = [Line(s.run, COLOURS[runs.index(s.run)], s.steps["upcoming"][c.start - 1 :]) for s in sides]
        if lines:
            drawn.append((method or "mean over methods", lines, c.start))
    title, left_out = f"Tasks from step {c.start} on, found sequences", _left_out(len(c.runs), "runs")
    return _charts(title, _named(runs), drawn, c.start, left_out)


def _random(c: Comparison) -> str:
    """Methods on random sequences (Fig. 7), the first run's."""
    methods = _names(c, "random")
    few = methods[: len(COLOURS)]
    of = [s for s in c.sides if (s.run, s.side) == (c.runs[0].name, "random") and s.method in few]
    lines = [Line(s.method, COLOURS[few.index(s.method)], s.steps["acc"]) for s in of]
    drawn = [(c.runs[0].name, lines, None)] if lines else []
    return _charts("Methods on random sequences", _named(few), drawn, left_out=_left_out(len(methods), "methods"))


def _names(c: Comparison, side: str) -> list[str]:
    return list(dict.fromkeys(s.method for s in c.sides if s.side == side and s.method != MEAN))


def _lines(sides: Sequence[Side], runs: Sequence[str]) -> list[Line]:
    return [Line(s.run, COLOURS[runs.index(s.run)], s.steps["acc"]) for s in sides]


def _named(names: Sequence[str]) -> dict[str, str]:
    """Runs or methods by their colours."""
    return {f"line dot {css}": name for css, name in zip(COLOURS, names, strict=False)}


def _left_out(number: int, what: str) -> str:
    return f" The first {len(COLOURS)} of {number} {what}." if number > len(COLOURS) else ""


def _charts(
    title: str, names: dict[str, str], drawn: Sequence[tuple[str, list[Line], int | None]], first: int = 1, left_out: str = ""
) -> str:  # fmt: skip
    """On one axis; a dashed line where a pool grew. ``names`` of lines are as in `keys`."""
    values = [v for _, lines, _ in drawn for one in lines for v in one.values if math.isfinite(v)]
    if not values:
        return ""
    axis = bounds(values)
    charts = [titled(name, line_chart(lines, axis, first, mark)) for name, lines, mark in drawn]
    said = "Accuracy on the tasks learned so far, percent." if first == 1 else "Accuracy on these tasks, percent."
    return section(title, f"{keys(names | GROWN, charts)}{left_out} {said}", charts)
