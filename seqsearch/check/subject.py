"""The method under test in ``seqsearch check``: trained for real on small tasks, watched while it trains, and interrupted."""

from __future__ import annotations

import copy
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from seqsearch.backbones.base import Backbone, ReadsTexts
from seqsearch.check.findings import differing, disturbed, not_flat
from seqsearch.check.watched import Phases, Recorder, Trainings, has_third, planned
from seqsearch.core.types import MethodSpec, StateKey, Task
from seqsearch.methods.base import FitReport, Method
from seqsearch.methods.data import Batch, Progress, TaskData
from seqsearch.states.blocks import FROZEN, State
from seqsearch.states.cache import StateCache
from seqsearch.states.under_way import forget
from seqsearch.training.checkpoints import Checkpoints
from seqsearch.training.process import seed_generators
from seqsearch.training.scenario import learned
from seqsearch.training.trainer import Trainer
from seqsearch.training.world import World

POOL, CAPTIONED = "glyphs:classes=32", "glyphs:classes=32,captions=first"


def pool_for(backbone: Backbone) -> str:
    """The pool that methods on a backbone learn in the check: images, with texts if it reads them."""
    return CAPTIONED if isinstance(backbone, ReadsTexts) else POOL


FIRST, SECOND = range(4), range(4, 7)
"""Classes of the two tasks."""
OTHER = range(7, 11)
"""Of a task that another child of the first state learns."""
SIZES = (2, 5, 1)
"""Of three more tasks, which begin behind."""


class WrongForm(Exception):
    """Its state could not be stored."""


class Subject:
    """The method under test.

    Args:
        trainer: of this world, if there is one already.
        trainings: those of this check, if some were done already.

    Attributes:
        tasks: of four and three classes.
        foreign: rows that a training read beside those it was given, of all that were watched.
        decoded: whether a training decoded images.
        written: final entries of the state after the first task that the second changed, in words.
        phases: of the checkpoints of each of the two tasks.
        survived: learning rates at which a training did not diverge, though none should survive them; None if none were tried.
    """

    def __init__(
        self, world: World, spec: MethodSpec, trainer: Trainer | None = None, trainings: Trainings | None = None
    ) -> None:
        self.world, self.spec, self.trainer = world, spec, trainer or Trainer(world)
        self.trainings = trainings or Trainings()
        self.tasks = world.task(FIRST), world.task(SECOND)
        self.recorder = Recorder(self.trainer.source(spec.backbone))
        self.foreign: set[int] = set()
        self.decoded = False
        self.written = ""
        self.phases: tuple[Phases, ...] = ()
        self.survived: list[str] | None = None
        self._first: State = {}
        self._both: Method | None = None
        self._straight: Method | None = None
        self._gone_on: State | None = None

    def variant(self, **params: Any) -> Subject:
        """The same method with other values of some parameters."""
        spec = self.world.respecified(self.spec, {**dict(self.spec.params), **params}, self.spec.label)
        return Subject(self.world, spec, self.trainer, self.trainings)

    def key(self, *tasks: Task, seed: int = 0) -> StateKey:
        return StateKey(self.spec, seed, 0, tasks)

    def batch(self, *tasks: Task) -> Batch:
        """Images of some tasks that nothing was learned from, as they are evaluated."""
        rows, _ = self.world.rows(sum((task.classes for task in tasks), ()), "reward")
        return Batch(rows, self.trainer.source(self.spec.backbone))

    def learn(self, *tasks: Task, disturb: int = 0, seed: int = 0) -> Method:
        """A new instance after these tasks; with ``disturb`` the global generators are in another state before each."""
        method = self.trainer.fresh(self.key(seed=seed))
        for n in range(1, len(tasks) + 1):
            self.go_on(method, *tasks[:n], disturb=disturb and disturb + n, seed=seed)
        return method

    def go_on(
        self, method: Method, *tasks: Task, disturb: int = 0, seed: int = 0, phases: Phases | None = None
    ) -> None:
        """Let it learn the last of ``tasks``, those before being known; ``phases`` notes its checkpoints. The global generators
        are seeded as they are in a run, unless ``disturb`` is some other seed."""

        def fit(data: TaskData) -> FitReport:
            self.recorder.forget()
            given = replace(self.recorded(data), progress=phases or data.progress)
            report = self.trainings.watched(lambda: method.fit_task(given))
            self.foreign |= (self.recorder.decoded | self.recorder.read) - data.readable
            self.decoded |= bool(self.recorder.decoded)
            return report

        key = self.key(*tasks, seed=seed)
        seed_generators(key.home, "learn")
        if disturb:
            disturbed(disturb)
        self.trainer.scenario.learn(method, key, fit)

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
        """After both tasks: trained once, and handed to all who only look at it.

        Raises:
            WrongForm: its state after the first could not be stored.
        """
        if self._both is None:
            method, phases = self.trainer.fresh(self.key()), (Phases(), Phases())
            begins = self.trainings.done == 0
            self.go_on(method, self.tasks[0], phases=phases[0])
            if wrong := not_flat(method.state_dict()):
                raise WrongForm(wrong)
            first = learned(method)
            self._first = copy.deepcopy(first)
            self.go_on(method, *self.tasks, phases=phases[1])
            if begins:
                every, done = planned(method.config, method.caps, bool(phases[0].names)), self.trainings.done
                self.trainings.report(self.trainings.seconds, range(every.start - done, every.stop - done))
            final, now = ({n: v for n, v in s.items() if n.startswith(FROZEN)} for s in (self._first, first))
            self.written = differing(final, now)
            self._both, self.phases = method, phases
        return self._both

    def straight(self) -> Method:
        """Another one after both tasks, with the global generators in other states: trained once, and never restored."""
        if self._straight is None:
            self._straight = self.learn(*self.tasks, disturb=11)
        return self._straight

    def straight_on(self) -> Method:
        """The same, for whoever goes on with it."""
        method, self._straight = self.straight(), None
        return method

    def gone_on(self) -> State:
        """The state after both tasks of an instance that began with the state after the first, from a file."""
        if self._gone_on is None:
            again = self.restored(self.stored(self.first()))
            self.go_on(again, *self.tasks)
            self._gone_on = copy.deepcopy(learned(again))
        return self._gone_on

    def forget(self) -> None:
        """Train again when it is asked for: something was changed meanwhile."""
        self._both = self._straight = self._gone_on = None

    def restored(self, state: State, *tasks: Task) -> Method:
        """A fresh instance with an own copy of a state after tasks (the first, if none are named)."""
        return self.trainer.restore(self.key(*(tasks or self.tasks[:1])), copy.deepcopy(state))

    def stored(self, state: State) -> State:
        """A state as it comes back from a file."""
        Path(self.world.states).mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=self.world.states) as folder:
            StateCache(Path(folder)).put("checked", state, keep=True)
            found = StateCache(Path(folder)).get("checked")  # another one, which has nothing in memory
            assert found is not None
            return copy.deepcopy(found)

    def third(self) -> tuple[Task, ...]:
        """Both tasks and one more, if the method is built for as many."""
        more = (self.world.task(OTHER),) if has_third(self.trainer.fresh(self.key()).caps.capacity) else ()
        return (*self.tasks, *more)

    def sized(self) -> list[Task]:
        """Tasks of other sizes, as many as it is built for."""
        ends = [OTHER.start, *(OTHER.start + sum(SIZES[: n + 1]) for n in range(len(SIZES)))]
        capacity = self.trainer.fresh(self.key()).caps.capacity
        return [self.world.task(range(a, b)) for a, b in pairwise(ends)][:capacity]


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
    """The state after the last task of ``key``, learned from the state ``before`` it (None: it is the first) with interruptions.

    They come in the middle of each of the ``phases`` of checkpoints that this training leaves. Checkpoints are left after every
    epoch, and a training goes on from the last one.
    """
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
    """The state of a new instance after that."""
    trainer = subject.trainer
    method: Method = trainer.fresh(key) if before is None else trainer.restore(key.parent, copy.deepcopy(before))

    def fit(data: TaskData) -> FitReport:
        return subject.trainings.watched(lambda: method.fit_task(replace(data, progress=progress)))

    seed_generators(key.home, "learn")
    trainer.scenario.learn(method, key, fit)
    return copy.deepcopy(learned(method))
