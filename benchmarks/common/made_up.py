"""Rollouts and results that are made up, for measurements of the driver alone."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from seqsearch.core.bits import packed
from seqsearch.core.outcomes import HEAD, ClassifierCounts, Counts, EdgeResult
from seqsearch.core.types import ClassId, Edge, MethodSpec, Prefix, Rollout, StateKey, Task
from seqsearch.planners.base import Ask, CoroutinePlanner, Need, PlanSteps

METHOD = MethodSpec("sleeper", "sleeper", "none", (), "sleeper")
CLASSES = 10
"""Of a task, in made-up results."""


def result_of(edge: Edge) -> EdgeResult:
    """A made-up accuracy row of the size of a real one."""
    state, (evaluated, head) = edge.key.digest, counts(len(edge.key.prefix))
    return EdgeResult(edge.digest, state, "ok", evaluated, (head,), trained=(state,), feature_space="space", worker="w")


def counts(n: int) -> tuple[Counts, ClassifierCounts]:
    """Images evaluated after ``n`` tasks, and 3 in 5 of them right (4 among the classes of their own task)."""
    evaluated, right, masked = (((images,) * CLASSES,) * n for images in (5, 3, 4))
    images = packed(np.tile([True, True, True, False, False], n * CLASSES))
    return evaluated, ClassifierCounts(HEAD, right, masked, images)


class Sequences(CoroutinePlanner):
    """Asks for a window of rollouts at a time, and for the next as soon as the oldest is evaluated."""

    name = "sequences"

    def __init__(self, sequences: Iterable[Prefix], window: int) -> None:
        super().__init__()
        self._sequences, self._window = sequences, window

    def plan(self) -> PlanSteps:
        asked: list[Rollout] = []
        for tasks in self._sequences:
            rollout = Rollout(StateKey(METHOD, 0, 0, tasks))
            yield Ask((rollout,))
            asked.append(rollout)
            if len(asked) >= self._window:
                yield Need((asked.pop(0),))
        while asked:
            yield Need((asked.pop(0),))


def task(*numbers: int) -> Task:
    return Task(tuple(ClassId("pool", n) for n in numbers), "split")
