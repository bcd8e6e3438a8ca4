"""A search whose hardest sequence is known: the real planner and engine, on a method that is a formula instead of training.

Classes come in groups of ``K``; one group is one candidate task with a planted difficulty. At every step ``arms`` groups are
there (for each group taken a new one comes), so the hardest sequence takes the hardest group that is there, step by step. A
method that was trained on tasks 1..t classifies task i right with probability

    A[t, i] = TOP - difficulty_i - FORGETS (t - i) - error_t / t

The classes of a look-ahead are of many groups, or of none; its difficulty is the sum of what they bring: siblings that are
followed by the same task share it (common random numbers). ``error_t`` goes with the digest of the state: new for every
state, and the same again whenever that state is trained again.
"""

from __future__ import annotations

import contextlib
import math
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from protocols.cldyb.settings import CldybSettings
from seqsearch.core.digests import seeded_numpy
from seqsearch.core.outcomes import HEAD, ClassifierCounts, EdgeResult
from seqsearch.core.types import ClassId, Edge, Experience, MethodSpec, Prefix, Task, Tasks
from seqsearch.engine.evaluator import A, B, Job, JobResult, Priority
from seqsearch.engine.journal import Journal
from seqsearch.engine.search import Search
from seqsearch.planners.mcts import CldybPlanner
from seqsearch.planners.step import CandidateResult, PoolView

CLASSES_PER_TASK = 5
LOOSE = 100
"""Classes in groups too small for a candidate: for look-aheads only."""
TOP, FORGETS = 0.95, 0.01
MEAN, SPREAD = 0.35, 0.1
"""Of the planted difficulties, which are normal: accuracy lost on a task."""
OF_LOOKAHEADS, OF_ERRORS = 0.43, 0.53
"""Effect on J of a spread in look-aheads, t / (2 t + 1), and in errors, t (t + 2) / ((t + 1) (2 t + 1)).

Both are fractions of the effect on J of a spread in candidates. They are nearly the same at steps 2 to 4.
"""
IMAGES = 1_000_000
"""Evaluated per task: so many that rounding to whole images does not matter."""
METHOD = MethodSpec("planted", "planted", "none", (), "planted")


@dataclass(frozen=True)
class Planted:
    """A world with a known hardest sequence.

    Attributes:
        seed: of difficulties, order of candidates, follow-ups and errors.
        arms: candidates at every step.
        noise: standard deviation of a candidate's J over look-aheads, in units of that over candidates.
        shared: correlation of siblings over look-aheads: the fraction of that variance that look-aheads bring.
        tasks: in a sequence.
    """

    seed: int
    arms: int = 8
    noise: float = 0.2
    shared: float = 0.65
    tasks: int = 5

    @cached_property
    def difficulty(self) -> NDArray[np.float64]:
        """``[groups]``: accuracy lost on the task; group 0 is the first task."""
        return MEAN + SPREAD * seeded_numpy("planted", self.seed).standard_normal(self.arms + self.tasks - 1)

    @cached_property
    def arrivals(self) -> NDArray[np.int64]:
        """``[groups]``: the step from which each group is there."""
        return np.maximum(1, np.arange(len(self.difficulty)) - self.arms + 2)

    @cached_property
    def hardest(self) -> tuple[int, ...]:
        """Groups of the hardest sequence. What is not taken stays, so taking the hardest one there is best for the sum."""
        found = [0]
        for t in range(2, self.tasks + 1):
            there = np.setdiff1d(np.flatnonzero(self.arrivals <= t), found)
            found.append(int(there[self.difficulty[there].argmax()]))
        return tuple(found)

    @cached_property
    def view(self) -> PoolView:
        n = LOOSE + CLASSES_PER_TASK * len(self.difficulty)
        groups = [self.group(c) for c in range(n)]
        arrivals = tuple(int(self.arrivals[g]) if g >= 0 else 1 for g in groups)
        return PoolView(
            tuple(ClassId("planted", i) for i in range(n)), tuple(map(str, groups)), {"planted": ""}, arrivals
        )

    def group(self, index: int) -> int:
        """Of a class; negative for loose ones, each of which is a group of its own."""
        return (index - LOOSE) // CLASSES_PER_TASK if index >= LOOSE else -1 - index

    def task(self, group: int) -> Task:
        first = LOOSE + group * CLASSES_PER_TASK
        return self.view.task(self.view.class_ids[first : first + CLASSES_PER_TASK])

    def groups(self, tasks: Iterable[Task]) -> list[int]:
        """The groups that candidates are."""
        return [self.group(task.classes[0].index) for task in tasks]

    def regret(self, found: Tasks) -> float:
        """True final accuracy on a sequence minus that on the hardest one."""
        return float(self.difficulty[list(self.hardest)].mean() - self.difficulty[self.groups(found)].mean())

    def row(self, edge: Edge) -> NDArray[np.float64]:
        """Accuracies ``[t]`` after the last task of ``edge``."""
        t = len(edge.key.prefix)
        lost = np.array([self._lost(task) for task in edge.key.prefix])
        return TOP - lost - FORGETS * (t - np.arange(1, t + 1)) - self.error(edge) / t

    def error(self, edge: Edge) -> float:
        """Accuracy that this training happened to lose, in all."""
        normal = NormalDist().inv_cdf((int(edge.key.digest[:13], 16) + 0.5) / 16**13)
        return self.noise * math.sqrt(1 - self.shared) / OF_ERRORS * SPREAD * normal

    def _lost(self, task: Experience) -> float:
        assert isinstance(task, Task)
        classes = [c.index for c in task.classes]
        groups = {self.group(c) for c in classes}
        if len(groups) == 1:
            return float(self.difficulty[groups.pop()])
        normal = self._of_classes[classes].sum() / math.sqrt(CLASSES_PER_TASK)
        return MEAN + self.noise * math.sqrt(self.shared) / OF_LOOKAHEADS * SPREAD * float(normal)

    @cached_property
    def _of_classes(self) -> NDArray[np.float64]:
        return seeded_numpy("planted-classes", self.seed).standard_normal(len(self.view.class_ids))


class PlantedEvaluator:
    """Answers edges from the formula, in the order submitted."""

    def __init__(self, world: Planted) -> None:
        self.world = world
        self.trained: dict[str, Edge] = {}
        """By state."""
        self._queue: list[Edge] = []

    def submit(self, job: Job, priority: Priority) -> None:
        assert isinstance(job, Edge), "a planted study asks no probes"
        self._queue.append(job)

    def wait(self, timeout: float | None = None) -> list[tuple[Job, JobResult]]:
        done, self._queue = self._queue, []
        return [(edge, self._train(edge)) for edge in done]

    def drop(self, states: Iterable[str]) -> None:
        """There are none."""

    def map(self, function: Callable[[A], B], arguments: Sequence[A]) -> list[B]:
        """In this process; a planted study asks for none."""
        return [function(a) for a in arguments]

    def _train(self, edge: Edge) -> EdgeResult:
        state = edge.key.digest
        self.trained[state] = edge
        right = tuple((int(c),) for c in np.rint(self.world.row(edge).clip(0, 1) * IMAGES))
        evaluated, head = ((IMAGES,),) * len(right), ClassifierCounts(HEAD, right, right)
        return EdgeResult(edge.digest, state, "ok", evaluated, (head,), trained=(state,), feature_space="planted")


@dataclass(frozen=True)
class Found:
    """Quality of a search's result, free of noise.

    Attributes:
        steps: ``[tasks - 1]`` true accuracy on the task taken minus that on the hardest candidate.
        known: ``[tasks - 1]`` the same, had all look-aheads been averaged away. A candidate is trained once, so its own
            error stays: no allocation does better.
        missed: ``[tasks - 1]`` the largest expectation of J over look-aheads minus that of the task taken, as accuracy
            on the candidate. It is the part that the allocation decides.
        sequence: see `Planted.regret`.
        trainings: done.
    """

    steps: NDArray[np.float64]
    known: NDArray[np.float64]
    missed: NDArray[np.float64]
    sequence: float
    trainings: int


def search(world: Planted, allocation: str, simulations: int, in_flight: int = 8) -> Found:
    """One search by the real planner through the real engine, evaluated by what was planted."""
    planner, evaluator = run(world, allocation, simulations, in_flight)
    errors = {edge.key.prefix: world.error(edge) for edge in evaluator.trained.values()}
    steps, known, missed = [], [], []
    for t in range(2, world.tasks + 1):
        rows = [row for row in planner.trace if row.step == t]
        true = world.difficulty[world.groups(row.task for row in rows)]
        chosen = [row.chosen for row in rows].index(True)
        values = np.array([expected(world, planner, row, errors) for row in rows])
        steps.append(true.max() - true[chosen])
        known.append(true.max() - true[values.argmax()])
        missed.append(values.max() - values[chosen])
    found = tuple(planner.sequence)
    return Found(np.array(steps), np.array(known), np.array(missed), world.regret(found), len(evaluator.trained))


def run(
    world: Planted, allocation: str, simulations: int, in_flight: int = 8, planner: type[CldybPlanner] = CldybPlanner
) -> tuple[CldybPlanner, PlantedEvaluator]:
    """A planner that has come to its end, and who answered it."""
    settings = CldybSettings(
        methods="planted",
        sampler="group-uniform",
        clustering=False,
        classes_per_task=CLASSES_PER_TASK,
        tasks=world.tasks,
        candidates=world.arms,
        condensed=world.arms,
        simulations=simulations,
        in_flight=in_flight,
        allocation=allocation,
    )
    searching = planner("planted", (METHOD,), world.view, world.task(0), settings, world.seed, 0)
    evaluator = PlantedEvaluator(world)
    with in_memory() as folder, contextlib.closing(Journal(folder)) as journal:
        Search(evaluator, journal).run([searching])
    return searching, evaluator


def expected(world: Planted, planner: CldybPlanner, row: CandidateResult, errors: Mapping[Prefix, float]) -> float:
    """A candidate's J (Eq. 7 of the accuracies above) over all look-aheads, as accuracy lost on it, up to a constant of the step.

    ``errors`` are those of all trainings, by prefix; -inf for a candidate that the budget did not reach.
    """
    t, prefix = row.step, (*planner.sequence[: row.step - 1], row.task)
    if prefix not in errors:
        return -math.inf
    of_task, of_error = weights(t, t < world.tasks)
    return float(world.difficulty[world.groups([row.task])[0]] + errors[prefix] * of_error / of_task)


def weights(t: int, ahead: bool) -> tuple[float, float]:
    """Return the weights in J of accuracy lost on task ``t``, and of an error in training it.

    ``ahead``: with a follow-up task.
    """
    return (1 / t + 1 / (t + 1), (1 + 1 / (t + 1)) / t) if ahead else (1 / t, (1 + 1 / t) / t)


@contextlib.contextmanager
def in_memory() -> Iterator[Path]:
    """A folder in memory where there is such a thing: the journal forces every result to disk."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        yield Path(folder)
