"""``seqsearch check`` of trainings that are killed: interrupted at checkpoints, do they go on to the very same bits?"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from seqsearch.core.types import StateKey
from seqsearch.methods.base import FitReport, Method
from seqsearch.methods.data import Progress, TaskData
from seqsearch.states.blocks import State
from seqsearch.states.under_way import forget
from seqsearch.study.check_subject import Subject
from seqsearch.training.checkpoints import Checkpoints
from seqsearch.training.process import seed_generators
from seqsearch.training.scenario import learned


class Interrupted(BaseException):
    """Ends a training as a signal would: a method does not take it for an error of its own."""


@dataclass(eq=False)
class _Interrupting:
    """Passes on to ``progress``, and interrupts after ``stop`` checkpoints; 0: never."""

    progress: Progress
    stop: int = 0
    left: int = 0

    def found(self, phase: str) -> dict[str, Any] | None:
        return self.progress.found(phase)

    def leave(self, phase: str, state: Callable[[], dict[str, Any]], last: bool = False) -> None:
        self.progress.leave(phase, state, last)
        self.left += 1
        if self.left == self.stop:
            raise Interrupted


def resumed(subject: Subject, key: StateKey, before: State | None, phases: Sequence[str]) -> State:
    """Learn the last task of ``key`` from the state ``before`` it (None: it is the first) with interruptions, in the middle of
    each of the ``phases`` of checkpoints that this training leaves: what is learned then. Checkpoints are left after every epoch,
    and what was done before an interruption is not done again."""
    world = replace(subject.world, checkpoint_seconds=0.0)
    try:
        for stop in (*(b - a for a, b in pairwise([0, *middles(phases)])), 0):
            try:
                found = _learn(subject, key, before, _Interrupting(Checkpoints(world, key), stop))
            except Interrupted:
                continue
    finally:
        forget(Path(world.states), [key.digest])
    return found


def middles(phases: Sequence[str]) -> list[int]:
    """How many checkpoints there are up to the middle one of each phase, ascending."""
    at: dict[str, list[int]] = {}
    for n, phase in enumerate(phases, 1):
        at.setdefault(phase, []).append(n)
    return sorted(numbers[(len(numbers) - 1) // 2] for numbers in at.values())


def _learn(subject: Subject, key: StateKey, before: State | None, progress: Progress) -> State:
    """What a new instance of the method has learned then."""
    trainer = subject.trainer
    method: Method = trainer.fresh(key) if before is None else trainer.restore(key.parent, copy.deepcopy(before))

    def fit(data: TaskData) -> FitReport:
        return subject.trainings.watched(lambda: method.fit_task(replace(data, progress=progress)))

    seed_generators(key.home, "learn")
    trainer.scenario.learn(method, key, fit)
    return copy.deepcopy(learned(method))
