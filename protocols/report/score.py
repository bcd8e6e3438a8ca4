"""What a score run shows: terminal, JSON, ``report.html``."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType

from protocols.evaluate.score.summary import MethodScore, ScoreSummary
from protocols.report import score_words as words
from protocols.report.charts import Line, bounds, line_chart
from protocols.report.gallery import drawn, gallery
from protocols.report.legend import keys, section, titled
from protocols.report.page import identity, plain, write_page
from protocols.report.score_tables import tables
from protocols.report.tables import columns_of, grid
from protocols.report.text import line
from protocols.running.protocol import Exported
from seqsearch.pools.base import Pool

COLOURS = {
    "searched": "found",
    "hard": "found",
    "random": "random",
    "easy": "easy",
    "given": "given",
    "heldout": "paper",
}
"""Of curves, by kind of sequence."""
HELD_OUT = "By which ranks of methods are compared: no search saw their pool."


def write_report(run: Path, exported: Exported, pools: Sequence[Pool]) -> Path:
    """Write ``report.html`` into a finished run and return its path; the sample images come from ``pools``."""
    data, s = exported.results, exported.summary
    notes = "".join(f"<li>{escape(note)}</li>" for note in words.notes(s))
    head = f'<p class="eyebrow">seqsearch run {escape(s.run)}</p>\n<h1>{escape(words.headline(s))}</h1>'
    shown = [t.html() for t in tables(s)]
    sections = [
        head, *shown[:-1], f'<ul class="notes">{notes}</ul>', _curves(s), *shown[-1:], gallery(data, pools), drawn(data, pools),
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
    parts: list[RenderableType] = [line(words.headline(s), "bold")]
    for table in () if s.reached else [t.cells for t in tables(s)]:
        parts += [line(""), line(table.title, "bold"), grid(table), line(table.lead, "dim")]
    below = [] if s.reached else [columns_of("score")]
    return Group(*parts, line(""), *(line(f"- {note}") for note in words.notes(s)), *below)


def _curves(s: ScoreSummary) -> str:
    """Acc by step, one chart a method, one axis for all (Figs. 2 and 8 of CLDyB)."""
    drawn = [(m, _lines(m)) for m in s.methods]
    values = [v for _, lines in drawn for curve in lines for v in (*curve.values, *curve.low, *curve.high)]
    if not values:
        return ""
    axis, names = bounds(values), _names(s)
    charts = [titled(m.method, line_chart(lines, axis)) for m, lines in drawn if lines]
    legend = "Mean accuracy on the tasks learned so far, percent; bands: range over sequences and seeds."
    return section("Accuracy as tasks arrive", f"{keys(names, charts)} {legend}", charts)


def _names(s: ScoreSummary) -> dict[str, str]:
    """What the colours of curves stand for; kinds may share one."""
    there = dict.fromkeys(k for m in s.methods for k in m.sides if k in COLOURS)
    of = {css: [k for k in there if COLOURS[k] == css] for css in dict.fromkeys(COLOURS.values())}
    return {f"line dot band {css}": ", ".join(kinds) for css, kinds in of.items()}


def _lines(m: MethodScore) -> list[Line]:
    return [
        Line(kind, COLOURS[kind], side.acc_by_step, side.low, side.high)
        for kind, side in m.sides.items()
        if kind in COLOURS
    ]
