"""``report.html`` of an EDGE run: what extremes do, how accuracy is distributed, whether orders were lucky, the truth."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from protocols.edge.estimates import estimates
from protocols.edge.summary import EdgeSummary, MethodEdge
from protocols.report import edge_cells as cells
from protocols.report import edge_fit
from protocols.report import edge_words as words
from protocols.report.edge_truth import truth
from protocols.report.gallery import drawn, gallery
from protocols.report.page import identity, write_page
from protocols.report.plots import Curve, Dots, Range, densities, ranges, scatter, task_matrix
from protocols.report.provenance import sentences
from protocols.report.tables import columns_of
from protocols.report.text import line
from protocols.running.protocol import Exported
from seqsearch.core.types import ClassId
from seqsearch.pools.base import Pool
from seqsearch.results.rows import TaskSequence
from seqsearch.results.run import RunResults
from seqsearch.similarity.matrix import Similarity

if TYPE_CHECKING:
    from rich.console import RenderableType

PAPER = "The Lie of the Average: How Class Incremental Learning Evaluation Deceives You?"
DOTS = (("every", "truth"), ("random", "random"), ("rs", "given"), ("own", "given"), ("hard", "hard"), ("easy", "easy"))
"""Groups of sequences and their colours, the last on top."""
NAMES = {"truth": "every sequence", "random": "random", "given": "RS and own", "hard": "hard", "easy": "easy"}
"""What a colour stands for."""
CHARTS = 4
"""Sequences whose tasks are shown as a matrix, at most, of each kind."""


def write_report(run: Path, exported: Exported, pools: Sequence[Pool]) -> Path:
    """Write ``report.html`` into a finished run and return its path; the sample images come from ``pools``."""
    data, similarity, summary = exported.results.run, exported.results.similarity, exported.summary
    tables = [
        t for t in (*edge_fit.tables(summary), cells.luck(summary), *truth(summary), *cells.extremes(summary)) if t
    ]
    sections = [
        _head(summary), cells.distribution(summary).html(), cells.bounds(summary).html(), _densities(summary),
        _ranges(summary), _scatter(summary), _fits(summary), *(t.html() for t in tables), _notes(summary),
        _matrices(data, similarity, pools) if similarity else "", gallery(data, pools), drawn(data, pools),
        how(summary), identity(data.config),
    ]  # fmt: skip
    return write_page(run / "report.html", f"{summary.run}: class sequences and what they do", sections)


def to_json(s: EdgeSummary) -> dict[str, Any]:
    """Plain values; what is not a finite number is None."""
    return {
        "run": s.run, "reached": s.unfinished[0] if s.unfinished else "", "notes": words.notes(s), "stats": s.stats,
        "plans": [dataclasses.asdict(p) for p in s.plans],
        "claims": {m.method: m.claim for m in s.methods}, "estimates": estimates(s.methods),
        "fits": [edge_fit.to_json(m.fit) for m in s.methods if m.fit],
    }  # fmt: skip


def render(s: EdgeSummary) -> RenderableType:
    """The summary for a terminal, or as plain text for a file."""
    from rich.console import Group
    from rich.table import Table

    parts: list[RenderableType] = [line(words.headline(s))]
    tables = (
        [] if s.unfinished else [cells.distribution(s), cells.bounds(s), cells.luck(s), *truth(s), *edge_fit.tables(s)]
    )
    for cell_table in [*cells.extremes(s)[:1], *tables]:
        if cell_table is None or not cell_table.rows:
            continue
        table = Table(box=None, pad_edge=False, header_style="", title=None)
        for i, heading in enumerate(cell_table.headings):
            table.add_column(heading, justify="left" if i == 0 else "right", overflow="fold")
        for row in cell_table.rows:
            table.add_row(*map(line, row))
        parts += [line(""), line(cell_table.title, style="bold"), table, line(cell_table.lead, style="dim")]
    parts.append(line(""))
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


def _key(name: str, css: str) -> str:
    return f'<span class="key {css}">{name}</span>'


def _chart(m: MethodEdge, drawn: str) -> str:
    return f"<div><h3>{escape(m.method)}</h3>{drawn}</div>"


def _densities(s: EdgeSummary) -> str:
    charts = []
    for m in s.methods:
        if m.estimate is None:
            continue
        curves = [Curve("random", m.estimate.mean.value, m.estimate.sd)]
        if m.paper:
            curves.append(Curve("paper", m.paper.mean.value, m.paper.sd))
        if m.rs:
            curves.append(Curve("given", m.rs.mu, m.rs.sigma))
        truth = m.truth.sequences.means.tolist() if m.truth else []
        marks = [(side, float(v)) for side in ("hard", "easy") for v in m.groups[side].means]
        if not truth:
            marks += [("random", float(v)) for v in m.groups["random"].means]
        charts.append(_chart(m, densities(curves, truth, marks, f"{m.method}: densities of final accuracy")))
    keys = _key("random sequences", "random") + _key("paper's estimate", "paper") + _key("RS", "given")
    keys += _key("hard", "hard") + _key("easy", "easy")
    known = any(m.truth for m in s.methods)
    keys += _key("every sequence", "truth") * known
    bars = " Bars: every sequence, the truth." if known else " Short lines: single sequences."
    return _charts("Estimated distribution", f"{keys}<br>Normals fitted to a few sequences.{bars}", charts)


def _ranges(s: EdgeSummary) -> str:
    rows = []
    for m in s.methods:
        random, hard, easy = (m.groups[n] for n in ("random", "hard", "easy"))
        marks = tuple((n, float(v)) for n, g in (("hard", hard), ("easy", easy)) for v in g.means)
        if m.truth:
            rows.append(Range(f"{m.method}, truth", "truth", m.truth.low, m.truth.high, marks))
        if len(random):
            rows.append(
                Range(f"{m.method}, random", "random", float(random.means.min()), float(random.means.max()), marks)
            )
        if len(m.groups["rs"]):
            rs = m.groups["rs"].means
            rows.append(Range(f"{m.method}, RS", "given", float(rs.min()), float(rs.max())))
    if not rows:
        return ""
    drawn = {r.bar for r in rows} | {side for r in rows for side, _ in r.marks}
    keys = "".join(_key(name, css) for css, name in (NAMES | {"given": "RS"}).items() if css in drawn)
    return (
        f'<h2>Bounds</h2>\n<p class="legend">{keys}<br>From the lowest to the highest final accuracy, percent.</p>\n'
        f'<div class="scroll">{ranges(rows, "bounds of final accuracy by method")}</div>'
    )


def _scatter(s: EdgeSummary) -> str:
    charts = []
    for m in s.methods:
        groups = [
            Dots(css, tuple((float(x), float(y)) for x, y in zip(m.groups[n].S, m.groups[n].means, strict=True) if x is not None))
            for n, css in DOTS
        ]  # fmt: skip
        if any(g.points for g in groups):
            charts.append(_chart(m, scatter([g for g in groups if g.points], f"{m.method}: S against final accuracy")))
    drawn = {css for m in s.methods for n, css in DOTS if any(x is not None for x in m.groups[n].S)}
    keys = "".join(_key(name, css) for css, name in NAMES.items() if css in drawn)
    return _charts("Similarity against accuracy", f"{keys}<br>Each dot a sequence; accuracy in percent.", charts)


def _fits(s: EdgeSummary) -> str:
    legend = _key("random", "random") + _key("fitted hard", "hard") + _key("fitted easy", "easy")
    explained = "Random: one training each, predicted by the fit to all others; fitted: mean over fresh seeds."
    return _charts("Predicted against measured accuracy", f"{legend}<br>{explained}", edge_fit.charts(s))


def _charts(title: str, legend: str, charts: Sequence[str]) -> str:
    if not charts:
        return ""
    return f'<h2>{title}</h2>\n<p class="legend">{legend}</p>\n<div class="charts">{"".join(charts)}</div>'


def _matrices(data: RunResults, similarity: Similarity, pools: Sequence[Pool]) -> str:
    rank = {p.digest: i for i, p in enumerate(pools)}
    in_play = {c for s in data.sequences for task in s.tasks for c in task.classes}
    place = {c: i for i, c in enumerate(sorted(in_play, key=lambda c: (rank.get(c.pool, len(rank)), c.index)))}
    found = [(s, _between_tasks(s, similarity, place)) for s in _first_of_each(data.sequences)]
    values = np.concatenate([m[np.isfinite(m)] for _, m in found])
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
    charts = [
        f"<div><h3>{escape(s.sequence_id)}</h3>{task_matrix(m, low, high, f'similarity of the tasks of {s.sequence_id}')}</div>"
        for s, m in found
    ]
    legend = "Mean similarity of the classes of two tasks (diagonal: within the task); darker is more similar, one scale for all."
    return _charts("Similarity of tasks", legend, charts)


def _first_of_each(sequences: Sequence[TaskSequence]) -> Iterator[TaskSequence]:
    """Some hard and easy sequences, and a random one."""
    for stem, most in (("hard-", CHARTS), ("easy-", CHARTS), ("random-", 1)):
        ours = [s for s in sequences if s.sequence_id.startswith(stem) and "@" not in s.sequence_id]
        yield from ours[:most]


def _between_tasks(s: TaskSequence, similarity: Similarity, place: dict[ClassId, int]) -> NDArray[np.float64]:
    """Mean similarity of the classes of each two tasks ``[K, K]``; NaN within a task of one class."""
    rows = [[place[c] for c in task.classes] for task in s.tasks]
    means = np.array([[similarity.values[np.ix_(a, b)].mean() for b in rows] for a in rows])
    m = np.array([len(r) for r in rows])
    with np.errstate(invalid="ignore", divide="ignore"):  # the diagonal of the similarity is 0 and counts for nothing
        np.fill_diagonal(means, means.diagonal() * m / (m - 1))
    return means


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
