"""Judge given sequences: each with every method and replicate. Random baselines, and the re-scoring of what was found."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from seqsearch.digests import seeded_numpy
from seqsearch.planners.base import Ask, CoroutinePlanner, Need, Plan
from seqsearch.types import ClassId, Judged, MethodSpec, Outcome, Prefix, Request, Rollout, Task, state_digest


class GivenPlanner(CoroutinePlanner):
    """Trains ``methods`` on ``sequences()`` with each of ``replicates`` fresh training seeds.

    Args:
        sequences: called when the planner may start, None as long as it may not (a search is still running).
        shared: number of first tasks that all sequences share; their states are kept until the end.

    After it is done, ``outcomes[method label][sequence][replicate]`` are in the order given.
    """

    def __init__(
        self,
        name: str,
        sequences: Callable[[], Sequence[Prefix] | None],
        methods: Sequence[MethodSpec],
        seed: int,
        replicates: Sequence[int],
        judged: Judged = "test",
        shared: int = 1,
    ) -> None:
        super().__init__()
        self.name = name
        self._sequences, self.methods, self._seed = sequences, tuple(methods), seed
        self.replicates, self._judged, self._shared = tuple(replicates), judged, shared
        self.sequences: tuple[Prefix, ...] = ()
        self.outcomes: dict[str, list[list[Outcome]]] = {}

    def ask(self) -> list[Request]:
        if self._plan is None and self._sequences() is None:
            return []
        return super().ask()

    def plan(self) -> Plan:
        self.sequences = tuple(self._sequences() or ())
        requests = {
            (m.label, s, r): Rollout(m, self._seed, r, tasks, self._judged, leaf=True)
            for m in self.methods
            for s, tasks in enumerate(self.sequences)
            for r in self.replicates
        }
        yield Ask(tuple(requests.values()))
        for m in self.methods:
            rows = []
            for s, tasks in enumerate(self.sequences):
                rows.append((yield Need(tuple(requests[m.label, s, r] for r in self.replicates))))
                self._obsolete += [
                    state_digest(m, self._seed, r, tasks[:t])
                    for r in self.replicates
                    for t in range(self._shared + 1, len(tasks) + 1)
                ]
            self.outcomes[m.label] = rows


def random_sequences(
    first: Task, classes: Sequence[ClassId], n_tasks: int, k: int, count: int, seed: int
) -> list[Prefix]:
    """``count`` sequences that share the first task; the other classes are drawn uniformly without replacement."""
    rest = [c for c in classes if c not in set(first.classes)]
    found = []
    for number in range(count):
        order = seeded_numpy("random-sequence", seed, number).permutation(len(rest))[: (n_tasks - 1) * k]
        tasks = (
            [Task(tuple(rest[i] for i in sorted(part)), first.split) for part in np.split(order, n_tasks - 1)]
            if n_tasks > 1
            else []
        )
        found.append((first, *tasks))
    return found


def first_task(classes: Sequence[ClassId], k: int, split: str, seed: int) -> Task:
    """The first task of a study: random and fixed, shared by every method and by the random baseline."""
    drawn = seeded_numpy("first-task", seed).choice(len(classes), size=k, replace=False)
    return Task(tuple(classes[i] for i in sorted(drawn)), split)
