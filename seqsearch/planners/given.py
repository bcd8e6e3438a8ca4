"""Judge given sequences: each with every method and replicate. Random baselines, and the re-scoring of what was found."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from seqsearch.core.digests import seeded_numpy
from seqsearch.core.types import JudgedPart, MethodSpec, Outcome, Prefix, Request, Rollout, Task
from seqsearch.planners.base import Ask, CoroutinePlanner, Need, PlanSteps
from seqsearch.planners.step import PoolView


class GivenPlanner(CoroutinePlanner):
    """Trains ``methods`` on ``sequences()`` with each of ``replicates`` fresh training seeds.

    Args:
        sequences: called when the planner may start, None as long as it may not (a search is still running).

    A state is passed on from task to task and then dropped. When it is done, ``outcomes[method label][sequence][replicate]`` are
    in the order given.
    """

    passes_on = True

    def __init__(
        self,
        name: str,
        sequences: Callable[[], Sequence[Prefix] | None],
        methods: Sequence[MethodSpec],
        seed: int,
        replicates: Sequence[int],
        judged: JudgedPart = "test",
    ) -> None:
        super().__init__()
        self.name = name
        self._sequences, self.methods, self._seed = sequences, tuple(methods), seed
        self.replicates, self._judged = tuple(replicates), judged
        self.sequences: tuple[Prefix, ...] = ()
        self.outcomes: dict[str, list[list[Outcome]]] = {}

    def ask(self) -> list[Request]:
        if self._plan is None and self._sequences() is None:
            return []
        return super().ask()

    def plan(self) -> PlanSteps:
        yield from self._judge(self._sequences() or ())

    def _judge(self, sequences: Sequence[Prefix]) -> PlanSteps:
        """Train the methods on these, too."""
        requests = {
            (m.label, s, r): Rollout(m, self._seed, r, tasks, self._judged, leaf=True)
            for m in self.methods
            for s, tasks in enumerate(sequences)
            for r in self.replicates
        }
        self.sequences = (*self.sequences, *sequences)
        yield Ask(tuple(requests.values()))
        for m in self.methods:
            judged = self.outcomes.setdefault(m.label, [])
            for s in range(len(sequences)):
                answers = yield Need(tuple(requests[m.label, s, r] for r in self.replicates))
                judged.append(answers)


class GrowingPlanner(GivenPlanner):
    """Judges sequences ``draw(0), draw(1), ...``: ``first`` of them, and then ``batch`` at a time until ``enough`` or ``most``.

    Args:
        enough: is told the outcomes of a method so far, ``[sequence][replicate]``; every method must be content.
    """

    def __init__(
        self, name: str, draw: Callable[[int], Prefix], methods: Sequence[MethodSpec], seed: int, replicates: Sequence[int],
        *, first: int, batch: int, most: int, enough: Callable[[list[list[Outcome]]], bool],
    ) -> None:  # fmt: skip
        super().__init__(name, lambda: [draw(i) for i in range(first)], methods, seed, replicates)
        self._draw, self._batch, self._most, self._enough = draw, batch, most, enough

    def plan(self) -> PlanSteps:
        yield from super().plan()
        while not all(self._enough(self.outcomes[m.label]) for m in self.methods):
            n = len(self.sequences)
            if n >= self._most:
                return
            yield from self._judge([self._draw(i) for i in range(n, min(n + self._batch, self._most))])


def random_sequences(first: Task, pool: PoolView, n_tasks: int, k: int, count: int, seed: int) -> list[Prefix]:
    """``count`` sequences that share the first task; the other classes are drawn uniformly without replacement.

    Task ``t`` is drawn from the classes that are there at step ``t``.
    """
    taken = set(first.classes)
    rest = [i for i, c in enumerate(pool.class_ids) if c not in taken]
    found = []
    for number in range(count):
        order = [rest[i] for i in seeded_numpy("random-sequence", seed, number).permutation(len(rest))]
        tasks = [first]
        for t in range(2, n_tasks + 1):
            there = pool.known(t)
            drawn = [i for i in order if i < there][:k]
            used = set(drawn)
            order = [i for i in order if i not in used]
            tasks.append(pool.task(pool.class_ids[i] for i in drawn))
        found.append(tuple(tasks))
    return found


def first_task(pool: PoolView, k: int, seed: int) -> Task:
    """The first task of a study: random and fixed, shared by every method and by the random baseline."""
    drawn = seeded_numpy("first-task", seed).choice(pool.known(1), size=k, replace=False)
    return pool.task(pool.class_ids[i] for i in drawn)
