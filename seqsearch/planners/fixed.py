"""Evaluate given sequences: each with every method and replicate. Random baselines, and the re-scoring of what was found."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from seqsearch.core.digests import seeded_numpy
from seqsearch.core.outcomes import Outcome
from seqsearch.core.types import EvaluationSplit, MethodSpec, Prefix, Request, Rollout, StateKey, Task, Tasks, reported
from seqsearch.planners.base import Ask, CoroutinePlanner, Need, PlanSteps
from seqsearch.planners.step import PoolView


@dataclass(frozen=True)
class FixedSequence:
    """A sequence to be evaluated, and the training seeds to evaluate it with."""

    prefix: Prefix
    replicates: tuple[int, ...]


def with_replicates(sequences: Iterable[Prefix], replicates: Iterable[int]) -> tuple[FixedSequence, ...]:
    """Sequences that are all evaluated with the same training seeds."""
    seeds = tuple(replicates)
    return tuple(FixedSequence(s, seeds) for s in sequences)


class FixedPlanner(CoroutinePlanner):
    """Trains ``methods`` on ``sequences()``, each with its own training seeds.

    Args:
        sequences: called when the planner may start, None as long as it may not (a search is still running).
        evaluated: on ``test`` the tasks are learned as they are `reported`, from all other images; on ``reward`` (tuning) these
            are held back.

    The state of a task is dropped when the next task is learned (`frees_parents`). When the planner is done, its results are in
    ``outcomes[method label][sequence][replicate]``, in the order given.
    """

    frees_parents = True

    def __init__(
        self,
        name: str,
        sequences: Callable[[], Sequence[FixedSequence] | None],
        methods: Sequence[MethodSpec],
        seed: int,
        evaluated: EvaluationSplit = "test",
    ) -> None:
        super().__init__()
        self.name = name
        self._sequences, self.methods, self._seed, self._evaluated = sequences, tuple(methods), seed, evaluated
        self.given: tuple[FixedSequence, ...] = ()
        """Those that are being evaluated, or were."""
        self.outcomes: dict[str, list[list[Outcome]]] = {}

    @property
    def sequences(self) -> tuple[Prefix, ...]:
        """Of all `given`."""
        return tuple(g.prefix for g in self.given)

    def ask(self) -> list[Request]:
        if self._plan is None and self._sequences() is None:
            return []
        return super().ask()

    def plan(self) -> PlanSteps:
        yield from self._evaluate(self._sequences() or ())

    def _evaluate(self, given: Sequence[FixedSequence]) -> PlanSteps:
        """Train the methods on these, too."""
        prefixes = [reported(g.prefix) if self._evaluated == "test" else g.prefix for g in given]
        requests = {
            (m.label, s, r): Rollout(StateKey(m, self._seed, r, prefixes[s]), self._evaluated, leaf=True)
            for m in self.methods
            for s, g in enumerate(given)
            for r in g.replicates
        }
        self.given = (*self.given, *given)
        yield Ask(tuple(requests.values()))
        for m in self.methods:
            evaluated = self.outcomes.setdefault(m.label, [])
            for s, g in enumerate(given):
                answers = yield Need(tuple(requests[m.label, s, r] for r in g.replicates))
                evaluated.append(answers)


class GrowingPlanner(FixedPlanner):
    """Evaluates sequences ``draw(0), draw(1), ...``: ``first`` of them, and then as many as are wanted, ``most`` at most.

    Args:
        wanted: how many sequences in all a method wants by its outcomes so far, ``[sequence][replicate]``.
    """

    def __init__(
        self,
        name: str,
        draw: Callable[[int], FixedSequence],
        methods: Sequence[MethodSpec],
        seed: int,
        *,
        first: int,
        most: int,
        wanted: Callable[[list[list[Outcome]]], int],
    ) -> None:
        super().__init__(name, lambda: [draw(i) for i in range(first)], methods, seed)
        self._draw, self._most, self._wanted = draw, most, wanted

    def plan(self) -> PlanSteps:
        yield from super().plan()
        while (n := len(self.given)) < (wanted := self._wanted_now()):
            yield from self._evaluate([self._draw(i) for i in range(n, wanted)])

    def _wanted_now(self) -> int:
        return min(self._most, max(self._wanted(self.outcomes[m.label]) for m in self.methods))


def random_sequences(first: Task, pool: PoolView, n_tasks: int, k: int, count: int, seed: int) -> list[Tasks]:
    """``count`` sequences that share the first task; each further task is drawn uniformly from what is there and not used.

    Raises:
        ValueError: fewer than ``k`` classes are left.
    """
    return [random_sequence(first, pool, n_tasks, k, number, seed) for number in range(count)]


def random_sequence(first: Task, pool: PoolView, n_tasks: int, k: int, number: int, seed: int) -> Tasks:
    """The random sequence of this ``number`` that begins with the task ``first``.

    Task ``t`` has random numbers of its own and is drawn from the classes that are there at step ``t``, so that sequences of
    a pool that grows are those of one that does not, up to the step where it does, and longer ones begin like shorter ones.

    Raises:
        ValueError: fewer than ``k`` classes are left.
    """
    tasks = [first]
    for t in range(2, n_tasks + 1):
        used = {c for task in tasks for c in task.classes}
        left = [i for i in range(pool.known(t)) if pool.class_ids[i] not in used]
        drawn = seeded_numpy("random-sequence", seed, number, t).choice(left, size=k, replace=False)
        tasks.append(pool.task(pool.class_ids[i] for i in drawn))
    return tuple(tasks)


def first_task(pool: PoolView, k: int, seed: int) -> Task:
    """The first task of a study: random and fixed, shared by every method and by the random baseline."""
    drawn = seeded_numpy("first-task", seed).choice(pool.known(1), size=k, replace=False)
    return pool.task(pool.class_ids[i] for i in drawn)


def own_first_task(pool: PoolView, k: int, seed: int, number: int) -> Task:
    """The first task of a random sequence that shares it with no other by intent."""
    drawn = seeded_numpy("own-first-task", seed, number).choice(pool.known(1), size=k, replace=False)
    return pool.task(pool.class_ids[i] for i in drawn)
