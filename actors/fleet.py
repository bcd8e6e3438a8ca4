"""The Ray evaluator: workers with live states, affinity, back-pressure, retry and replacement. Same results as in process."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import ray

from actors import health
from actors.dispatch import Dispatcher
from actors.options import EngineOptions
from actors.queue import Queue
from actors.run_states import RunStates
from actors.state_index import StateIndex
from actors.worker import Call, setup_of
from actors.worker_set import Events, WorkerSet
from seqsearch.core import stop
from seqsearch.core.digests import digest_of
from seqsearch.core.notices import notice
from seqsearch.core.text import counted
from seqsearch.engine.evaluator import A, B, Job, JobResult, Priority
from seqsearch.features.store import Shard
from seqsearch.training.device import pin_threads
from seqsearch.training.world import World

LOOK_ROUND_EVERY = 1.0
"""Seconds between looks for stuck workers, joined nodes, states to forget."""


class Fleet:
    """Workers on a connected Ray.

    Args:
        keeps: states that nothing extends stay on the disk, for other runs.
        events: called with what happens to workers: name and details.
        trainer: makes a worker's trainer; None: the real one.
        check: raises `UserError` where the run is another process' by now.

    Raises:
        UserError: Ray cannot place a single worker for ``engine.start_timeout`` seconds, now or later.
    """

    def __init__(
        self,
        world: World,
        engine: EngineOptions,
        *,
        keeps: bool = False,
        events: Events = lambda _, __: None,
        trainer: Callable[[World, str], Any] | None = None,
        check: Callable[[], None] = lambda: None,
    ) -> None:
        pin_threads()  # the planner's arithmetic (potentials, k-means) happens in this process
        self.world, self.engine, self.events = world, engine, events
        token = digest_of("run", world.states)
        setup = setup_of(world, token, engine, keeps, trainer)
        self._queue, self._index = Queue(), StateIndex()
        self._states = RunStates(
            Path(world.states), token, engine, keeps=keeps, events=events, needed=self._index.states, check=check
        )
        self._forget: list[str] = []
        self._looked = time.monotonic()
        self.worker_set = WorkerSet(setup, engine, events)
        self._calls = Dispatcher(self._queue, self.worker_set, self._index, engine, events)
        notice(f"starting {counted(self.workers, 'worker')} ...")
        try:
            self.await_workers(1)
        except BaseException:
            self.close()
            raise

    # ------------------------------------------------------------------------------------------------ evaluator

    def submit(self, job: Job, priority: Priority) -> None:
        self._queue.add(job, priority)
        self._calls.dispatch()

    def wait(self, timeout: float | None = None) -> list[tuple[Job, JobResult]]:
        until = None if timeout is None else time.monotonic() + timeout
        while True:
            stop.check()
            finished = self._collect()
            self._calls.dispatch()
            if finished or (until is not None and time.monotonic() >= until):
                return finished

    def extract(self, missing: Iterable[tuple[str, int, Shard]]) -> Iterator[None]:
        """Compute shards of frozen features, many at a time; yields once for each."""
        for job in missing:
            self._queue.add(job, (0, 0))
        left = len(self._queue)
        self._calls.dispatch()
        while left:
            stop.check()
            for _ in self._collect():
                left -= 1
                yield
            self._calls.dispatch()

    def map(self, function: Callable[[A], B], arguments: Sequence[A]) -> list[B]:
        """Call a function on the workers, many at a time; the results are in the order of the arguments.

        Raises:
            UserError: a call killed every worker that it was given to, or took longer than the engine allows.
        """
        calls = [Call(function, a) for a in arguments]
        results: dict[Call, Any] = {}
        for call in calls:
            self._queue.add(call, (0, 0))
        while len(results) < len(calls):
            stop.check()
            self._calls.dispatch()
            results.update((job, result) for job, result in self._collect() if isinstance(job, Call))
        return [results[c] for c in calls]

    def drop(self, states: Iterable[str]) -> None:
        gone = list(states)
        self._index.forget(gone)
        self._states.drop(gone)
        self._forget += gone

    @property
    def workers(self) -> int:
        """How many there should be."""
        return self.worker_set.workers

    def busy(self) -> int:
        """Workers with something to do."""
        return sum(bool(m.calls) for m in self.worker_set.handles)

    def queued(self) -> int:
        """Jobs that no worker has been given yet."""
        return len(self._queue)

    def busy_share(self) -> float:
        """Fraction of the workers' time spent on jobs between the first start and the last end."""
        return self._index.busy_share()

    def nodes(self) -> set[str]:
        """Ids of the nodes that workers are up on."""
        return {m.hello.node for m in self.worker_set.handles if m.hello}

    def close(self) -> None:
        """Stop the workers at once, leave nothing behind that is of no use."""
        if not health.cause_of_death():
            self.worker_set.dismiss()
        self._states.close()

    # ------------------------------------------------------------------------------------------------ workers

    def await_workers(self, count: int) -> None:
        """Until so many are up.

        Raises:
            UserError: none comes up for ``engine.start_timeout`` seconds, or they die while they start.
        """
        while sum(m.hello is not None for m in self.worker_set.handles) < count:
            stop.check()
            health.check()
            ray.wait(self.worker_set.coming(), num_returns=1, timeout=1.0)
            self._welcome()

    def _collect(self) -> list[tuple[Job, JobResult]]:
        """Return the jobs that have ended since the last call, or that end within a second.

        Raises:
            EngineDied: Ray has died.
        """
        health.check()
        try:
            self._welcome()
            self._look_round()
            return self._calls.collect()
        except Exception:
            health.check()  # whatever it makes of that
            raise

    def _welcome(self) -> None:
        for worker in self.worker_set.welcome():
            self._index.up(worker.name)

    def _look_round(self) -> None:
        """Do periodic maintenance that is not needed at every result."""
        if time.monotonic() - self._looked < LOOK_ROUND_EVERY:
            return
        self._looked = time.monotonic()
        self._states.free_space()
        if self._forget:
            for worker in self.worker_set.handles:
                worker.handle.drop.remote(self._forget)
            self._forget = []
        self.worker_set.look_round()
