"""The driver's own work for a rollout, by the number of workers: where it saturates.

    python -m benchmarks.scale.workers [--workers 1,8,64,256,1000] [--write]

The real search and the real journal, which syncs each line to the disk. Workers are slots of an evaluator in this process:
a training ends after a made-up time (log-normal), and the results come one by one, in the order in which they end. Time
between them is not waited for, so what is measured is the driver alone. Each worker has three rollouts of three tasks
under way.

"Trainings a second" is what the driver can hand out and record. It keeps all workers busy if trainings take at least as many
seconds as there are workers, divided by that.
"""

from __future__ import annotations

import argparse
import heapq
import itertools
import json
import math
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np

from benchmarks.common.made_up import Sequences, result_of, task
from benchmarks.common.results import write_result
from seqsearch.core.types import Edge
from seqsearch.engine.evaluator import A, B, Job, JobResult, Priority
from seqsearch.engine.journal import Journal
from seqsearch.engine.search import Search

DEPTH, AHEAD, EACH = 3, 3, 4
"""Tasks of a rollout, rollouts under way and rollouts in all, the last two for each worker."""
LEAST = 600
"""Rollouts in all, at least."""


class Slots:
    """An evaluator with so many slots, whose clock goes from one end of a training to the next."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._queue: deque[Job] = deque()
        self._running: list[tuple[float, int, Job]] = []
        self._now, self._number, self._rng = 0.0, itertools.count(), np.random.default_rng(0)

    def submit(self, job: Job, priority: Priority) -> None:
        self._queue.append(job)

    def wait(self, timeout: float | None = None) -> list[tuple[Job, JobResult]]:
        while self._queue and len(self._running) < self.workers:
            takes = math.exp(0.5 * self._rng.standard_normal())
            heapq.heappush(self._running, (self._now + takes, next(self._number), self._queue.popleft()))
        if not self._running:
            return []
        self._now, _, job = heapq.heappop(self._running)
        assert isinstance(job, Edge)
        return [(job, result_of(job))]

    def drop(self, states: Iterable[str]) -> None:
        return

    def map(self, function: Callable[[A], B], arguments: Sequence[A]) -> list[B]:
        return [function(a) for a in arguments]


def driven(workers: int) -> dict[str, float]:
    """Seconds of the driver for each training and each rollout."""
    rollouts = max(LEAST, EACH * workers)
    sequences = [tuple(task(i, t) for t in range(DEPTH)) for i in range(rollouts)]
    with tempfile.TemporaryDirectory() as scratch:
        journal = Journal(Path(scratch))
        start, used = time.perf_counter(), time.process_time()
        Search(Slots(workers), journal).run([Sequences(sequences, AHEAD * workers)])
        wall, cpu = time.perf_counter() - start, time.process_time() - used
        journal.close()
    return {
        "workers": workers,
        "rollouts": rollouts,
        "driver_ms_per_rollout": 1e3 * wall / rollouts,
        "cpu_ms_per_rollout": 1e3 * cpu / rollouts,
        "trainings_per_second": DEPTH * rollouts / wall,
        "seconds_of_training_that_keep_all_busy": workers * wall / (DEPTH * rollouts),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", default="1,8,64,256,1000")
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    rows = []
    for workers in map(int, asked.workers.split(",")):
        rows.append(driven(workers))
        print(json.dumps(rows[-1]), flush=True)
    if asked.write:
        write_result("scale_workers", {"rows": rows})


if __name__ == "__main__":
    main()
