"""Reorders the tasks of a sequence, or regroups its own classes into other tasks. The first task stays."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from seqsearch.core.digests import seeded_numpy
from seqsearch.core.types import Tasks
from seqsearch.planners.step import PoolView

MOST_LISTED = 5000
"""Reorderings or regroupings that are listed to draw from; of more, repeated ones are drawn again."""
T = TypeVar("T", bound=Hashable)


def reorderings(tasks: Tasks) -> int:
    """How many orders there are besides the one given, the first task staying first."""
    return math.factorial(len(tasks) - 1) - 1


def regroupings(tasks: Tasks) -> int:
    """How many assignments to tasks of these sizes, in any order, there are in which some task holds other classes."""
    sizes = [len(task.classes) for task in tasks[1:]]
    every = math.factorial(sum(sizes)) // math.prod(map(math.factorial, sizes))
    own = math.factorial(len(sizes))
    return every * (own // math.prod(map(math.factorial, Counter(sizes).values()))) - own


def reordered(tasks: Tasks, count: int, seed: int, name: str) -> tuple[Tasks, ...]:
    """``count`` orders of ``tasks`` other than their own, uniform without repetition, or all there are.

    ``name`` is that of the sequence: together with ``seed`` it decides the draw.
    """
    n, population = len(tasks) - 1, reorderings(tasks)
    own = tuple(range(n))
    rng = seeded_numpy("reordered", seed, name)
    if population <= MOST_LISTED:
        chosen = _some([p for p in itertools.permutations(own) if p != own], count, rng)
    else:
        orders = (tuple(rng.permutation(n).tolist()) for _ in itertools.count())
        chosen = list(itertools.islice(_unrepeated(o for o in orders if o != own), count))
    return tuple((tasks[0], *(tasks[1 + i] for i in order)) for order in chosen)


def regrouped(tasks: Tasks, view: PoolView, count: int, seed: int, name: str) -> tuple[Tasks, ...]:
    """``count`` assignments of the classes of ``tasks`` to tasks of the same sizes, in other groups than their own.

    Uniform among those in which some task holds other classes than any of the tasks given, without repetition, or all there are.
    Sizes come in any order, too, as in `reordered`: what regroupings and reorderings differ in is who is with whom.
    """
    classes = sorted(c for task in tasks[1:] for c in task.classes)
    sizes = [len(task.classes) for task in tasks[1:]]
    own = frozenset(task.classes for task in tasks[1:])
    population = regroupings(tasks)
    rng = seeded_numpy("regrouped", seed, name)
    if population <= MOST_LISTED:
        orders = sorted(set(itertools.permutations(sizes))) if len(set(sizes)) > 1 else [tuple(sizes)]
        every = (g for order in orders for g in _assignments(classes, order))
        chosen = _some([g for g in every if frozenset(g) != own], count, rng)
    else:
        draws = (np.split(rng.permutation(len(classes)), _ends(sizes, rng)) for _ in itertools.count())
        groups = (tuple(tuple(sorted(classes[i] for i in part)) for part in parts) for parts in draws)
        chosen = list(itertools.islice(_unrepeated(g for g in groups if frozenset(g) != own), count))
    return tuple((tasks[0], *map(view.task, groups)) for groups in chosen)


def _ends(sizes: Sequence[int], rng: np.random.Generator) -> NDArray[np.int64]:
    """Where tasks of these sizes end, in random order; equal ones take no random numbers."""
    return np.cumsum(rng.permutation(sizes) if len(set(sizes)) > 1 else sizes)[:-1]


def _some(every: Sequence[T], count: int, rng: np.random.Generator) -> list[T]:
    if count >= len(every):
        return list(every)
    return [every[i] for i in sorted(rng.choice(len(every), count, replace=False).tolist())]


def _unrepeated(draws: Iterator[T]) -> Iterator[T]:
    seen: set[T] = set()
    for draw in draws:
        if draw not in seen:
            seen.add(draw)
            yield draw


def _assignments(classes: Sequence[T], sizes: Sequence[int]) -> Iterator[tuple[tuple[T, ...], ...]]:
    """All ways to give the classes to tasks of these sizes, one after the other."""
    if not sizes:
        yield ()
        return
    for group in itertools.combinations(classes, sizes[0]):
        rest = [c for c in classes if c not in group]
        for others in _assignments(rest, sizes[1:]):
            yield (group, *others)
