"""The set of workers: starts them, registers them when they are up, and replaces dead ones.

It knows nothing of jobs.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import ray
from ray.exceptions import RayError, RayTaskError

from actors.cluster import fitting_workers
from actors.faults import Starts, cause_of, without_ray
from actors.options import EngineOptions
from actors.worker import Setup, WorkerActor
from actors.worker_handle import WorkerHandle
from seqsearch.core.errors import UserError

Events = Callable[[str, dict[str, Any]], None]


class WorkerSet:
    """As many workers as ``engine`` says; where it does not say, as many as the cluster has room for.

    Attributes:
        handles: workers that are up, or are waited for.
        workers: how many there should be.
        replaced: how many are gone.
    """

    def __init__(self, setup: Setup, engine: EngineOptions, events: Events) -> None:
        self._setup, self._engine, self._events = setup, engine, events
        self.handles: list[WorkerHandle] = []
        self.workers = engine.workers or fitting_workers(engine.gpus)
        self.replaced = self._names = 0
        self._starts = Starts(engine)
        self._alive_at = time.monotonic()
        self._hire(self.workers)

    def coming(self) -> list[Any]:
        """Return Ray's references that become ready when workers that are starting are up."""
        return [m.greeting for m in self.handles if m.hello is None]

    def welcome(self) -> list[WorkerHandle]:
        """Workers that have come up since the last look.

        Raises:
            UserError: no worker is up, and none has come up for a while; or they die while they start, again and again.
        """
        waiting = {m.greeting: m for m in self.handles if m.hello is None}
        up, _ = ray.wait(list(waiting), num_returns=len(waiting), timeout=0) if waiting else ([], [])
        came = []
        for greeting in up:
            worker = waiting[greeting]
            try:
                worker.hello = ray.get(greeting)
                self._starts.succeeded()
                came.append(worker)
                self._events("worker-up", {"worker": worker.name, "node": worker.hello.node, "pid": worker.hello.pid})
            except RayTaskError as error:
                raise cause_of(error) from None
            except RayError as error:
                self._starts.failed(self.workers, error)
                self.replace(worker, "died while it started")
        if any(m.hello for m in self.handles):
            self._alive_at = time.monotonic()
        elif time.monotonic() - self._alive_at > self._engine.start_timeout:
            have = {k: v for k, v in ray.cluster_resources().items() if k in ("CPU", "GPU")}
            raise UserError(
                f"no worker could start within {self._engine.start_timeout:.0f} s: each needs 1 CPU and "
                f"{self._engine.gpus:g} GPU, the cluster has {have}; lower --workers or --gpus-per-worker"
                f"{without_ray(self._engine)}"
            )
        return came

    def look_round(self) -> None:
        """Hire for nodes that have joined; stop workers that hang, whose calls then fail as if they had died."""
        if self._engine.workers is None:
            more = fitting_workers(self._engine.gpus) - len(self.handles)
            self.workers += max(0, more)
            self._hire(more)
        if self._engine.rollout_timeout is not None:
            for worker in self.handles:
                if worker.is_stuck(self._engine.rollout_timeout):
                    ray.kill(worker.handle)
                    worker.timed_out = True

    def replace(self, worker: WorkerHandle, why: str) -> None:
        """A worker is gone, or no longer wanted: hire another, if there is still room for it."""
        with suppress(RayError, ValueError):
            ray.kill(worker.handle)  # it may be unreachable only, and hold its CPU
        self.handles.remove(worker)
        self.replaced += 1
        self._events("worker-died", {"worker": worker.name, "node": worker.hello and worker.hello.node, "why": why})
        if self._engine.workers is not None or len(self.handles) < fitting_workers(self._engine.gpus):
            self._hire(1)

    def dismiss(self) -> None:
        """Stop all at once; nothing stays on the disks of other nodes."""
        elsewhere = [m.handle.leave.remote() for m in self.handles if m.hello and m.hello.folder != "driver"]
        if elsewhere:
            ray.wait(elsewhere, num_returns=len(elsewhere), timeout=5.0)
        for worker in self.handles:
            ray.kill(worker.handle)
        self.handles = []

    def _hire(self, count: int) -> None:
        for _ in range(count):
            name = f"worker-{self._names}"
            self._names += 1
            actor = WorkerActor.options(num_cpus=1, num_gpus=self._engine.gpus)
            self.handles.append(WorkerHandle(name, actor.remote(self._setup, name)))
            self._events("worker-hired", {"worker": name})
