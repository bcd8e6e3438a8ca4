"""``report.html`` of a duel: how often and by how much one method is above the other, and the sequences that show it."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType

from protocols.evaluate.duel.summary import DuelSummary
from protocols.report import duel_words as words
from protocols.report.duel_figures import figures
from protocols.report.duel_tables import tables
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
    data, s = exported.results, exported.summary
    lines = "".join(f"<li>{escape(finding)}</li>" for finding in words.findings(s))
    notes = '<ul class="notes">' + "".join(f"<li>{escape(note)}</li>" for note in words.notes(s)) + "</ul>"
    sections = [
        f'<p class="eyebrow">seqsearch run {escape(s.run)}</p>\n<h1>{escape(words.headline(s))}</h1>\n<ul>{lines}</ul>',
        *(table_html(t) for t in tables(s)), *(panels_html(f) for f in figures(s)), notes,
        gallery(data, pools, "worse for that method beside the other") if s.found else "",
        drawn(data, pools, "What both methods are compared on."), _how(s), identity(data.config, pools),
    ]  # fmt: skip
    return write_page(run / "report.html", f"{s.run}: {s.methods[0]} and {s.methods[1]}", sections)


def to_json(s: DuelSummary) -> dict[str, Any]:
    """Plain values; what is not a finite number is None."""
    said: dict[str, Any] = {
        "run": s.run, "reached": s.unfinished[0] if s.unfinished else "", "headline": words.headline(s),
        "findings": [] if s.unfinished else words.findings(s), "notes": words.notes(s), "stats": s.stats,
        "a": s.methods[0], "b": s.methods[1], "on_most": s.on_most,
        "more_often": s.sample.more_often if s.sample else "", "on_average": s.sample.on_average if s.sample else "",
        "pairs": {"sequences": s.pairs.names, "a": s.pairs.a.tolist(), "b": s.pairs.b.tolist()},
    }  # fmt: skip
    for name in ("sample", "running", "needed_most", "needed_average", "spread", "test"):
        value = getattr(s, name)
        said[name] = None if value is None else dataclasses.asdict(value)
    for name in ("worst", "found", "given"):
        said[name] = [dataclasses.asdict(x) for x in getattr(s, name)]
    found: dict[str, Any] = plain(said)
    return found


def render(s: DuelSummary) -> RenderableType:
    """The summary for a terminal, or as plain text for a file."""
    parts: list[RenderableType] = [line(words.headline(s)), *([] if s.unfinished else stacked(tables(s))), line("")]
    if not s.unfinished:
        parts += [line(finding) for finding in words.findings(s)]
    parts += [line(note) for note in words.notes(s)]
    return Group(*parts, columns_of("duel"))


def _how(s: DuelSummary) -> str:
    searched = (
        " The found ones were searched step by step for a large difference of the two methods' rewards, and trained again with "
        "fresh seeds."
    )
    return (
        "<h2>How it was computed</h2>\n<p>Both methods were trained on the same random sequences, each with a training seed of "
        f"its own that both share, and judged on test images.{searched * bool(s.found)}</p>\n"
        + "".join(f"<p>{escape(sentence)}</p>\n" for sentence in sentences(s.provenance))
    )
