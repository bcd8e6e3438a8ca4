"""The Ray evaluator: workers with live states, affinity, back-pressure, retry and replacement. Same results as in process."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import ray
from ray.exceptions import ObjectStoreFullError, OutOfDiskError, RayError, RayTaskError
from ray.exceptions import OutOfMemoryError as RayOutOfMemoryError

from actors.cluster import alive_nodes
from actors.node import marker
from actors.options import EngineOptions
from actors.queue import Queue, Ticket
from actors.state_index import StateIndex
from actors.worker import Call, Setup
from actors.worker_handle import WorkerHandle
from actors.worker_set import Events, WorkerSet, cause_of
from seqsearch.core.digests import digest_of
from seqsearch.core.errors import UserError
from seqsearch.core.types import Edge, EdgeResult
from seqsearch.engine.inline import pin_threads
from seqsearch.engine.search import A, B, Job, JobResult, Priority
from seqsearch.features.store import Shard
from seqsearch.states.folder import StateFolder
from seqsearch.states.shared import StateStore
from seqsearch.training.world import World

MAX_RETRIES = 2
"""Times a job is tried again after the worker under it died. Deaths of whole nodes are nobody's fault and do not count."""
MAX_DEATHS = 10
"""Times in all, whoever's fault."""
SETTLE_SECONDS = 15.0
"""Ray says of a killed node that it is alive for so long."""
RETIRE_AT = 0.75
"""Share of ``worker_memory`` beyond which a worker is replaced between jobs: its method leaks."""
SLOTS = 2
"""Calls per worker: one running and one queued, so that it never waits for the driver."""
ROOM_EVERY = 60.0
"""Seconds between looks at the bytes of shared states."""
LOOK_ROUND_EVERY = 1.0
"""Seconds between looks for stuck workers, joined nodes, states to forget."""


class Fleet:
    """Workers on a connected Ray.

    Args:
        keeps: states that nothing extends stay on the disk, for other runs.
        events: told what happens to workers: name and details.
        trainer: makes a worker's trainer; None: the real one.

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
    ) -> None:
        pin_threads()  # the planner's arithmetic (potentials, k-means) happens in this process
        self.world, self.engine, self.events = world, engine, events
        self._folder = StateFolder(Path(world.states))
        self._keeps = keeps
        self._token = digest_of("run", world.states)
        setup = Setup(
            world, self._token, keeps, engine.state_store if engine.remote_store else "", engine.gpus_per_worker,
            engine.worker_memory, trainer,
        )  # fmt: skip
        self._store = StateStore(engine.state_store) if engine.remote_store else None
        self._room_made = 0.0
        self._mark_folder()
        self._queue, self._index = Queue(), StateIndex()
        self._forget: list[str] = []
        self._claimed, self._looked = "", time.monotonic()
        self.worker_set = WorkerSet(setup, engine, events)
        try:
            self.await_workers(1)
        except BaseException:
            self.close()
            raise

    # ------------------------------------------------------------------------------------------------ evaluator

    def submit(self, job: Job, priority: Priority) -> None:
        self._queue.add(job, priority)
        self._dispatch()

    def wait(self, timeout: float | None = None) -> list[tuple[Job, JobResult]]:
        until = None if timeout is None else time.monotonic() + timeout
        while True:
            finished = self._collect()
            self._dispatch()
            if finished or (until is not None and time.monotonic() >= until):
                return finished

    def extract(self, missing: Iterable[tuple[str, int, Shard]]) -> Iterator[None]:
        """Compute shards of frozen features, many at a time; yields once for each."""
        for job in missing:
            self._queue.add(job, (0, 0))
        left = len(self._queue)
        self._dispatch()
        while left:
            for _ in self._collect():
                left -= 1
                yield
            self._dispatch()

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
            self._dispatch()
            results.update((job, result) for job, result in self._collect() if isinstance(job, Call))
        return [results[c] for c in calls]

    def drop(self, states: Iterable[str]) -> None:
        gone = list(states)
        self._index.forget(gone)
        if not self._keeps:
            self._folder.remove(gone)
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

    def pids(self) -> list[int]:
        """Process ids of the workers that are up."""
        return [m.hello.pid for m in self.worker_set.handles if m.hello]

    def nodes(self) -> set[str]:
        """Ids of the nodes that workers are up on."""
        return {m.hello.node for m in self.worker_set.handles if m.hello}

    def close(self) -> None:
        """Stop the workers at once, leave nothing behind that is of no use."""
        self.worker_set.dismiss()
        marker(self._folder.path, self._token).unlink(missing_ok=True)
        if not self._keeps:
            self._folder.sweep(grace=0.0)
        self._room_made = -ROOM_EVERY
        self._make_room()

    # ------------------------------------------------------------------------------------------------ states

    def _make_room(self) -> None:
        """Keep the states that other runs may use within ``state_cache``; those that this run needs stay."""
        if not self.engine.state_store or time.monotonic() - self._room_made < ROOM_EVERY:
            return
        self._room_made = time.monotonic()
        keeper = self._store or self._folder
        if gone := keeper.evict(self.engine.state_cache, self._index.states()):
            self.events("states-evicted", {"count": len(gone)})

    def _mark_folder(self) -> None:
        try:
            self._folder.path.mkdir(parents=True, exist_ok=True)
            marker(self._folder.path, self._token).touch()
        except OSError as error:
            raise UserError(f"cannot write states to {self._folder.path}: {error.strerror}; make it writable") from None

    # ------------------------------------------------------------------------------------------------ workers

    def await_workers(self, count: int) -> None:
        """Until so many are up.

        Raises:
            UserError: none comes up for ``engine.start_timeout`` seconds, or they die while they start.
        """
        while sum(m.hello is not None for m in self.worker_set.handles) < count:
            ray.wait(self.worker_set.coming(), num_returns=1, timeout=1.0)
            self._welcome()

    def _welcome(self) -> None:
        for worker in self.worker_set.welcome():
            self._index.up(worker.name)

    def _look_round(self) -> None:
        """What need not be done at every result."""
        if time.monotonic() - self._looked < LOOK_ROUND_EVERY:
            return
        self._looked = time.monotonic()
        self._make_room()
        if self._forget:
            for worker in self.worker_set.handles:
                worker.handle.drop.remote(self._forget)
            self._forget = []
        self.worker_set.look_round()

    # ------------------------------------------------------------------------------------------------ calls

    def _dispatch(self) -> None:
        """Fill first every worker's running slot, then the queued ones."""
        for depth in range(1, SLOTS + 1):
            for worker in self.worker_set.handles:
                if worker.ready and len(worker.calls) < depth and len(self._queue):
                    self._call_next(worker)

    def _call_next(self, worker: WorkerHandle) -> None:
        """Give a worker the job that suits it best. One that wants a device for itself claims it, and waits till it is empty."""
        beside = [m for m in self.worker_set.handles if m.device == worker.device]
        if self._queue.exclusive and not any(m.ready and m.device == self._claimed for m in self.worker_set.handles):
            self._claimed = worker.device
        if self._queue.exclusive and worker.device == self._claimed:
            if not any(m.calls for m in beside):
                self._call(worker, self._queue.exclusive.popleft(), alone=True)
        elif not any(m.alone for m in beside) and (ticket := self._queue.pop(worker.name, self._index.holder)):
            self._call(worker, ticket)

    def _call(self, worker: WorkerHandle, ticket: Ticket, *, alone: bool = False) -> None:
        offers = self._index.offers(ticket.job, worker, self.worker_set.handles) if isinstance(ticket.job, Edge) else {}
        worker.begin(worker.handle.run.remote(ticket.job, offers, alone), ticket, alone=alone)

    def _collect(self) -> list[tuple[Job, JobResult]]:
        """Wait for at least one call to end, one way or the other, or a second."""
        self._welcome()
        self._look_round()
        owner = {call: m for m in self.worker_set.handles for call in m.calls}
        ready, _ = ray.wait([*owner, *self.worker_set.coming()], num_returns=1, timeout=LOOK_ROUND_EVERY)
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
            ticket, alone = worker.calls[call], worker.alone
            worker.end(call)
            self._index.ended(ticket.job, worker, reply)
            result = reply.result
            if isinstance(result, EdgeResult) and result.status == "oom" and not alone:
                self.events("retried-alone", {"worker": worker.name, "message": result.message})
                self._queue.exclusive.append(ticket)
                worker.retiring = True  # what it and its allocator still hold must not be in the way
                continue
            if isinstance(result, EdgeResult) and result.origin not in ("", "ram", "disk"):
                self.events("state-brought", {"worker": worker.name, "origin": result.origin, "state": result.state})
            finished.append((ticket.job, result))
            if self.engine.worker_memory and reply.resident > RETIRE_AT * self.engine.worker_memory:
                worker.retiring = True
        for worker, death in died.values():
            finished += self._buried(worker, _why(worker, death))
        for worker in [m for m in self.worker_set.handles if m.retiring and not m.calls]:
            self._buried(worker, "retired: its memory was used up")
        return finished

    def _again(self, ticket: Ticket, error: Exception) -> None:
        """An answer found no room in Ray's object store.

        Raises:
            UserError: again and again.
        """
        ticket.unanswered += 1
        if ticket.unanswered > MAX_DEATHS:
            raise UserError(
                "Ray's object store and its disk are full: free some space on the nodes, then resume"
            ) from None
        self.events("object-store-full", {"message": str(error)[:200]})
        time.sleep(0.5)
        self._queue.put_back(ticket)

    def _buried(self, worker: WorkerHandle, why: str) -> list[tuple[Job, JobResult]]:
        """A worker is gone: put its calls in line again; the one that ran may be what killed it."""
        self._index.lost(worker.name)
        self.worker_set.replace(worker, why)
        failed: list[tuple[Job, JobResult]] = []
        for position, ticket in enumerate(worker.calls.values()):
            if position == 0:
                ticket.deaths.append(worker.hello.node if worker.hello else "")
                if worker.timed_out:
                    failed.append(self._given_up(ticket.job, "timeout"))
                    continue
                if self._is_poison(ticket):
                    failed.append(self._given_up(ticket.job, "oom" if "memory" in why else "failed"))
                    continue
            self._queue.put_back(ticket)
        return failed

    def _is_poison(self, ticket: Ticket) -> bool:
        """It killed too many workers, not counting those whose whole node has gone."""
        if len(ticket.deaths) <= MAX_RETRIES:
            return False
        here, until = ray.get_runtime_context().get_node_id(), time.monotonic() + SETTLE_SECONDS
        while True:
            alive = alive_nodes()
            blamed = sum(node in alive for node in ticket.deaths)
            if blamed <= MAX_RETRIES:
                return len(ticket.deaths) > MAX_DEATHS
            if set(ticket.deaths) <= {here, ""} or time.monotonic() > until:
                return True
            time.sleep(0.5)

    def _given_up(self, job: Any, status: Any) -> tuple[Job, JobResult]:
        """The result of a job that hangs, or killed every worker it was given to.

        Raises:
            UserError: it was not a training, so that there is no result to say it in.
        """
        message = f"killed its worker {MAX_RETRIES + 1} times (a crash in compiled code, or the system's out-of-memory killer)"
        if status == "timeout":
            message = f"took longer than --rollout-timeout {self.engine.rollout_timeout:g} s"
        if isinstance(job, Call):
            raise UserError(f"{job.function.__name__} {message}; use fewer --workers, then resume")
        if not isinstance(job, Edge):
            raise UserError(
                f"a job that computes features {message}; use fewer --workers or --probe-images, then resume"
            )
        return job, EdgeResult(job.digest, job.state, status, message=message)


def _why(worker: WorkerHandle, error: RayError) -> str:
    """Why a worker is gone, in one line."""
    if worker.timed_out:
        return "timeout"
    if isinstance(error, RayOutOfMemoryError):
        return "killed because its node ran out of memory"
    return " ".join(str(error).split())[:200]
