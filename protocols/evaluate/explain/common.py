"""Common properties of found classes: their groups, and their similarity within tasks, by names and by images.

Only tasks after the first are considered, because the first task is fixed. Found sequences are compared with classes
drawn from the pool, with their own classes regrouped, and with their own tasks in random order. Nothing is trained for
this.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from seqsearch.core.digests import seeded_numpy
from seqsearch.core.types import ClassId
from seqsearch.planners.step import PoolView
from seqsearch.results.rows import TaskSequence
from seqsearch.similarity.matrix import Similarity
from seqsearch.stats.interval import Float64
from seqsearch.stats.multiple import holm
from seqsearch.stats.quantiles import Place, place

DRAWS = 999
"""Random draws that a similarity is placed among."""
NEAREST = 5
"""Pairs of classes listed of each found sequence."""
Tasks = list[NDArray[np.int64]]
"""Places among the classes of the pool, task by task."""


@dataclass(frozen=True)
class GroupCount:
    """Classes of a group: ``found`` of the ``classes`` of a sequence, ``in_pool`` of those of the ``pool`` it could be made of.

    ``p``: of so many or more, had they been drawn at random (hypergeometric), Holm's over all groups and found sequences.
    """

    sequence: str
    group: str
    found: int
    classes: int
    in_pool: int
    pool: int
    p: float


@dataclass(frozen=True)
class SequenceSimilarity:
    """A mean similarity of a found sequence among those of random draws.

    Attributes:
        by: ``names`` or ``images``.
        about: ``content``: of all its classes, among as many drawn from the pool; ``grouping``: of classes of one task, among its
            classes regrouped; ``order``: of tasks that follow one another, among its tasks in random order.
        holm: the p-value, Holm's over all similarities of all found sequences.
    """

    sequence: str
    by: str
    about: str
    place: Place
    holm: float


@dataclass(frozen=True)
class Pair:
    """Two classes of one task that are most alike."""

    sequence: str
    by: str
    task: int
    first: str
    second: str
    similarity: float


@dataclass(frozen=True)
class Common:
    """Of all found sequences; ``notes`` say what is unknown."""

    groups: tuple[GroupCount, ...] = ()
    alike: tuple[SequenceSimilarity, ...] = ()
    pairs: tuple[Pair, ...] = ()
    notes: tuple[str, ...] = ()


def in_common(
    found: Sequence[TaskSequence], pool: PoolView, similarities: Mapping[str, Similarity], seed: int
) -> Common:
    """Of ``found`` sequences; ``similarities`` by what they are made of, of the classes of ``pool`` in their order."""
    at = {c: i for i, c in enumerate(pool.class_ids)}
    notes = []
    if max(pool.arrivals) > 1:
        notes.append("The pool grew: groups, and similarities to classes drawn from it, are not compared.")
    elif any(c not in at for s in found for t in s.tasks for c in t.classes):
        notes.append("Some classes are of an excluded group: groups and similarities are not compared.")
        return Common(notes=tuple(notes))
    groups = [] if notes else [g for s in found for g in _groups(s, pool, at)]
    alike = [
        a
        for s in found
        for by, m in similarities.items()
        for a in _similarity(s, by, np.asarray(m.values, np.float64), at, seed, not notes)
    ]
    return Common(
        tuple(replace(g, p=p) for g, p in zip(groups, holm([g.p for g in groups]), strict=True) if g.found),
        tuple(replace(a, holm=p) for a, p in zip(alike, holm([a.place.p for a in alike]), strict=True)),
        tuple(p for s in found for by, m in similarities.items() for p in _nearest(s, by, m, at)),
        tuple(notes),
    )


def _groups(s: TaskSequence, pool: PoolView, at: Mapping[ClassId, int]) -> list[GroupCount]:
    first = {at[c] for c in s.tasks[0].classes}
    there = Counter(g for i, g in enumerate(pool.groups) if i not in first)
    chosen = Counter(pool.groups[at[c]] for t in s.tasks[1:] for c in t.classes)
    n, M = sum(chosen.values()), sum(there.values())
    if len(there) < 2:
        return []
    return [
        GroupCount(s.sequence_id, g, chosen[g], n, k, M, float(stats.hypergeom.sf(chosen[g] - 1, M, k, n)))
        for g, k in sorted(there.items())
    ]


def _similarity(
    s: TaskSequence, by: str, S: Float64, at: Mapping[ClassId, int], seed: int, drawn: bool
) -> list[SequenceSimilarity]:
    tasks: Tasks = [np.array([at[c] for c in t.classes]) for t in s.tasks]
    own, ends = np.concatenate(tasks[1:]), np.cumsum([len(t) for t in tasks[1:]])[:-1]
    others = np.setdiff1d(np.arange(len(S)), tasks[0])
    rng = seeded_numpy("explain-similarity", seed, by, [t.digest for t in s.tasks])
    draws: dict[str, tuple[Callable[[Tasks], float], Callable[[], Tasks]]] = {
        "content": (
            lambda t: _within(S, [np.concatenate(t[1:])]),
            lambda: [tasks[0], rng.choice(others, len(own), replace=False)],
        ),
        "grouping": (lambda t: _within(S, t[1:]), lambda: [tasks[0], *np.split(rng.permutation(own), ends)]),
        "order": (lambda t: _between(S, t), lambda: [tasks[0], *(tasks[1 + i] for i in rng.permutation(len(tasks) - 1))]),
    }  # fmt: skip
    return [
        SequenceSimilarity(s.sequence_id, by, about, place(figure(tasks), [figure(draw()) for _ in range(DRAWS)]), 1.0)
        for about, (figure, draw) in draws.items()
        if (drawn or about != "content") and (about != "grouping" or max(len(t) for t in tasks[1:]) > 1)
    ]


def _within(S: Float64, tasks: Tasks) -> float:
    """Mean over tasks of the mean similarity of their pairs of classes; the diagonal of S is 0."""
    return float(np.mean([S[np.ix_(t, t)].sum() / (len(t) * (len(t) - 1)) for t in tasks if len(t) > 1]))


def _between(S: Float64, tasks: Tasks) -> float:
    """Mean similarity of classes of tasks that follow one another."""
    return float(np.mean([S[np.ix_(a, b)].mean() for a, b in pairwise(tasks)]))


def _nearest(s: TaskSequence, by: str, m: Similarity, at: Mapping[ClassId, int]) -> list[Pair]:
    found = []
    for number, task in enumerate(s.tasks[1:], 2):
        places = [at[c] for c in task.classes]
        found += [
            Pair(s.sequence_id, by, number, m.names[i], m.names[j], float(m.values[i, j]))
            for k, i in enumerate(places)
            for j in places[k + 1 :]
        ]
    return sorted(found, key=lambda p: -p.similarity)[:NEAREST]
