"""The report of ``seqsearch compare``, and the files that it writes."""

from __future__ import annotations

import dataclasses
import json
import math
from pathlib import Path
from typing import Any

from protocols.evaluate.compare.agreement import Agreement
from protocols.evaluate.compare.comparison import Comparison
from protocols.evaluate.compare.studies import Studies
from protocols.evaluate.compare.table import Table as Accuracies
from protocols.evaluate.compare.table import write_table
from protocols.report.compare import notes
from protocols.report.compare.figures import figures
from protocols.report.compare.ranks import of_table
from protocols.report.compare.tables import key, tables
from protocols.report.page import write_page
from protocols.report.view import View
from seqsearch.results.rows import Row, RunInfo, finite
from seqsearch.results.schema import ACCURACIES
from seqsearch.results.tables import write_rows
from seqsearch.storage.files import atomic_path

PAGE, TABLE, FIGURES = "compare.html", "accuracy.csv", "compare.json"


def view(c: Comparison) -> View:
    """Of runs."""
    return View(
        section="compare",
        name=", ".join(r.name for r in c.runs),
        kind="beside each other",
        headline=notes.headline(c),
        tiles=tuple(notes.tiles(c)),
        key=key(c),
        tables=tables(c),
        notes=tuple(notes.notes(c)),
        draws=lambda: figures(c),
        configs=tuple(r.data.config for r in c.runs),
        data=_data(c),
        more="seqsearch compare RUN... --details",
    )


def view_of_table(accuracies: Accuracies, ranks: Agreement) -> View:
    """Of a table from a file."""
    return View(
        section="compare",
        name=ranks.reference,
        kind="rank correlations",
        headline=notes.of_table(accuracies, ranks),
        key=of_table(accuracies, ranks),
        data={
            "methods": accuracies.methods,
            "columns": accuracies.columns,
            "values": accuracies.values,
            **dataclasses.asdict(ranks),
        },
    )


def _data(c: Comparison) -> dict[str, Any]:
    sides = [
        {
            "run": s.run,
            "method": s.method or None,
            "side": s.side,
            "by_step": s.steps,
            "seeds": s.seeds,
            "figures": s.estimates,
        }
        for s in c.sides
    ]
    return {
        "runs": [r.name for r in c.runs],
        "shared_methods": c.shared,
        "unlike": c.unlike,
        "sides": sides,
        "differences": c.differences,
        "grown_at": c.start,
        "table": {
            "methods": c.table.methods,
            "columns": c.table.columns,
            "values": c.table.values,
            "half_widths": c.reach,
        },
        "ranks": c.ranks,
        "new_classes": c.new,
        "groups": c.groups,
        "studies": _studies(c.studies) if c.studies else None,
    }


def _studies(s: Studies) -> dict[str, Any]:
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
    return {"spreads": spreads, "differing": s.differing}


def write_folder(out: Path, c: Comparison) -> list[Path]:
    """A page of all tables and charts, all figures as JSON, and the table of accuracies, which ``--table`` reads again."""
    shown = view(c)
    write_table(out / TABLE, c.table)
    write_rows(out / ACCURACIES.file, ACCURACIES, RunInfo("", "", {}), accuracy_rows(c))
    with atomic_path(out / FIGURES) as temporary:
        temporary.write_text(json.dumps(shown.to_json(), indent=1) + "\n")
    page = write_page(out / PAGE, shown, "seqsearch compare")
    return [page, out / TABLE, out / ACCURACIES.file, out / FIGURES]


def accuracy_rows(c: Comparison) -> list[Row]:
    """Rows of ``accuracy.parquet``, column by column."""
    return [
        {"column": column, "method_id": method, "accuracy": value, "half_width": finite(half)}
        for i, column in enumerate(c.table.columns)
        for method, value, half in zip(
            c.table.methods, c.table.values[:, i].tolist(), c.reach[:, i].tolist(), strict=True
        )
        if math.isfinite(value)
    ]
