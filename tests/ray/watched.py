"""Studies on a real Ray cluster of several raylets on this machine, whose fleet is watched, and harmed on the way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ray
from ray.cluster_utils import Cluster

from actors.fleet import Fleet
from actors.options import EngineOptions
from seqsearch.engine.evaluator import Job, JobResult, Priority
from seqsearch.training.world import World
from tests.studies import Finished, right_by_edge, run_small

METHODS = "simplecil,ranpac:M=64"
HOLD = "hold"


class Watched(Fleet):
    """All workers up from the start; remembers all events.

    Calls ``act(fleet, results so far)`` at the first submission and after every batch of results, until it returns true.
    While it returns HOLD the search gets no results.
    """

    def __init__(
        self,
        world: World,
        engine: EngineOptions,
        act: Callable[[Watched, int], bool | str] = lambda *_: True,
        **more: Any,
    ) -> None:
        self.seen: list[tuple[str, dict[str, Any]]] = []
        self.done, self.acted, self.act = 0, False, act
        self.answered: set[str] = set()
        super().__init__(world, engine, events=lambda name, details: self.seen.append((name, details)), **more)
        self.await_workers(self.workers)

    def submit(self, job: Job, priority: Priority) -> None:
        if not self.done and not self.acted:
            self.acted = self.act(self, 0) is True
        super().submit(job, priority)

    def wait(self, timeout: float | None = None) -> list[tuple[Job, JobResult]]:
        results: list[tuple[Job, JobResult]] = []
        while True:
            more = super().wait(0.2)
            results += more
            self.done += len(more)
            self.answered |= {result.worker for _, result in more}
            answer = self.acted or self.act(self, self.done)
            self.acted = answer is True
            if results and answer != HOLD:
                return results

    def count(self, event: str) -> int:
        return sum(name == event for name, _ in self.seen)

    def used(self) -> set[str]:
        """Ids of the nodes that results came from."""
        return {d["node"] for name, d in self.seen if name == "worker-up" and d["worker"] in self.answered}

    def why(self) -> str:
        return "; ".join(str(d["why"]) for name, d in self.seen if name == "worker-died")


class Nodes:
    """A Ray cluster of several raylets on this machine, connected to while the block runs."""

    def __init__(self, nodes: int, **head: Any) -> None:
        self.nodes, self.head = nodes, head

    def __enter__(self) -> Cluster:
        self.cluster = Cluster(
            initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False, **self.head}
        )
        for _ in range(self.nodes - 1):
            self.cluster.add_node(num_cpus=1)
        ray.init(address=self.cluster.address, logging_level="ERROR", log_to_driver=False)
        return self.cluster

    def __exit__(self, *_: object) -> None:
        ray.shutdown()
        self.cluster.shutdown()


def run(
    folder: Path,
    engine: EngineOptions,
    act: Callable[[Watched, int], bool | str] = lambda *_: True,
    trainer: Any = None,
    **study: Any,
) -> tuple[Finished, Watched]:
    """A whole study on a fleet that `act` may harm."""
    fleets: list[Watched] = []

    def made(world: World) -> Watched:
        fleets.append(Watched(world, engine, act, trainer=trainer))
        return fleets[0]

    try:
        finished = run_small(folder, made, **{"methods": METHODS, **study})
    finally:
        for fleet in fleets:
            fleet.close()
    return finished, fleets[0]


def same_results(found: Finished, expected: Finished) -> None:
    """The same sequence, and every result that the other run has, each once."""
    assert found.found == expected.found
    assert right_by_edge(found.journal) == right_by_edge(expected.journal)
    assert sum("edge" in e for e in found.journal.entries) == len(expected.journal._edges)


def origins(finished: Finished) -> Counter[str]:
    return Counter(e["edge"]["origin"] for e in finished.journal.entries if "edge" in e)


def node_with_own_disk(cluster: Cluster, disk: Path, **more: Any) -> Any:
    """A node that keeps states in a folder of its own, as if it did not see the driver's."""
    return cluster.add_node(num_cpus=1, env_vars={"SEQSEARCH_STATES": str(disk)}, **more)
