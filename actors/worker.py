"""The Ray actor that holds live states: a workbench behind a remote handle."""

from __future__ import annotations

import os
import time
from typing import Any

import ray

from seqsearch.features import Shard
from seqsearch.types import Edge, Probe
from seqsearch.world import World


@ray.remote(max_restarts=0, max_task_retries=0, concurrency_groups={"control": 1})
class Worker:
    """One job at a time. It is never restarted by Ray: a restarted actor has silently lost its states; the fleet replaces it."""

    def __init__(self, world: World, name: str) -> None:
        from seqsearch.inline import pin_threads
        from seqsearch.workbench import Workbench

        pin_threads()
        self._bench = Workbench(world, name)

    @ray.method(concurrency_group="control")  # type: ignore[untyped-decorator]
    def pid(self) -> int:
        """Process id; answers while a job runs."""
        return os.getpid()

    def run(self, job: Edge | Probe | tuple[str, int, Shard]) -> tuple[Any, float]:
        """The result, and the seconds it took. A tuple names a shard of frozen features to be computed."""
        start = time.perf_counter()
        result: Any = None
        if isinstance(job, Edge):
            result = self._bench.train(job)
        elif isinstance(job, Probe):
            result = self._bench.probe(job)
        else:
            self._bench.extract(*job)
        return result, time.perf_counter() - start

    @ray.method(concurrency_group="control")  # type: ignore[untyped-decorator]
    def drop(self, states: list[str]) -> None:
        """Forget states that nothing will extend."""
        self._bench.cache.drop(states)
