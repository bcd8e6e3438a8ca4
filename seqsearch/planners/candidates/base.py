"""Base of samplers of candidate tasks: the request to a sampler, and the two functions that samplers share.

A sampler is a module beside this one with one pure function ``propose(request) -> list[tuple[int, ...]]``. It returns
distinct tasks (as sets), at most ``request.count``, in the order they were proposed. The classes of a task stand in the
order they were chosen. Fewer tasks than requested are normal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from seqsearch.core.errors import UserError
from seqsearch.features.many_potentials import ManyPotentials

Proposal = tuple[int, ...]

_PATIENCE = 1000
"""Draws in a row that bring no new task before a random sampler concludes that there is none."""


@dataclass(frozen=True, eq=False)
class CandidateRequest:
    """A question to a sampler: up to ``count`` tasks of ``k`` classes each.

    ``classes`` ``[n]`` are the classes still available (any distinct integers, indices into ``psi`` where it is given).
    ``psi`` ``[N, N]`` are pair potentials in [0, 1] (`seqsearch.features.geometry.potentials`); greedy needs them. ``groups``
    ``[n]`` are group numbers, aligned with ``classes``; group_uniform needs them. ``first`` ``[n]`` are probabilities
    of the first class, aligned with ``classes``; greedy takes them, None means uniform.

    Raises:
        UserError: fewer than ``k`` classes are left.
        ValueError: arrays that do not fit together.
    """

    classes: NDArray[np.int64]
    k: int
    count: int
    rng: np.random.Generator
    psi: NDArray[np.float64] | ManyPotentials | None = None
    groups: NDArray[np.int64] | None = None
    first: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        n = len(self.classes)
        if self.k < 1 or self.count < 1:
            raise ValueError(f"classes per task and tasks asked for must be at least 1, not {self.k} and {self.count}")
        if self.k > n:
            raise UserError(
                f"a task of {self.k} classes cannot be drawn from the {n} left: "
                "use fewer or smaller tasks, or a larger pool"
            )
        if len(np.unique(self.classes)) != n:
            raise ValueError("classes must be distinct")
        if self.groups is not None and len(self.groups) != n:
            raise ValueError(f"{n} classes need as many groups, not {len(self.groups)}")
        if self.first is not None and (len(self.first) != n or np.min(self.first) < 0 or not np.sum(self.first) > 0):
            raise ValueError("first must hold one probability per class, none negative, not all zero")


def draw_distinct(draw: Callable[[], Iterable[int]], count: int, possible: int) -> list[Proposal]:
    """Call ``draw`` until ``count`` distinct tasks, all that are ``possible``, or nothing new for a long while."""
    tasks: dict[frozenset[int], Proposal] = {}
    misses = 0
    while len(tasks) < min(count, possible) and misses < _PATIENCE:
        task = tuple(int(c) for c in draw())
        known = len(tasks)
        tasks.setdefault(frozenset(task), task)
        misses = misses + 1 if len(tasks) == known else 0
    return list(tasks.values())
