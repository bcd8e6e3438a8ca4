"""Calls to workers: assigns jobs, collects results, and puts jobs of dead workers back into the queue."""

from __future__ import annotations

import time
from typing import Any

import ray
from ray.exceptions import ObjectStoreFullError, OutOfDiskError, RayError, RayTaskError

from actors.faults import MAX_DEATHS, cause_of, given_up, is_poison, why_gone
from actors.options import EngineOptions
from actors.queue import Queue, Ticket
from actors.state_index import StateIndex
from actors.worker import Reply
from actors.worker_handle import WorkerHandle
from actors.worker_set import Events, WorkerSet
from seqsearch.core.errors import UserError
from seqsearch.core.outcomes import EdgeResult
from seqsearch.core.types import Edge
from seqsearch.engine.evaluator import Job, JobResult

RETIRE_AT = 0.75
"""Share of ``worker_memory`` beyond which a worker is replaced between jobs: its method leaks."""
USED_UP = "its memory was used up"
SLOTS = 2
"""Calls per worker: one running and one queued, so that it never waits for the driver."""
PATIENCE = 1.0
"""Seconds that `Dispatcher.collect` waits at most."""


class Dispatcher:
    """Gives the jobs in ``queue`` to ``workers``, with what ``index`` knows of states."""

    def __init__(
        self, queue: Queue, workers: WorkerSet, index: StateIndex, engine: EngineOptions, events: Events
    ) -> None:
        self._queue, self._workers, self._index = queue, workers, index
        self._engine, self._events = engine, events
        self._claimed = ""
        """The device that a job is to have for itself."""

    def dispatch(self) -> None:
        """Fill first every worker's running slot, then the queued ones."""
        for depth in range(1, SLOTS + 1):
            for worker in self._workers.handles:
                if worker.ready and len(worker.calls) < depth and len(self._queue):
                    self._call_next(worker)

    def _call_next(self, worker: WorkerHandle) -> None:
        """Give a worker the job that suits it best. One that wants a device for itself claims it, and waits till it is empty."""
        beside = [m for m in self._workers.handles if m.device == worker.device]
        if self._queue.exclusive and not any(m.ready and m.device == self._claimed for m in self._workers.handles):
            self._claimed = worker.device
        if self._queue.exclusive and worker.device == self._claimed:
            if not any(m.calls for m in beside):
                self._call(worker, self._queue.exclusive.popleft(), alone=True)
        elif not any(m.alone for m in beside) and (ticket := self._queue.pop(worker.name, self._index.holder)):
            self._call(worker, ticket)

    def _call(self, worker: WorkerHandle, ticket: Ticket, *, alone: bool = False) -> None:
        offers = self._index.offers(ticket.job, worker, self._workers.handles) if isinstance(ticket.job, Edge) else {}
        worker.begin(worker.handle.run.remote(ticket.job, offers, alone), ticket, alone=alone)

    def collect(self) -> list[tuple[Job, JobResult]]:
        """Wait for at least one call to end, one way or the other, or a second."""
        owner = {call: m for m in self._workers.handles for call in m.calls}
        ready, _ = ray.wait([*owner, *self._workers.coming()], num_returns=1, timeout=PATIENCE)
        ready = [call for call in ready if call in owner]
        if ready:
            more, _ = ray.wait(list(owner), num_returns=len(owner), timeout=0)
            ready = list(dict.fromkeys([*ready, *more]))
        finished: list[tuple[Job, JobResult]] = []
        died: dict[str, tuple[WorkerHandle, RayError]] = {}
        for call in ready:
            worker = owner[call]
            try:
                reply = ray.get(call)
            except RayTaskError as error:
                if not isinstance(cause_of(error), (ObjectStoreFullError, OutOfDiskError)):
                    raise cause_of(error) from None
                self._again(worker.end(call), error)
                continue
            except (ObjectStoreFullError, OutOfDiskError) as error:
                self._again(worker.end(call), error)
                continue
            except RayError as error:  # the process died, was killed for memory, or its node is gone
                died.setdefault(worker.name, (worker, error))
                continue
            finished += self._answered(worker, call, reply)
        for worker, death in died.values():
            finished += self._buried(worker, why_gone(worker, death))
        for worker in [m for m in self._workers.handles if m.retiring and not m.calls]:
            self._buried(worker, f"retired: {worker.retiring}")
        return finished

    def _answered(self, worker: WorkerHandle, call: Any, reply: Reply) -> list[tuple[Job, JobResult]]:
        """Return the result of a call.

        Return an empty list if the call ran out of memory beside other calls; its job is then queued to run alone.
        """
        ticket, alone = worker.calls[call], worker.alone
        worker.end(call)
        self._index.ended(ticket.job, worker, reply)
        result = reply.result
        if isinstance(result, EdgeResult) and result.status == "oom" and not alone:
            self._events("retried-alone", {"worker": worker.name, "message": result.message})
            self._queue.exclusive.append(ticket)
            worker.retiring = USED_UP  # what it and its allocator still hold must not be in the way
            return []
        if isinstance(result, EdgeResult) and result.origin not in ("", "ram", "disk"):
            self._events("state-brought", {"worker": worker.name, "origin": result.origin, "state": result.state})
        if self._engine.worker_memory and reply.resident > RETIRE_AT * self._engine.worker_memory:
            worker.retiring = USED_UP
        if reply.changed:  # the change was undone, but only a fresh worker is certain to be unchanged
            worker.retiring = f"a method changed {reply.changed}"[:300]
        return [(ticket.job, result)]

    def _again(self, ticket: Ticket, error: Exception) -> None:
        """An answer did not fit into Ray's object store.

        Raises:
            UserError: again and again.
        """
        ticket.unanswered += 1
        if ticket.unanswered > MAX_DEATHS:
            raise UserError(
                "Ray's object store and its disk are full: free some space on the nodes, then resume"
            ) from None
        self._events("object-store-full", {"message": str(error)[:200]})
        time.sleep(0.5)
        self._queue.put_back(ticket)

    def _buried(self, worker: WorkerHandle, why: str) -> list[tuple[Job, JobResult]]:
        """A worker is gone: put its calls in line again; the one that ran may be what killed it."""
        self._index.lost(worker.name)
        self._workers.replace(worker, why)
        failed: list[tuple[Job, JobResult]] = []
        for position, ticket in enumerate(worker.calls.values()):
            if position == 0:
                ticket.deaths.append(worker.hello.node if worker.hello else "")
                if worker.timed_out:
                    failed.append(given_up(ticket.job, "timeout", self._engine))
                    continue
                if is_poison(ticket.deaths):
                    failed.append(given_up(ticket.job, "oom" if "memory" in why else "failed", self._engine))
                    continue
            self._queue.put_back(ticket)
        return failed
