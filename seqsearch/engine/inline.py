"""The in-process evaluator: ``--workers 0``, unit tests, trials of a tuner. Same results as on Ray, one job at a time."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Iterable, Sequence

from seqsearch.core.types import Edge
from seqsearch.engine.evaluator import A, B, Job, JobResult, Priority
from seqsearch.features.store import Shard
from seqsearch.training.device import pin_threads
from seqsearch.training.trainer import Trainer
from seqsearch.training.world import World


class InlineEvaluator:
    """Runs jobs in this process, pinned to one thread as workers are."""

    workers: int = 0

    def __init__(self, world: World, trainer: Trainer | None = None) -> None:
        pin_threads()
        self.trainer = trainer or Trainer(world)
        self._queue: list[tuple[Priority, int, Job]] = []
        self._ticket = itertools.count()

    def submit(self, job: Job, priority: Priority) -> None:
        heapq.heappush(self._queue, (priority, next(self._ticket), job))

    def wait(self, timeout: float | None = None) -> list[tuple[Job, JobResult]]:
        job = heapq.heappop(self._queue)[2]
        return [(job, self.trainer.train(job) if isinstance(job, Edge) else self.trainer.probe(job))]

    def extract(self, missing: Iterable[tuple[str, int, Shard]]) -> Iterable[None]:
        """Compute shards of frozen features, one by one."""
        for backbone, pool, shard in missing:
            self.trainer.extract(backbone, pool, shard)
            yield

    def drop(self, states: Iterable[str]) -> None:
        self.trainer.states.cache.drop(states)

    def map(self, function: Callable[[A], B], arguments: Sequence[A]) -> list[B]:
        """Call a function, one argument after the other."""
        return [function(a) for a in arguments]

    def busy(self) -> int:
        """Workers with something to do."""
        return 1

    def busy_share(self) -> float | None:
        """Not measured: this process is planner and worker in one."""
        return None

    def close(self) -> None:
        """Leave nothing behind that is of no use."""
        self.trainer.states.cache.close()
