"""The method under test in ``seqsearch check``: trained for real on small tasks, and watched while it is."""

from __future__ import annotations

import copy
from dataclasses import replace
from itertools import pairwise

from seqsearch.core.types import MethodSpec, StateKey, Task
from seqsearch.methods.base import FitReport, Method
from seqsearch.methods.data import Batch, TaskData
from seqsearch.states.blocks import State
from seqsearch.study.check_watched import Recorder
from seqsearch.study.findings import disturbed
from seqsearch.training.scenario import learned
from seqsearch.training.trainer import Trainer
from seqsearch.training.world import World

FIRST, SECOND = range(4), range(4, 7)
"""Classes of the two tasks."""
OTHER = range(7, 11)
"""Of a task that another child of the first state learns."""
SIZES = (2, 5, 1)
"""Of three more tasks, which begin behind."""


class Subject:
    """The method under test.

    Attributes:
        tasks: of four and three classes.
        foreign: rows that a training read beside those it was given, of all that were watched.
        decoded: whether a training decoded images.
    """

    def __init__(self, world: World, spec: MethodSpec) -> None:
        self.world, self.spec, self.trainer = world, spec, Trainer(world)
        self.tasks = world.task(FIRST), world.task(SECOND)
        self.recorder = Recorder(self.trainer.source(spec.backbone))
        self.foreign: set[int] = set()
        self.decoded = False
        self._first: State = {}
        self._both: Method | None = None

    def key(self, *tasks: Task, seed: int = 0) -> StateKey:
        return StateKey(self.spec, seed, 0, tasks)

    def batch(self, *tasks: Task) -> Batch:
        """Images of some tasks that nothing was learned from, as they are judged."""
        rows, _ = self.world.rows(sum((task.classes for task in tasks), ()), "reward")
        return Batch(rows, self.trainer.source(self.spec.backbone))

    def learn(self, *tasks: Task, disturb: int = 0, seed: int = 0) -> Method:
        """A method of its own after these tasks, the global generators being in some state before each."""
        method = self.trainer.fresh(self.key(seed=seed))
        for n in range(1, len(tasks) + 1):
            self.go_on(method, *tasks[:n], disturb=disturb + n, seed=seed)
        return method

    def go_on(self, method: Method, *tasks: Task, disturb: int = 0, seed: int = 0) -> None:
        """Let it learn the last of ``tasks``, those before being known."""

        def fit(data: TaskData) -> FitReport:
            self.recorder.forget()
            report = method.fit_task(self.recorded(data))
            self.foreign |= (self.recorder.decoded | self.recorder.read) - data.readable
            self.decoded |= bool(self.recorder.decoded)
            return report

        disturbed(disturb)
        self.trainer.scenario.learn(method, self.key(*tasks, seed=seed), fit)

    def recorded(self, data: TaskData) -> TaskData:
        """The same data from the source that notes what is read."""

        def own(batch: Batch) -> Batch:
            return Batch(batch.indices, self.recorder, batch.labels)

        return replace(data, train=own(data.train), val=own(data.val))

    def first(self) -> State:
        """An own copy of the state after the first task."""
        self.both()
        return copy.deepcopy(self._first)

    def both(self) -> Method:
        """After both tasks: trained once, and handed to all who only look at it."""
        if self._both is None:
            method = self.learn(self.tasks[0], disturb=1)
            self._first = copy.deepcopy(learned(method))
            self.go_on(method, *self.tasks, disturb=1)
            self._both = method
        return self._both

    def forget(self) -> None:
        """Train again when it is asked for: something was changed meanwhile."""
        self._both = None

    def restored(self, state: State) -> Method:
        """A fresh instance with an own copy of a state after the first task."""
        return self.trainer.restore(self.key(self.tasks[0]), copy.deepcopy(state))

    def sized(self) -> list[Task]:
        """Tasks of other sizes, as many as it is built for."""
        ends = [OTHER.start, *(OTHER.start + sum(SIZES[: n + 1]) for n in range(len(SIZES)))]
        capacity = self.trainer.fresh(self.key()).caps.capacity
        return [self.world.task(range(a, b)) for a, b in pairwise(ends)][:capacity]
