"""What a score run shows: terminal, JSON, ``report.html``."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType

from protocols.evaluate.score.summary import ScoreSummary
from protocols.report import score_words as words
from protocols.report.old_gallery import drawn, gallery
from protocols.report.old_page import identity, write_page
from protocols.report.old_terminal import panels_html, table_html
from protocols.report.plain import plain
from protocols.report.score_figures import figures
from protocols.report.score_tables import tables
from protocols.report.terminal import columns_of, stacked
from protocols.report.text import line
from protocols.running.protocol import Exported
from seqsearch.pools.base import Pool

HELD_OUT = "By which ranks of methods are compared: no search saw their pool."


def write_report(run: Path, exported: Exported, pools: Sequence[Pool]) -> Path:
    """Write ``report.html`` into a finished run and return its path; the sample images come from ``pools``."""
    data, s = exported.results, exported.summary
    notes = "".join(f"<li>{escape(note)}</li>" for note in words.notes(s))
    head = f'<p class="eyebrow">seqsearch run {escape(s.run)}</p>\n<h1>{escape(words.headline(s))}</h1>'
    shown = [table_html(t) for t in tables(s)]
    sections = [
        head, *shown[:-1], f'<ul class="notes">{notes}</ul>', *(panels_html(f) for f in figures(s)), *shown[-1:],
        gallery(data, pools),
        drawn(data, pools),
        drawn(data, pools, HELD_OUT, "heldout"), identity(data.config, pools),
    ]  # fmt: skip
    return write_page(run / "report.html", f"{s.run}: methods on given sequences", sections)


def to_json(s: ScoreSummary) -> dict[str, Any]:
    """Plain values; what is not a finite number is None."""
    said = dataclasses.asdict(dataclasses.replace(s, transfer={}))
    transfer = [
        {"searched_for": group, "method": method, "drop": dataclasses.asdict(drop) if drop else None}
        for (group, method), drop in s.transfer.items()
    ]
    found: dict[str, Any] = plain(
        {
            **said,
            "transfer": transfer,
            "headline": words.headline(s),
            "for_whom": words.for_whom(s),
            "notes": words.notes(s),
        }
    )
    return found


def render(s: ScoreSummary) -> RenderableType:
    """The summary for a terminal, or as plain text for a file."""
    parts = [line(words.headline(s), "bold"), *([] if s.reached else stacked(tables(s)))]
    below = [] if s.reached else [columns_of("score")]
    return Group(*parts, line(""), *(line(f"- {note}") for note in words.notes(s)), *below)
