"""The figures of an EDGE summary: densities, bounds, S and predictions against accuracy, similarity of tasks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from protocols.edge.fitted import MethodFit
from protocols.edge.summary import EdgeSummary, MethodEdge
from protocols.report.figures import Panel, Panels
from protocols.report.maps import matrix
from protocols.report.shapes import Bar, Dots, Normal, bars, densities, scatter
from protocols.report.text import percent
from seqsearch.core.types import ClassId
from seqsearch.pools.base import Pool
from seqsearch.results.rows import TaskSequence
from seqsearch.results.run import RunResults
from seqsearch.similarity.matrix import Similarity

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

GROUPS = {
    "every": ("every sequence", "soft"),
    "random": ("random", "random"),
    "rs": ("RS and own", "given"),
    "own": ("RS and own", "given"),
    "hard": ("hard", "found"),
    "easy": ("easy", "easy"),
}
"""Groups of sequences: what they are called, and their colours; the last on top."""
MATRICES = 4
"""Sequences whose tasks are shown as a matrix, at most, of each kind."""


def figures(s: EdgeSummary) -> list[Panels]:
    """All that there is something for, without the similarity of tasks (`between_tasks`)."""
    return [p for p in (distributions(s), bounds(s), similarity(s), predictions(s)) if p.panels]


# ------------------------------------------------------------------------------------------------ accuracy


def distribution(m: MethodEdge, ax: Axes | None = None) -> Figure:
    """Normals fitted to a few sequences, over the truth where it is known."""
    assert m.estimate is not None
    normals = [Normal("random sequences", "random", m.estimate.mean.value, m.estimate.sd)]
    if m.paper:
        normals.append(Normal("paper's estimate", "paper", m.paper.mean.value, m.paper.sd))
    if m.rs:
        normals.append(Normal("RS", "given", m.rs.mu, m.rs.sigma))
    truth = m.truth.sequences.means.tolist() if m.truth else []
    marked = [_marks(m, side) for side in ("hard", "easy", *(() if truth else ("random",)))]
    return densities(
        normals,
        truth,
        [d for d in marked if d.points],
        "final accuracy, percent",
        values_name="every sequence, the truth",
        ax=ax,
    )


def _marks(m: MethodEdge, side: str) -> Dots:
    return Dots(*GROUPS[side], tuple((float(v), 0.0) for v in m.groups[side].means))


def distributions(s: EdgeSummary) -> Panels:
    """A figure a method."""
    panels = [
        Panel(distribution(m), f"{m.method}: densities of final accuracy", m.method) for m in s.methods if m.estimate
    ]
    legend = "Curves: normals fitted to a few sequences; short lines: single sequences."
    return Panels("distribution", "Estimated distribution", legend, tuple(panels), shared=True)


def ranges(s: EdgeSummary) -> list[Bar]:
    """From the lowest to the highest final accuracy of each method, by group of sequences."""
    rows = []
    for m in s.methods:
        sides = ("hard", "easy")
        marks = tuple((*GROUPS[n], tuple(map(float, m.groups[n].means))) for n in sides if len(m.groups[n]))
        if m.truth:
            rows.append(Bar(f"{m.method}, truth", *GROUPS["every"], m.truth.low, m.truth.high, marks))
        if len(random := m.groups["random"].means):
            rows.append(Bar(f"{m.method}, random", *GROUPS["random"], float(random.min()), float(random.max()), marks))
        if len(rs := m.groups["rs"].means):
            rows.append(Bar(f"{m.method}, RS", "RS", "given", float(rs.min()), float(rs.max())))
    return rows


def bounds(s: EdgeSummary) -> Panels:
    """One figure of all methods."""
    rows = ranges(s)
    said = "; ".join(f"{row.name}: {percent(row.low)} to {percent(row.high)} %" for row in rows)
    panels = (Panel(bars(rows, "final accuracy, percent"), said, wide=True),) if rows else ()
    legend = "Bars: from the lowest to the highest final accuracy; short lines: single sequences."
    return Panels("bounds", "Bounds", legend, panels, shared=True)


def against_similarity(m: MethodEdge, ax: Axes | None = None) -> Figure:
    """Each sequence at its similarity and its final accuracy."""
    return scatter(_by_similarity(m), "S, similarity of the sequence", percent_x=False, ax=ax)


def _by_similarity(m: MethodEdge) -> list[Dots]:
    groups = []
    for name, (called, colour) in GROUPS.items():
        pairs = zip(m.groups[name].S, m.groups[name].means, strict=True)
        groups.append(Dots(called, colour, tuple((float(x), float(y)) for x, y in pairs if x is not None)))
    return [g for g in groups if g.points]


def similarity(s: EdgeSummary) -> Panels:
    """A figure a method."""
    panels = [
        Panel(against_similarity(m), f"{m.method}: S against final accuracy", m.method)
        for m in s.methods
        if _by_similarity(m)
    ]
    legend = "Each dot a sequence; accuracy in percent."
    return Panels("similarity", "Similarity against accuracy", legend, tuple(panels), shared=True)


def predicted(fit: MethodFit, ax: Axes | None = None) -> Figure:
    """Accuracy as a fit predicts it, against what was measured."""
    named = {"random": ("random", "random"), "hard": ("fitted hard", "found"), "easy": ("fitted easy", "easy")}
    dots = [Dots(*named[kind], points) for kind, points in fit.points.items() if points]
    return scatter(dots, "predicted accuracy, percent", ax=ax)


def predictions(s: EdgeSummary) -> Panels:
    """A figure for each method that was fitted."""
    panels = [
        Panel(predicted(m.fit), f"{m.method}: predicted against measured accuracy", m.method)
        for m in s.methods
        if m.fit and any(m.fit.points.values())
    ]
    legend = "Random: one training each, predicted by the fit to all others; fitted: mean over fresh seeds."
    return Panels("predicted", "Predicted against measured accuracy", legend, tuple(panels), shared=True)


# ------------------------------------------------------------------------------------------------ similarity of tasks


def between_tasks(data: RunResults, of: Similarity, pools: Sequence[Pool]) -> Panels:
    """How alike the tasks of some sequences are, a matrix each."""
    rank = {p.digest: i for i, p in enumerate(pools)}
    in_play = {c for s in data.sequences for task in s.tasks for c in task.classes}
    place = {c: i for i, c in enumerate(sorted(in_play, key=lambda c: (rank.get(c.pool, len(rank)), c.index)))}
    found = [(s, _between_tasks(s, of, place)) for s in _first_of_each(data.sequences)]
    values = np.concatenate([m[np.isfinite(m)] for _, m in found])
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
    panels = [
        Panel(matrix(m.tolist(), low, high), f"similarity of the tasks of {s.sequence_id}", s.sequence_id)
        for s, m in found
    ]
    legend = "Mean similarity of the classes of two tasks (diagonal: within the task), on one scale for all."
    return Panels("tasks", "Similarity of tasks", legend, tuple(panels))


def _first_of_each(sequences: Sequence[TaskSequence]) -> Iterator[TaskSequence]:
    """Some hard and easy sequences, and a random one."""
    for stem, most in (("hard-", MATRICES), ("easy-", MATRICES), ("random-", 1)):
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
