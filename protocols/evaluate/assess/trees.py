"""Distances of methods from vectors, and the tree of their clustering (a dendrogram)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Tree:
    """Methods by distance.

    Attributes:
        names: in the order of the leaves.
        distances: root mean square difference of their vectors ``[M, M]``, in that order.
        branches: lines of the dendrogram, each of four points: a height ``[4]`` and a place among the leaves ``[4]``, from 0.
    """

    names: tuple[str, ...]
    distances: NDArray[np.float64]
    branches: tuple[tuple[tuple[float, ...], tuple[float, ...]], ...]


def tree(vectors: Mapping[str, NDArray[np.float64]]) -> Tree | None:
    """Average linkage of the distances of vectors ``[d]``, leaves in the optimal order; None for fewer than two."""
    if len(vectors) < 2:
        return None
    from scipy.cluster.hierarchy import dendrogram, linkage
    from scipy.spatial.distance import pdist, squareform

    names, table = list(vectors), np.stack(list(vectors.values()))
    pairs = pdist(table) / np.sqrt(table.shape[1])
    drawn = dendrogram(linkage(pairs, "average", optimal_ordering=True), no_plot=True)
    order = list(drawn["leaves"] or ())
    branches = tuple(
        (tuple(map(float, heights)), tuple((place - 5) / 10 for place in places))
        for heights, places in zip(drawn["dcoord"], drawn["icoord"], strict=True)
    )
    return Tree(tuple(names[i] for i in order), squareform(pairs)[np.ix_(order, order)], branches)
