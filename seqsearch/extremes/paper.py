"""Algorithms 1 and 2 of EDGE as published: hierarchical clustering at several granularities, then a greedy order of tasks.

"The Lie of the Average: How Class Incremental Learning Evaluation Deceives You?", appendix C.2. What the paper leaves
open, or says in two ways, is an option of `PaperOptions`; the defaults are the pseudocode as it reads. Any N, K, sizes
and similarities work.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.cluster import hierarchy
from scipy.spatial.distance import squareform

from seqsearch.core.errors import UserError
from seqsearch.extremes.objective import Floats, Labels, Problem, in_order, labels_of

Direction = Literal["hard", "easy"]
Linkage = Literal["complete", "average", "single"]
Greedy = Literal["all", "latest"]
Easy = Literal["similarity", "printed"]
Split = Literal["large", "small"]

FACTORS = (0.5, 1.0, 1.5, 2.0, 3.0, 5.0)


@dataclass(frozen=True)
class PaperOptions:
    """How to read the paper where it is ambiguous.

    Attributes:
        linkage: of the clustering; the text says complete.
        granularities: numbers of clusters that are tried; the paper names none. Empty: .5, 1, 1.5, 2, 3 and 5 times K
            (at most N).
        greedy: the next task is chosen by its summed similarity to "all" tasks chosen so far (Algorithms 1 and 2, line
            15), or by that to the "latest" one (section 4.2).
        easy: similarities of tasks in Algorithm 2: of the classes' "similarity", which is meant, or of G = 1 - D as
            "printed" in line 3, which looks for the least similar task. The clustering is the same: line 4 makes its
            distances 1 - G = D.
        split: "large" clusters are cut into tasks and small ones kept (appendix C.2), or large ones are kept where they
            fit and "small" ones cut (section 4.2).
    """

    linkage: Linkage = "complete"
    granularities: tuple[int, ...] = ()
    greedy: Greedy = "all"
    easy: Easy = "similarity"
    split: Split = "large"

    def __post_init__(self) -> None:
        kinds = (("linkage", Linkage), ("greedy", Greedy), ("easy", Easy), ("split", Split))
        for name, kind in kinds:
            if getattr(self, name) not in get_args(kind):
                raise UserError(
                    f"paper option {name}={getattr(self, name)!r}: unknown; there are {', '.join(get_args(kind))}"
                )
        if any(g < 1 for g in self.granularities):
            raise UserError(f"paper option granularities={self.granularities}: numbers of clusters must be 1 or more")

    def numbers_of_clusters(self, n: int, k: int) -> list[int]:
        """The granularities tried for ``n`` classes and ``k`` tasks, in increasing order."""
        wanted = self.granularities or tuple(max(1, round(k * f)) for f in FACTORS)
        return sorted({min(n, g) for g in wanted})


def paper_labels(problem: Problem, direction: Direction, options: PaperOptions | None = None) -> Labels:
    """The sequence of Algorithm 1 ("hard") or 2 ("easy") [N]. Of equal ones the first wins: a function of the input."""
    options = options or PaperOptions()
    if problem.n == 1:
        return in_order(problem.sizes)
    similarity: Floats = np.asarray(problem.similarity, np.float64)
    distance = -similarity if direction == "hard" else similarity.copy()
    distance -= distance[
        ~np.eye(problem.n, dtype=bool)
    ].min()  # all three linkages cluster alike whatever is added to distances
    np.fill_diagonal(distance, 0.0)
    tree = hierarchy.linkage(squareform(distance, checks=False), options.linkage)
    seen = 1 - similarity if direction == "easy" and options.easy == "printed" else similarity
    sign = 1.0 if direction == "hard" else -1.0
    best, least = in_order(problem.sizes), np.inf
    for granularity in options.numbers_of_clusters(problem.n, problem.k):
        tasks = _merge(hierarchy.fcluster(tree, granularity, "maxclust"), problem.sizes, options.split)
        labels = labels_of([tasks[t] for t in _order(sign * seen, tasks, problem.sizes, options.greedy)])
        value = sign * (problem.score(labels) or 0.0)
        if value < least:
            best, least = labels, value
    return best


def _merge(cluster: NDArray[np.integer], sizes: tuple[int, ...], split: Split) -> list[list[int]]:
    """Tasks of the given sizes made of clusters, the largest cluster first, always into the task that has most room."""
    clusters = [np.flatnonzero(cluster == g).tolist() for g in np.unique(cluster)]
    clusters.sort(key=lambda c: (-len(c), c))
    tasks: list[list[int]] = [[] for _ in sizes]

    def roomiest() -> int:
        return max(range(len(sizes)), key=lambda t: (sizes[t] - len(tasks[t]), -t))

    base = max(sizes)
    for classes in clusters:
        whole = split == "large" and len(classes) <= base
        while classes:
            t = roomiest()
            taken = len(classes) if whole else sizes[t] - len(tasks[t])
            tasks[t] += classes[:taken]
            classes = classes[taken:]
    for full, size in zip(tasks, sizes, strict=True):
        while len(full) > size:  # what is too much, of the largest cluster first, goes to tasks that are not full
            tasks[roomiest()].append(full.pop(0))
    return tasks


def _order(similarity: Floats, tasks: list[list[int]], sizes: tuple[int, ...], greedy: Greedy) -> list[int]:
    """The greedy order (lines 12 to 18): least summed similarity first. A task is put only where its size belongs."""
    members = np.zeros((len(tasks), len(similarity)))
    for t, classes in enumerate(tasks):
        members[t, classes] = 1 / len(classes)
    its = members @ similarity @ members.T
    np.fill_diagonal(its, 0.0)
    chosen: list[int] = []
    left = np.ones(len(tasks), dtype=bool)
    own = np.array([len(t) for t in tasks])
    cost = its.sum(axis=1)
    for size in sizes:
        k = int(np.argmin(np.where(left & (own == size), cost, np.inf)))
        cost = its[k].copy() if greedy == "latest" or not chosen else cost + its[k]
        chosen.append(k)
        left[k] = False
    return chosen
