"""``seqsearch check`` of trainings that are killed: interrupted at checkpoints, do they go on to the very same bits?"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from seqsearch.core.types import StateKey
from seqsearch.methods.base import FitReport, Method
from seqsearch.methods.data import NoProgress, Progress, TaskData
from seqsearch.states.blocks import State
from seqsearch.states.under_way import forget
from seqsearch.training.checkpoints import Checkpoints
from seqsearch.training.process import seed_generators
from seqsearch.training.scenario import learned
from seqsearch.training.trainer import Trainer


class Interrupted(BaseException):
    """Ends a training as a signal would: a method does not take it for an error of its own."""


@dataclass(eq=False)
class _Interrupting:
    """Passes on to ``progress``, and interrupts after ``stop`` checkpoints; 0: never."""

    progress: Progress
    stop: int = 0
    phases: list[str] = field(default_factory=list)
    """Of each checkpoint."""

    def found(self, phase: str) -> dict[str, Any] | None:
        return self.progress.found(phase)

    def leave(self, phase: str, state: Callable[[], dict[str, Any]], last: bool = False) -> None:
        self.progress.leave(phase, state, last)
        self.phases.append(phase)
        if len(self.phases) == self.stop:
            raise Interrupted


@dataclass(frozen=True, eq=False)
class Twice:
    """What was learned of a task without and with interruptions, which were in these ``phases``; none without checkpoints."""

    whole: State
    resumed: State
    phases: Sequence[str] = ()


def learned_twice(trainer: Trainer, key: StateKey, before: State | None) -> Twice:
    """Learn the last task of ``key`` from the state ``before`` it (None: it is the first), also with interruptions, in the middle
    of each phase. All begin as they do in a run, by the seeds of the key; checkpoints are left after every epoch."""
    counted = _Interrupting(NoProgress())
    whole = _learn(trainer, key, before, counted)
    at = middles(counted.phases)
    if not at:
        return Twice(whole, whole)
    world = replace(trainer.world, checkpoint_seconds=0.0)
    try:
        for stop in (
            *(b - a for a, b in pairwise([0, *at])),
            0,
        ):  # what was done before an interruption is not done again
            try:
                resumed = _learn(trainer, key, before, _Interrupting(Checkpoints(world, key), stop))
            except Interrupted:
                continue
    finally:
        forget(Path(world.states), [key.digest])
    return Twice(whole, resumed, tuple(dict.fromkeys(counted.phases)))


def middles(phases: Sequence[str]) -> list[int]:
    """How many checkpoints there are up to the middle one of each phase, ascending."""
    at: dict[str, list[int]] = {}
    for n, phase in enumerate(phases, 1):
        at.setdefault(phase, []).append(n)
    return sorted(numbers[(len(numbers) - 1) // 2] for numbers in at.values())


def _learn(trainer: Trainer, key: StateKey, before: State | None, progress: Progress) -> State:
    """What a new instance of the method has learned then."""
    method: Method = trainer.fresh(key) if before is None else trainer.restore(key.parent, copy.deepcopy(before))

    def fit(data: TaskData) -> FitReport:
        return method.fit_task(replace(data, progress=progress))

    seed_generators(key.home, "learn")
    trainer.scenario.learn(method, key, fit)
    return copy.deepcopy(learned(method))
