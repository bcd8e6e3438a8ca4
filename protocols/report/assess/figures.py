"""The figures of an assessment: Figs. 3, 4 and 14 to 17 of CLDyB."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from protocols.evaluate.assess.assessment import Assessment, MethodAssessment
from protocols.evaluate.assess.images import TaskMap
from protocols.evaluate.assess.trees import Tree, tree
from protocols.report.figures import COLOURS, HEIGHT, SERIES, WIDTH, Panel, Panels, axes_of, figure_of, styled, units
from protocols.report.labels import AXIS, labels
from protocols.report.maps import cells
from protocols.report.shapes import Bar, bars, dotted, in_percent
from protocols.report.table import seconds
from protocols.report.text import megabytes, percent, points

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LESS = "Methods that join further left differ less (root mean square difference, average linkage)."
OF_TRAJECTORIES = f"Acc after each task of the common sequences, in pp. {LESS}"
OF_TASKS = (
    "Similarity of all pairs of tasks of the sequences that were found for each method alone, from 0 (lowest of all methods) to "
    f"100. {LESS}"
)
MARKERS = "os^DvP"
"""Forms of points: tasks that share a colour differ in them."""


def figures(a: Assessment) -> list[Panels]:
    """All that can be drawn of these runs, the respects first."""
    found = [
        respects(a),
        trees("trajectories", "Distances of accuracy trajectories", tree(a.trajectories), OF_TRAJECTORIES),
        trees("similarity", "Distances of found sequences", tree(a.alike.vectors) if a.alike else None, OF_TASKS),
        maps(a),
    ]
    return [panels for panels in found if panels.panels]


# ------------------------------------------------------------------------------------------------ respects


def respects(a: Assessment) -> Panels:
    """A panel a method, a bar a respect (Fig. 3); longer is better."""
    most = {
        name: max((v for m in a.methods if (v := cost(m)) is not None), default=0) for name, (cost, _) in COSTS.items()
    }
    panels = []
    for m in a.methods:
        rows = [*_accuracies(m), *_costs(m, most)]
        if rows:
            drawn = [Bar(name, "", "random", 0.0, share, end=text) for name, share, text in rows]
            label = "; ".join(f"{bar.name}: {bar.end}" for bar in drawn)
            panels.append(Panel(bars(drawn, "percent, longer is better", x=(0, 1)), label, m.method))
    legend = (
        "Bars of accuracies are in percent, of AR 100 + AR. Bars of memory, training time, passes and latency are the share that "
        "is saved against the method with the most."
    )
    return Panels("respects", "Methods in all respects", legend, tuple(panels))


def _accuracies(m: MethodAssessment) -> Iterator[tuple[str, float, str]]:
    """Name, length of the bar, and text of each."""
    if m.common:
        value = {name: estimate.value.value for name, estimate in m.common.estimates.items()}
        yield "Acc", value["acc"], f"{percent(value['acc'])} %"
        yield "AR", 1 + value["ar"], f"{points(value['ar'])} pp"
        yield "ALA", value["ala"], f"{percent(value['ala'])} %"
    if m.own:
        own = m.own.estimates["acc"].value.value
        yield "robustness", own, f"{percent(own)} %"


COSTS: Mapping[str, tuple[Callable[[MethodAssessment], float | None], Callable[[float], str]]] = {
    "memory": (lambda m: m.stored, lambda stored: f"{megabytes(stored / 1e6)} MB"),
    "training time": (lambda m: m.seconds, lambda s: f"{seconds(s)} s"),
    "passes": (lambda m: m.inference.passes if m.inference else None, lambda passes: f"{passes:.2f}"),
    "latency": (lambda m: m.inference.seconds if m.inference else None, lambda s: f"{1000 * s:.3g} ms"),
}
"""Of which less is better: the figure, and its text."""


def _costs(m: MethodAssessment, most: Mapping[str, float]) -> Iterator[tuple[str, float, str]]:
    for name, (cost, text) in COSTS.items():
        value = cost(m)
        if value is not None and most[name]:
            yield name, 1 - value / most[name], text(value)


# ------------------------------------------------------------------------------------------------ trees


def trees(name: str, title: str, found: Tree | None, legend: str) -> Panels:
    """A dendrogram (Fig. 4), and the distances of methods in its order; nothing without a tree."""
    if found is None:
        return Panels(name, title, legend, ())
    pairs = {(i, j): d for (i, j), d in np.ndenumerate(found.distances) if i != j}
    names = [f"{name} {i}" for i, name in enumerate(labels(found.names, AXIS), 1)]
    words = "; ".join(f"{names[i]} and {names[j]}: {percent(d)}" for (i, j), d in pairs.items() if i < j)
    between = cells(pairs, names, [str(i) for i in range(1, len(names) + 1)])
    return Panels(
        name, title, legend, (Panel(dendrogram(found), words, "dendrogram"), Panel(between, words, "distances"))
    )


def dendrogram(found: Tree, ax: Axes | None = None) -> Figure:
    """Branches that begin at the names, at the left; distances to the right, as percent."""
    with styled():
        ax = axes_of(ax, WIDTH, 24 * len(found.names) + 60)
        for heights, places in found.branches:
            ax.plot(heights, places, color=COLOURS["text"], solid_joinstyle="miter", clip_on=False)
        ax.set_yticks(range(len(found.names)), labels(found.names, AXIS))
        ax.set_ylim(len(found.names) - 0.5, -0.5)
        ax.set_xlim(left=0)
        ax.set_xlabel("distance")
        ax.grid(visible=False, axis="y")
        ax.grid(visible=True, axis="x")
        in_percent(ax.xaxis)
        return figure_of(ax)


# ------------------------------------------------------------------------------------------------ maps


def maps(a: Assessment) -> Panels:
    """Maps of a common sequence, and of one that was found for each method alone (Figs. 14 to 17)."""
    legend = "Images by t-SNE: axes have no unit. Numbers count tasks, at the medians of their images."
    panels = tuple(Panel(points_of(found), _in_words(found), name) for name, found in a.maps.items())
    return Panels("tasks", "Tasks of found sequences", legend, panels)


def _in_words(found: TaskMap) -> str:
    return "; ".join(f"task {t + 1} at {x:.0f}, {y:.0f}" for t, (x, y) in enumerate(_medians(found)))


def _medians(found: TaskMap) -> NDArray[np.float64]:
    medians: NDArray[np.float64] = np.stack(
        [np.median(found.points[found.tasks == t], axis=0) for t in np.unique(found.tasks)]
    )
    return medians


def points_of(found: TaskMap, ax: Axes | None = None) -> Figure:
    """Points in colours and forms of their tasks, whose numbers stand among them."""
    with styled():
        ax = axes_of(ax, WIDTH, HEIGHT + 60)
        for t in np.unique(found.tasks):
            x, y = found.points[found.tasks == t].T
            marker = MARKERS[t // len(SERIES) % len(MARKERS)]
            dotted(ax, x, y, SERIES[t % len(SERIES)], marker=marker, markersize=units(5), faint=True)
        for t, (x, y) in enumerate(_medians(found)):
            ax.text(x, y, str(t + 1), ha="center", va="center", color=COLOURS[SERIES[t % len(SERIES)]], weight="bold")
        ax.set_xticks([])
        ax.set_yticks([])
        ax.set_xlabel("first axis")
        ax.set_ylabel("second axis")
        ax.grid(visible=False)
        ax.spines["bottom"].set_visible(False)
        return figure_of(ax)
