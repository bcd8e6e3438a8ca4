"""Charts of an EDGE report: densities, bounds, S and predictions against accuracy, similarity of tasks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from protocols.edge.summary import EdgeSummary
from protocols.report import edge_fit
from protocols.report.legend import keys, section, titled
from protocols.report.plots import Curve, Dots, Range, densities, ranges, scatter, task_matrix
from seqsearch.core.types import ClassId
from seqsearch.pools.base import Pool
from seqsearch.results.rows import TaskSequence
from seqsearch.results.run import RunResults
from seqsearch.similarity.matrix import Similarity

DOTS = (("every", "truth"), ("random", "random"), ("rs", "given"), ("own", "given"), ("hard", "hard"), ("easy", "easy"))
"""Groups of sequences and their colours, the last on top."""
NAMES = {"truth": "every sequence", "random": "random", "given": "RS and own", "hard": "hard", "easy": "easy"}
"""What a colour stands for."""
FITTED = {
    "line random": "random sequences", "line paper": "paper's estimate", "line given": "RS", "bar": "every sequence, the truth",
    "mark random": "random", "mark hard": "hard", "mark easy": "easy",
}  # fmt: skip
"""What is drawn with densities."""
CHARTS = 4
"""Sequences whose tasks are shown as a matrix, at most, of each kind."""


def charts(s: EdgeSummary) -> list[str]:
    """All of figures that there is something for, as sections of a page."""
    return [text for text in (_densities(s), _ranges(s), _scatter(s), _fits(s)) if text]


def _densities(s: EdgeSummary) -> str:
    drawn = []
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
        drawn.append(titled(m.method, densities(curves, truth, marks, f"{m.method}: densities of final accuracy")))
    legend = "Curves: normals fitted to a few sequences; short lines: single sequences."
    return section("Estimated distribution", f"{keys(FITTED, drawn)}<br>{legend}", drawn)


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
    chart = ranges(rows, "bounds of final accuracy by method")
    names = {f"range mark {css}": name for css, name in (NAMES | {"given": "RS"}).items()}
    legend = "Bars: from the lowest to the highest final accuracy, percent; short lines: single sequences."
    return (
        f'<h2>Bounds</h2>\n<p class="legend">{keys(names, [chart])}<br>{legend}</p>\n<div class="scroll">{chart}</div>'
    )


def _scatter(s: EdgeSummary) -> str:
    drawn = []
    for m in s.methods:
        groups = [
            Dots(css, tuple((float(x), float(y)) for x, y in zip(m.groups[n].S, m.groups[n].means, strict=True) if x is not None))
            for n, css in DOTS
        ]  # fmt: skip
        if any(g.points for g in groups):
            drawn.append(
                titled(m.method, scatter([g for g in groups if g.points], f"{m.method}: S against final accuracy"))
            )
    named = keys({f"dot {css}": name for css, name in NAMES.items()}, drawn)
    return section("Similarity against accuracy", f"{named}<br>Each dot a sequence; accuracy in percent.", drawn)


def _fits(s: EdgeSummary) -> str:
    drawn = edge_fit.charts(s)
    named = keys({"dot random": "random", "dot hard": "fitted hard", "dot easy": "fitted easy"}, drawn)
    legend = "Random: one training each, predicted by the fit to all others; fitted: mean over fresh seeds."
    return section("Predicted against measured accuracy", f"{named}<br>{legend}", drawn)


def matrices(data: RunResults, similarity: Similarity, pools: Sequence[Pool]) -> str:
    """How alike the tasks of some sequences are, a matrix each."""
    rank = {p.digest: i for i, p in enumerate(pools)}
    in_play = {c for s in data.sequences for task in s.tasks for c in task.classes}
    place = {c: i for i, c in enumerate(sorted(in_play, key=lambda c: (rank.get(c.pool, len(rank)), c.index)))}
    found = [(s, _between_tasks(s, similarity, place)) for s in _first_of_each(data.sequences)]
    values = np.concatenate([m[np.isfinite(m)] for _, m in found])
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
    drawn = [
        titled(s.sequence_id, task_matrix(m, low, high, f"similarity of the tasks of {s.sequence_id}"))
        for s, m in found
    ]
    legend = "Mean similarity of the classes of two tasks (diagonal: within the task); darker is more similar, one scale for all."
    return section("Similarity of tasks", legend, drawn)


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
