"""What a run shows that explains another: terminal, JSON, ``report.html``."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType

from protocols.evaluate.explain.summary import Summary
from protocols.report import explain_words as words
from protocols.report.explain_tables import tables
from protocols.report.gallery import drawn, gallery
from protocols.report.legend import keys
from protocols.report.page import identity, plain, write_page
from protocols.report.plots import Range, ranges
from protocols.report.provenance import sentences
from protocols.report.tables import columns_of, grid
from protocols.report.text import line
from protocols.running.protocol import Exported
from seqsearch.pools.base import Pool


def write_report(run: Path, exported: Exported, pools: Sequence[Pool]) -> Path:
    """Write ``report.html`` into a finished run and return its path; the sample images come from ``pools``."""
    data, s = exported.results.run, exported.summary
    head = f'<p class="eyebrow">seqsearch run {escape(s.run)}</p>\n<h1>{escape(words.headline(s))}</h1>'
    notes = "".join(f"<li>{escape(note)}</li>" for note in words.notes(s))
    how = "".join(f"<p>{escape(text)}</p>\n" for text in sentences(s.provenance))
    sections = [
        head, _chart(s), *(t.html() for t in tables(s)), f'<ul class="notes">{notes}</ul>', gallery(data, pools),
        drawn(data, pools), f"<h2>How it was computed</h2>\n{how}", identity(data.config, pools),
    ]  # fmt: skip
    return write_page(run / "report.html", f"{s.run}: why found sequences are hard", sections)


def to_json(s: Summary) -> dict[str, Any]:
    """Plain values; what is not a finite number is None."""
    said = {n: v for n, v in dataclasses.asdict(s).items() if n not in ("provenance", "unfinished")}
    found: dict[str, Any] = plain(
        {**said, "headline": words.headline(s), "notes": words.notes(s), "reached": s.unfinished}
    )
    return found


def render(s: Summary) -> RenderableType:
    """The summary for a terminal, or as plain text for a file."""
    parts: list[RenderableType] = [line(words.headline(s), "bold")]
    for table in () if s.unfinished else [t.cells for t in tables(s)]:
        parts += [line(""), line(table.title, "bold"), grid(table), line(table.lead, "dim")]
    below = [] if s.unfinished else [columns_of("explain")]
    return Group(*parts, line(""), *(line(f"- {note}") for note in words.notes(s)), *below)


def _chart(s: Summary) -> str:
    """Effects with their intervals, of what the headline speaks of, on one axis."""
    rows = [
        Range(f"{words.MEASURED[measure]}: {name}", "found", *_ends(c.interval), (("random", c.interval.value), ("truth", 0.0)))
        for measure, e in (s.overall.measures.items() if s.overall else ())
        for name, c in e.effects.items()
    ]  # fmt: skip
    if not rows or s.overall is None:
        return ""
    lead = f"{s.overall.method}: points of accuracy, to the right what makes found sequences harder."
    chart = ranges(rows, "; ".join(f"{r.name}: {100 * r.marks[0][1]:.1f}" for r in rows))
    names = {"range found": "95 % interval, one by one", "mark random": "estimate", "mark truth": "0: no effect"}
    legend = f'<p class="legend">{keys(names, [chart])}<br>{escape(lead)}</p>'
    return f'<h2>What makes them hard</h2>\n{legend}\n<div class="scroll">{chart}</div>'


def _ends(i: Any) -> tuple[float, float]:
    return (i.low, i.high) if math.isfinite(i.low) else (i.value, i.value)
