"""A clustered heat map of a similarity: similar classes are neighbours, with the tree of the clustering."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from seqsearch.core.text import shown
from seqsearch.storage.files import atomic_path

if TYPE_CHECKING:
    from seqsearch.similarity.matrix import Similarity

ENDINGS = (".png", ".svg", ".pdf")
NAMED = 60
"""Classes whose names fit on the axes."""
OPTIMAL = 1200
"""Classes up to which leaves are put in the optimal order: 2 s, and 22 s for twice as many."""
LONGEST = 36
"""Characters of a name on an axis."""
TAILS = (0.5, 99.5)
"""Percentiles of pairs at which the colours end: a few outliers would leave one colour to all others."""
FEW = 200
"""Fewer pairs have no outliers: the colours end with them."""
TREE = 0.16
"""Width of the tree, as a share of the map's."""


def write_heatmap(similarity: Similarity, path: Path) -> None:
    """Write the heat map as ``.png``, ``.svg`` or ``.pdf``: average linkage on (largest similarity - similarity).

    Raises:
        UserError: the file cannot be written.
    """
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    ending = path.suffix.lower()
    undated = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(ending)
    with rc_context({"text.parse_math": False, "svg.hashsalt": "seqsearch"}), warnings.catch_warnings(action="ignore"):
        # what is ignored: letters that the font lacks
        figure = Figure(figsize=_inches(similarity), layout="constrained")
        FigureCanvasAgg(figure)
        _draw(figure, similarity, cluster(similarity))
        with atomic_path(path) as temporary:
            figure.savefig(temporary, format=ending[1:], dpi=_dots(len(similarity)), metadata=undated)


def cluster(similarity: Similarity) -> NDArray[np.float64]:
    """The tree of average linkage ``[N - 1, 4]`` (scipy); leaves in the optimal order for up to `OPTIMAL` classes."""
    from scipy.cluster.hierarchy import linkage, optimal_leaf_ordering

    pairs = similarity.pairs()
    distances = pairs.max() - pairs
    tree = linkage(distances, "average")
    return optimal_leaf_ordering(tree, distances) if len(similarity) <= OPTIMAL else tree


def _inches(similarity: Similarity) -> tuple[float, float]:
    side, names = _side(len(similarity)), 2.2 if len(similarity) <= NAMED else 0.0
    return side * (1 + TREE) + names + 1.0, side + names + 0.4


def _side(classes: int) -> float:
    """Of the map, in inches: names stand 0.16 apart."""
    return min(10.0, max(3.6, 0.16 * classes))


def _dots(classes: int) -> float:
    """Per inch: a class of a large pool is still a pixel wide."""
    return max(160.0, min(300.0, classes / _side(classes)))


def _draw(figure: Any, similarity: Similarity, tree: NDArray[np.float64]) -> None:
    from matplotlib import colormaps

    names, pairs = similarity.names, similarity.pairs()
    left, middle = figure.subplots(1, 2, width_ratios=[TREE, 1], gridspec_kw={"wspace": 0.0})
    order = _draw_tree(left, tree)
    values = similarity.values[np.ix_(order, order)]
    np.fill_diagonal(values, np.nan)
    low, high = _colour_range(np.asarray(pairs, np.float64))
    image = middle.imshow(
        values, cmap=colormaps["viridis"].with_extremes(bad="white"), vmin=low, vmax=high, aspect="auto"
    )
    _name(middle, [shown(names[i]) for i in order])
    ends = {(False, False): "neither", (True, False): "min", (False, True): "max", (True, True): "both"}
    extend = ends[bool(pairs.min() < low), bool(pairs.max() > high)]
    figure.colorbar(
        image, ax=middle, extend=extend, label="similarity", shrink=0.6, aspect=30, pad=0.02
    ).ax.tick_params(labelsize=8)
    figure.suptitle(shown(similarity.source), fontsize=8, x=0.01, ha="left", wrap=True)


def _draw_tree(axes: Any, tree: NDArray[np.float64]) -> NDArray[np.int64]:
    """Draw the dendrogram; the order of its leaves ``[N]``, from top to bottom."""
    from scipy.cluster.hierarchy import dendrogram

    deepest = sys.getrecursionlimit()
    sys.setrecursionlimit(max(deepest, 4 * len(tree) + 1000))  # scipy goes down the tree by recursion
    try:
        drawn = dendrogram(
            tree, orientation="left", ax=axes, color_threshold=0, above_threshold_color="#555555", no_labels=True
        )
    finally:
        sys.setrecursionlimit(deepest)
    for lines in axes.collections:
        lines.set_linewidth(0.8 if len(tree) < NAMED else 0.3)
    axes.invert_yaxis()
    axes.set_axis_off()
    return np.array(drawn["leaves"], dtype=np.int64)


def _colour_range(pairs: NDArray[np.float64]) -> tuple[float, float]:
    low, high = np.percentile(pairs, TAILS)
    if low == high or len(pairs) < FEW:
        low, high = pairs.min(), pairs.max()
    return float(low), float(high)


def _name(axes: Any, names: list[str]) -> None:
    axes.tick_params(length=0, labelsize=7)
    if len(names) > NAMED:
        axes.set_xticks([])
        axes.set_yticks([])
        axes.set_xlabel(f"{len(names)} classes, in the order of the tree", fontsize=8)
        return
    short = [n if len(n) <= LONGEST else n[: LONGEST - 1] + "…" for n in names]
    axes.set_xticks(range(len(short)), short, rotation=90)
    axes.set_yticks(range(len(short)), short)
    axes.yaxis.tick_right()
