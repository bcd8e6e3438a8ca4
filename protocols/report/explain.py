"""What a run shows that explains another: terminal, JSON, ``report.html``."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType

from protocols.evaluate.explain.summary import Summary
from protocols.report import explain_words as words
from protocols.report.explain_figures import figures
from protocols.report.explain_tables import tables
from protocols.report.old_gallery import drawn, gallery
from protocols.report.old_page import identity, write_page
from protocols.report.old_terminal import panels_html, table_html
from protocols.report.plain import plain
from protocols.report.provenance import sentences
from protocols.report.terminal import columns_of, stacked
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
        head, *(panels_html(f) for f in figures(s)), *(table_html(t) for t in tables(s)), f'<ul class="notes">{notes}</ul>',
        gallery(data, pools), drawn(data, pools), f"<h2>How it was computed</h2>\n{how}", identity(data.config, pools),
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
    parts = [line(words.headline(s), "bold"), *([] if s.unfinished else stacked(tables(s)))]
    below = [] if s.unfinished else [columns_of("explain")]
    return Group(*parts, line(""), *(line(f"- {note}") for note in words.notes(s)), *below)
