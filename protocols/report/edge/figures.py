"""The figures of an EDGE summary: strips, densities, bounds, S and predictions against accuracy, similarity of tasks."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from protocols.edge.fitted import MethodFit
from protocols.edge.results import EdgeResults
from protocols.edge.summary import EdgeSummary, MethodEdge
from protocols.report.edge.plan import S
from protocols.report.figures import COLOURS, SERIES, Panel, Panels, figure_of, sharing, styled
from protocols.report.maps import matrix
from protocols.report.scatter import Dots, Normal, densities, scatter
from protocols.report.shapes import Bar, bars, dotted, in_percent, in_rows
from protocols.report.text import interval, percent
from seqsearch.core.types import ClassId
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
    "named": ("named order", "given"),
    "hard": ("hard", "found"),
    "easy": ("easy", "easy"),
}
"""Groups of sequences: their names and colours; the last on top."""
OF_STRIPS = {"mean": ("mean of random sequences, 95 %", "random"), "paper": ("paper's estimate of the mean", "paper")}
MOST_CELLS = 10
"""Tasks whose similarities stand in words beside the matrix."""
MATRICES = 4
"""Sequences whose tasks are shown as a matrix, at most, of each kind."""


def figures(s: EdgeSummary, results: EdgeResults | None = None) -> list[Panels]:
    """All that there is something for; the similarity of tasks is in the ``results``."""
    found = [strips(s), distributions(s), encoders(s), bounds(s), similarity(s), predictions(s)]
    if results and results.similarity:
        found.append(between_tasks(results.run, results.similarity, [p.digest for p in s.provenance.pools]))
    return [p for p in found if p.panels]


# ------------------------------------------------------------------------------------------------ accuracy


def strip(methods: Sequence[MethodEdge], ax: Axes | None = None) -> Figure:
    """A row a method; a cross for the paper, diamonds for extremes, dots for random sequences, and their mean with its interval
    stand below each other, so that none hides another."""
    kinds: list[tuple[str, dict[str, Any], list[list[float]]]] = [
        ("paper", {"marker": "x", "markersize": 8, "markeredgewidth": 2.2}, [_paper(m) for m in methods]),
        ("hard", {"marker": "D", "markersize": 7}, [m.groups["hard"].means.tolist() for m in methods]),
        ("easy", {"marker": "D", "markersize": 7}, [m.groups["easy"].means.tolist() for m in methods]),
        ("named", {"marker": "s", "markersize": 6}, [m.groups["named"].means.tolist() for m in methods]),
        ("random", {"faint": True}, [m.groups["random"].first.tolist() for m in methods]),
        ("mean", {"marker": "|", "markersize": 12, "markeredgewidth": 2.2}, [_mean(m) for m in methods]),
    ]
    there = [kind for kind in kinds if any(kind[2])]
    with styled():
        ax = in_rows(ax, [m.method for m in methods], 12 * len(there))
        for lane, (name, way, values) in enumerate(there):
            down = 0.68 * (lane + 0.5) / len(there) - 0.34
            places = [(x, i + down) for i, of in enumerate(values) for x in of]
            called, colour = GROUPS.get(name) or OF_STRIPS[name]
            dotted(ax, [x for x, _ in places], [y for _, y in places], colour, called, **way)
            for i, m in enumerate(methods if name == "mean" else ()):
                if m.estimate and math.isfinite(m.estimate.mean.low):
                    ax.plot([m.estimate.mean.low, m.estimate.mean.high], [i + down] * 2, color=COLOURS["random"])
        ax.grid(visible=False, axis="y")
        ax.set_xlabel("final accuracy, percent")
        in_percent(ax.xaxis)
        return figure_of(ax)


def _mean(m: MethodEdge) -> list[float]:
    return [m.estimate.mean.value] if m.estimate else []


def _paper(m: MethodEdge) -> list[float]:
    return [m.paper.mean.value] if m.paper else []


def strips(s: EdgeSummary) -> Panels:
    """One figure of all methods."""
    there = [m for m in s.methods if any(len(m.groups[n]) for n in ("random", "hard", "easy"))]
    label = "; ".join(f"{m.method}: {', '.join(_in_words(m))}" for m in there)
    panels = (Panel(strip(there), label, wide=True),) if there else ()
    legend = "Dots: random sequences, one training each. Diamonds: extremes, means over seeds; cross: the paper's three orders."
    return Panels("strips", "Random, hard and easy sequences", legend, panels, shared=True)


def _in_words(m: MethodEdge) -> Iterator[str]:
    if len(random := m.groups["random"].first):
        yield f"random sequences {percent(float(random.min()))} to {percent(float(random.max()))} %"
    if m.estimate:
        yield f"mean {interval(m.estimate.mean)} %"
    for end in ("hard", "easy", "named"):
        yield from (f"{end} {percent(float(a))} %" for a in m.groups[end].means)
    yield from (f"paper's estimate {percent(a)} %" for a in _paper(m))


def distribution(m: MethodEdge, ax: Axes | None = None) -> Figure:
    """Normals fitted to a few sequences, over the truth where it is known."""
    truth = m.truth.sequences.means.tolist() if m.truth else []
    marked = [_marks(m, side) for side in (*(() if truth else ("random",)), "hard", "easy")]
    return densities(
        _normals(m),
        truth,
        [d for d in marked if d.points],
        "final accuracy, percent",
        values_name="every sequence, the truth",
        ax=ax,
    )


def _normals(m: MethodEdge) -> list[Normal]:
    normals = (
        [Normal("normal of random sequences", "random", m.estimate.mean.value, m.estimate.sd)] if m.estimate else []
    )
    if m.paper:
        normals.append(Normal("paper's normal", "paper", m.paper.mean.value, m.paper.sd))
    if m.rs:
        normals.append(Normal("normal of RS", "given", m.rs.mu, m.rs.sigma))
    return normals


def _marks(m: MethodEdge, side: str) -> Dots:
    return Dots(*GROUPS[side], tuple((float(v), 0.0) for v in m.groups[side].means))


def distributions(s: EdgeSummary) -> Panels:
    """A figure a method."""
    panels = []
    for m in [m for m in s.methods if m.estimate]:
        label = "; ".join(f"{n.name}: mean {percent(n.mu)} %, sd {percent(n.sigma)} points" for n in _normals(m))
        panels.append(Panel(distribution(m), f"{m.method}: {label}", m.method))
    legend = "Curves: normals fitted to a few sequences; short lines: single sequences."
    return Panels("distribution", "Estimated distribution", legend, tuple(panels), shared=True)


def encoders(s: EdgeSummary) -> Panels:
    """EDGE's estimate by each source of similarity, over the truth (Fig. 4); nothing for fewer than two sources."""
    panels = []
    for m in s.methods:
        known = [(a.name, a.fit) for a in (m.truth.encoders if m.truth else ()) if a.fit]
        truth = m.truth.sequences.means.tolist() if m.truth else []
        for part in sharing(known) if len(known) > 1 else ():
            normals = [
                Normal(name, colour, fit.mu, fit.sigma) for (name, fit), colour in zip(part, SERIES, strict=False)
            ]
            figure = densities(normals, truth, (), "final accuracy, percent", values_name="every sequence, the truth")
            label = "; ".join(f"{n.name}: mean {percent(n.mu)} %, sd {percent(n.sigma)} points" for n in normals)
            panels.append(Panel(figure, f"{m.method}: {label}", m.method))
    legend = (
        "Curves: normals fitted to the first hard, random and easy sequence by each source of similarity (--encoders)."
    )
    return Panels("encoders", "Estimates by source of similarity", legend, tuple(panels))


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
    label = "; ".join(f"{row.name}: {percent(row.low)} to {percent(row.high)} %" for row in rows)
    panels = (Panel(bars(rows, "final accuracy, percent"), label, wide=True),) if rows else ()
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
        Panel(against_similarity(m), f"{m.method}, S and accuracy: {_ranges(_by_similarity(m), S.text)}", m.method)
        for m in s.methods
        if _by_similarity(m)
    ]
    legend = "Each dot is a sequence."
    return Panels("similarity", "Similarity against accuracy", legend, tuple(panels), shared=True)


def predicted(fit: MethodFit, ax: Axes | None = None) -> Figure:
    """Predicted against measured accuracy."""
    return scatter(_by_prediction(fit), "predicted accuracy, percent", "measured accuracy, percent", ax=ax)


def _by_prediction(fit: MethodFit) -> list[Dots]:
    named = {"random": ("random", "random"), "hard": ("fitted hard", "found"), "easy": ("fitted easy", "easy")}
    return [Dots(*named[kind], points) for kind, points in fit.points.items() if points]


def _ranges(groups: Sequence[Dots], x_text: Callable[[float], str]) -> str:
    """From where to where the points of each group go."""
    label = []
    for group in groups:
        x, y = (sorted(values) for values in zip(*group.points, strict=True))
        label.append(f"{group.name} {x_text(x[0])} to {x_text(x[-1])}, {percent(y[0])} to {percent(y[-1])} %")
    return "; ".join(label)


def predictions(s: EdgeSummary) -> Panels:
    """A figure for each method that was fitted."""
    panels = [
        Panel(
            predicted(m.fit),
            f"{m.method}, predicted and measured: {_ranges(_by_prediction(m.fit), lambda x: f'{percent(x)} %')}",
            m.method,
        )
        for m in s.methods
        if m.fit and any(m.fit.points.values())
    ]
    legend = "Random: one training each, predicted by the fit to all others; fitted: mean over fresh seeds."
    return Panels("predicted", "Predicted against measured accuracy", legend, tuple(panels), shared=True)


# ------------------------------------------------------------------------------------------------ similarity of tasks


def between_tasks(data: RunResults, of: Similarity, pools: Sequence[str]) -> Panels:
    """How alike the tasks of some sequences are, a matrix each; ``pools`` are digests, in the order of the run."""
    rank = {digest: i for i, digest in enumerate(pools)}
    in_play = {c for s in data.sequences for task in s.tasks for c in task.classes}
    place = {c: i for i, c in enumerate(sorted(in_play, key=lambda c: (rank.get(c.pool, len(rank)), c.index)))}
    found = [(s, _between_tasks(s, of, place)) for s in _first_of_each(data.sequences)]
    values = np.concatenate([m[np.isfinite(m)] for _, m in found])
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
    panels = [
        Panel(
            matrix(m.tolist(), low, high, "task", "mean similarity"),
            f"tasks of {s.sequence_id}: {_cells(m)}",
            s.sequence_id,
        )
        for s, m in found
    ]
    legend = "Mean similarity of the classes of two tasks (diagonal: within the task), on one scale for all."
    return Panels("tasks", "Similarity of tasks", legend, tuple(panels))


def _cells(m: NDArray[np.float64]) -> str:
    """A matrix in words, row by row; of many tasks its ends."""
    if len(m) > MOST_CELLS:
        return f"{np.nanmin(m):.3g} to {np.nanmax(m):.3g}"
    return "; ".join(f"{t}: {', '.join(f'{v:.3g}' for v in row)}" for t, row in enumerate(m, 1))


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
