"""How much of their time workers spend training, and what the driver spends on a rollout, as workers and tree grow.

    python -m benchmarks.speed.orchestration [--write] [--workers 1,2,8,64] [--seconds 0.1,1,10]
    python -m benchmarks.speed.orchestration --raylets 1,2,4,8 [--write]

Real Ray, the real fleet, search and journal; only the training is simulated: it sleeps, so that many workers fit on a small
machine. Workers have as many jobs as they can take (rollouts of random sequences, 3 tasks each); the busy share counts from the
first start to the last end. The tree: rollouts of 10 tasks that share prefixes, results made up at once in this process, so that
what is left is the driver's own work; seconds per rollout in the first and in the last tenth of 10,000 nodes.

With ``--raylets``: clusters of so many nodes of Ray on this machine, two workers each, trainings of 1 s.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.common.made_up import Sequences, result_of, task
from benchmarks.common.results import write_result
from seqsearch.core.outcomes import EdgeResult
from seqsearch.core.types import Edge, Prefix
from seqsearch.engine.evaluator import A, B, Job, JobResult, Priority
from seqsearch.engine.journal import Journal
from seqsearch.engine.search import Search
from seqsearch.training.guard import Guard
from seqsearch.training.world import World


class SleepingBench:
    """Stands in for a trainer: trains by sleeping, keeps nothing."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.since, self.cache, self.guard = seconds, None, self, Guard(tuple)

    @contextlib.contextmanager
    def context(self, offers: Mapping[str, Any], alone: bool = False) -> Iterator[None]:
        yield

    def train(self, edge: Edge) -> EdgeResult:
        time.sleep(self.seconds)
        return result_of(edge)

    def kept_bytes(self, state: str) -> int:
        return 0

    def drop(self, states: list[str]) -> None:
        return


def sleeping_bench(world: World, name: str, seconds: float) -> SleepingBench:
    return SleepingBench(seconds)


@contextlib.contextmanager
def ray_of(workers: int, raylets: int) -> Iterator[None]:
    """A Ray with room for so many workers, on so many nodes."""
    import ray
    from ray.cluster_utils import Cluster

    cluster, address = None, "local"
    here: dict[str, Any] = {"num_cpus": workers // raylets, "include_dashboard": False}
    if raylets > 1:
        cluster = Cluster(initialize_head=True, head_node_args=here)
        for _ in range(raylets - 1):
            cluster.add_node(num_cpus=workers // raylets)
        cluster.wait_for_nodes()
        address, here = cluster.address, {}
    ray.init(address, logging_level="ERROR", log_to_driver=False, **here)
    try:
        yield
    finally:
        ray.shutdown()
        if cluster is not None:
            cluster.shutdown()


def busy_share(workers: int, seconds: float, raylets: int = 1) -> dict[str, float]:
    """Of ``workers`` that train for ``seconds`` each; long enough that the first and the last job do not decide."""
    from actors.fleet import Fleet
    from actors.options import EngineOptions

    each = max(1, min(20, round(6 / seconds)))
    sequences = [tuple(task(i, t) for t in range(3)) for i in range(workers * each)]
    with ray_of(workers, raylets), tempfile.TemporaryDirectory() as scratch:
        world = World("none", 0, scratch, f"{scratch}/states")
        engine = EngineOptions(workers=workers, start_timeout=600)
        fleet = Fleet(world, engine, trainer=partial(sleeping_bench, seconds=seconds))
        fleet.await_workers(workers)  # it is steady work that is measured, not the start
        journal = Journal(Path(scratch) / "run")
        start, used = time.perf_counter(), time.process_time()
        Search(fleet, journal).run([Sequences(sequences, 3 * workers)])
        wall, driver = time.perf_counter() - start, time.process_time() - used
        share = fleet.busy_share()
        fleet.close()
        journal.close()
    jobs = 3 * len(sequences)
    return {
        "raylets": raylets,
        "workers": workers,
        "seconds": seconds,
        "jobs": jobs,
        "busy_share": share,
        "jobs_per_second": jobs / wall,
        "driver_ms": 1e3 * driver / jobs,
    }


class Instant:
    """An evaluator that answers at once: what is left is the driver's own work."""

    workers = 0

    def __init__(self) -> None:
        self._jobs: list[Job] = []

    def submit(self, job: Job, priority: Priority) -> None:
        self._jobs.append(job)

    def wait(self, timeout: float | None = None) -> list[tuple[Job, JobResult]]:
        jobs, self._jobs = self._jobs, []
        return [(job, result_of(job)) for job in jobs if isinstance(job, Edge)]

    def drop(self, states: Iterable[str]) -> None:
        return

    def map(self, function: Callable[[A], B], arguments: Sequence[A]) -> list[B]:
        return [function(a) for a in arguments]


def tree(nodes: int = 10_000, depth: int = 10) -> dict[str, float]:
    """Driver seconds per rollout while a tree of prefixes grows; half of each new rollout is known already."""
    times: list[float] = []

    def sequences() -> Iterator[Prefix]:
        half = depth // 2
        for i in range(nodes // half):
            times.append(time.perf_counter())
            yield (*(task(i // 10, t) for t in range(half)), *(task(10**6 + i, t) for t in range(half)))

    with tempfile.TemporaryDirectory() as scratch:
        journal = Journal(Path(scratch))
        search = Search(Instant(), journal)
        search.run([Sequences(sequences(), 8)])
        grown = len(search.edges)
        journal.close()
    tenth = len(times) // 10
    first, last = (times[tenth] - times[0]) / tenth, (times[-1] - times[-1 - tenth]) / tenth
    return {
        "nodes": grown,
        "rollouts": len(times),
        "first_tenth_ms": 1e3 * first,
        "last_tenth_ms": 1e3 * last,
        "last_over_first": last / first,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", default="1,2,8,64")
    parser.add_argument("--seconds", default="0.1,1,10")
    parser.add_argument("--raylets", help="nodes of Ray; measures these alone")
    parser.add_argument("--write", action="store_true", help="write results: orchestration.json, or scale_raylets.json")
    arguments = parser.parse_args()
    if arguments.raylets:
        found = []
        for raylets in map(int, arguments.raylets.split(",")):
            found.append(busy_share(2 * raylets, 1.0, raylets))
            print(json.dumps(found[-1]), flush=True)
        if arguments.write:
            write_result("scale_raylets", {"busy": found})
        return
    grown = tree()
    print("  ".join(f"{k} {v:.4g}" for k, v in grown.items()))
    rows = []
    print(f"{'workers':>8}{'training':>10}{'jobs':>8}{'busy':>8}{'jobs/s':>9}")
    for workers in map(int, arguments.workers.split(",")):
        for seconds in map(float, arguments.seconds.split(",")):
            rows.append(row := busy_share(workers, seconds))
            print(
                f"{workers:8d}{seconds:8.1f} s{row['jobs']:8.0f}{row['busy_share']:8.1%}{row['jobs_per_second']:9.1f}",
                flush=True,
            )
    if arguments.write:
        write_result("orchestration", {"tree": grown, "busy": rows})


if __name__ == "__main__":
    main()
