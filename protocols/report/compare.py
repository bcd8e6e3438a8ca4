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
from protocols.evaluate.compare.studies import Studies
from protocols.evaluate.compare.table import Table as Accuracies
from protocols.evaluate.compare.table import write_table
from protocols.report import compare_words as words
from protocols.report.compare_figures import figures
from protocols.report.compare_tables import tables
from protocols.report.old_page import identity, write_page
from protocols.report.old_terminal import panels_html, table_html
from protocols.report.plain import plain
from protocols.report.table import Table
from protocols.report.terminal import columns_of, stacked
from protocols.report.text import line
from seqsearch.results.rows import Row, RunInfo, finite
from seqsearch.results.schema import ACCURACIES
from seqsearch.results.tables import write_rows
from seqsearch.storage.files import atomic_path

PAGE, TABLE, FIGURES = "compare.html", "accuracy.csv", "compare.json"


def render(found: Sequence[Table], headline: str = "", notes: Sequence[str] = ()) -> RenderableType:
    """For a terminal, or as plain text for a file."""
    parts: list[RenderableType] = [*([line(headline, "bold")] if headline else []), *stacked(found)]
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
        *(table_html(t) for t in tables(c)), f'<ul class="notes">{notes}</ul>', *(panels_html(f) for f in figures(c)),
        *(identity(r.data.config) for r in c.runs),
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
