"""Evaluators that train in this process and misbehave: for studies that must find the same, or report a failure."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

from seqsearch.core.types import Edge, StateKey
from seqsearch.engine.evaluator import Job, JobResult
from seqsearch.engine.inline import InlineEvaluator
from seqsearch.training.world import World


class Shuffled(InlineEvaluator):
    """Finishes jobs in an order of its own."""

    def __init__(self, world: World, seed: int) -> None:
        super().__init__(world)
        self.random = random.Random(seed)

    def wait(self, timeout: float | None = None) -> list[tuple[Job, JobResult]]:
        self.random.shuffle(self._queue)
        return super().wait()


class Dies(Exception):
    """Stands for a kill of the driver."""


class Mortal(InlineEvaluator):
    """Dies after some results."""

    def __init__(self, world: World, lives: int) -> None:
        super().__init__(world)
        self.lives = lives

    def wait(self, timeout: float | None = None) -> list[tuple[Job, JobResult]]:
        if self.lives == 0:
            raise Dies
        self.lives -= 1
        return super().wait()


class Stricken(InlineEvaluator):
    """Trainings of states that are stricken diverge."""

    def __init__(self, world: World, stricken: Callable[[StateKey], bool]) -> None:
        super().__init__(world)
        self.stricken = stricken

    def wait(self, timeout: float | None = None) -> list[tuple[Job, JobResult]]:
        job, result = super().wait(timeout)[0]
        if isinstance(job, Edge) and self.stricken(job.key):
            result = replace(result, status="diverged", message=f"NaN at step {len(job.key.prefix)}")
        return [(job, result)]
