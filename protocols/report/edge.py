"""``report.html`` of an EDGE run: what extremes do, how accuracy is distributed, whether orders were lucky, the truth."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType

from protocols.edge.estimates import estimates
from protocols.edge.summary import EdgeSummary
from protocols.report import edge_fit
from protocols.report import edge_words as words
from protocols.report.edge_figures import between_tasks, figures
from protocols.report.edge_tables import bounds, distribution, extremes, luck
from protocols.report.edge_truth import truth
from protocols.report.old_gallery import drawn, gallery
from protocols.report.old_page import identity, write_page
from protocols.report.old_terminal import panels_html, table_html
from protocols.report.provenance import sentences
from protocols.report.terminal import columns_of, stacked
from protocols.report.text import line
from protocols.running.protocol import Exported
from seqsearch.distribution.order_test import ExtremesTest
from seqsearch.pools.base import Pool

PAPER = "The Lie of the Average: How Class Incremental Learning Evaluation Deceives You?"


def write_report(run: Path, exported: Exported, pools: Sequence[Pool]) -> Path:
    """Write ``report.html`` into a finished run and return its path; the sample images come from ``pools``."""
    data, similarity, summary = exported.results.run, exported.results.similarity, exported.summary
    tables = [*edge_fit.tables(summary), luck(summary), *truth(summary), *extremes(summary)]
    sections = [
        _head(summary), table_html(distribution(summary)), table_html(bounds(summary)),
        *(panels_html(f) for f in figures(summary)),
        *(table_html(t) for t in tables if t.rows), _notes(summary),
        panels_html(between_tasks(data, similarity, pools)) if similarity else "", gallery(data, pools), drawn(data, pools),
        how(summary), identity(data.config, pools),
    ]  # fmt: skip
    return write_page(run / "report.html", f"{summary.run}: class sequences and what they do", sections)


def to_json(s: EdgeSummary) -> dict[str, Any]:
    """Plain values; what is not a finite number is None."""
    return {
        "run": s.run, "reached": s.unfinished[0] if s.unfinished else "", "notes": words.notes(s), "stats": s.stats,
        "plans": [dataclasses.asdict(p) for p in s.plans],
        "claims": {m.method: m.claim for m in s.methods}, "estimates": estimates(s.methods),
        "mean": {"claim": s.mean.claim, "p": _ends(s.mean.test)} if s.mean and s.mean.test else None,
        "adjusted_p": {m.method: _ends(m.adjusted) for m in s.methods if m.adjusted},
        "fits": [edge_fit.to_json(m.fit) for m in s.methods if m.fit],
    }  # fmt: skip


def _ends(t: ExtremesTest) -> dict[str, float | None]:
    """p-values of both ends, in both directions."""
    names = ("p_hard", "p_easy", "p_hard_above", "p_easy_below")
    return {n: None if math.isnan(p := getattr(t, n)) else p for n in names}


def render(s: EdgeSummary) -> RenderableType:
    """The summary for a terminal, or as plain text for a file."""
    parts: list[RenderableType] = [line(words.headline(s))]
    tables = [] if s.unfinished else [distribution(s), bounds(s), luck(s), *truth(s), *edge_fit.tables(s)]
    parts += [*stacked([*extremes(s)[:1], *tables]), line("")]
    if not s.unfinished:
        parts += [line(finding) for finding in words.findings(s)]
    parts += [line(note) for note in words.notes(s)]
    parts.append(columns_of("edge"))
    return Group(*parts)


def _head(s: EdgeSummary) -> str:
    lines = "".join(f"<li>{escape(finding)}</li>" for finding in words.findings(s))
    return (
        f'<p class="eyebrow">seqsearch run {escape(s.run)}</p>\n<h1>{escape(words.headline(s))}</h1>\n'
        f"<h2>Does a more extreme similarity give a more extreme accuracy here?</h2>\n<ul>{lines}</ul>"
    )


def _notes(s: EdgeSummary) -> str:
    return '<ul class="notes">' + "".join(f"<li>{escape(note)}</li>" for note in words.notes(s)) + "</ul>"


OBJECTIVES = {
    "adjacent": f"the similarity of neighbouring tasks, as in <cite>{escape(PAPER)}</cite>",
    "lags": "the similarity of tasks at several distances (--objective lags)",
    "within": "the similarity of classes within tasks (--objective within)",
    "typicality": "the rise of the tasks' typicality from first to last (--objective typicality)",
}
"""What hard and easy sequences are extremes of."""


def how(s: EdgeSummary) -> str:
    """How sequences were found, trained and judged."""
    objective = OBJECTIVES[s.plans[0].objective] if s.plans else "the similarity"
    learned = [p.source for p in s.plans if p.label in ("prototypes", "confusion")]
    found = "they were found without any training"
    if learned:
        asked = escape(" and ".join(learned))
        found = f"one training on all classes at once was spent on the similarity ({asked}), none on the search"
    every = " Every sequence there is was trained (--enumerate)." if s.facts and s.facts.enumerated else ""
    return (
        f"<h2>How it was computed</h2>\n<p>The hard and the easy sequence are extremes of {objective}; {found}. They were "
        "trained with seeds that they share, random sequences with a seed of their own each; all were judged on test images. "
        f"Verdicts are by the rank of a single training among those of random sequences.{every}</p>\n"
        + "".join(f"<p>{escape(sentence)}</p>\n" for sentence in sentences(s.provenance))
    )
