"""The Ray evaluator: workers with live states, affinity, back-pressure, retry and replacement. Same results as in process."""

from __future__ import annotations

import heapq
import itertools
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import ray
from ray.exceptions import RayError, RayTaskError

from actors.worker import Worker
from seqsearch.cache import StateCache
from seqsearch.errors import UserError
from seqsearch.features import Shard
from seqsearch.inline import pin_threads
from seqsearch.search import Job, JobResult, Priority
from seqsearch.types import Edge, EdgeResult
from seqsearch.world import World

MAX_RETRIES = 2
"""Times a job is tried again after the worker under it died."""
SLOTS = 2
"""Calls per worker: one running and one queued, so that it never waits for the driver."""
LOOK_AHEAD = 64
"""Pending jobs among which one that suits a worker is looked for."""


@dataclass(eq=False)
class _Ticket:
    """A job on its way."""

    job: Any
    priority: Priority
    number: int
    tries: int = 0

    def __lt__(self, other: _Ticket) -> bool:
        return (self.priority, self.number) < (other.priority, other.number)


@dataclass(eq=False)
class _Member:
    """A worker, and the calls it has been given in their order."""

    name: str
    handle: Any
    hello: Any
    """Answered when the worker is up; None from then on. Before, it gets no calls: it may never be placed."""
    calls: dict[Any, _Ticket] = field(default_factory=dict)


class Fleet:
    """``count`` workers on a connected Ray.

    Raises:
        UserError: Ray cannot place a single worker for ``start_timeout`` seconds, now or later.
    """

    def __init__(self, world: World, count: int, gpus_per_worker: float = 0.0, start_timeout: float = 120.0) -> None:
        pin_threads()  # the planner's arithmetic (potentials, k-means) happens in this process
        self.world, self.count, self._gpus = world, count, gpus_per_worker
        self._disk, self._timeout = StateCache(Path(world.states)), start_timeout
        self._pending: list[_Ticket] = []
        self._tickets, self._names = itertools.count(), itertools.count()
        self._holders: dict[str, str] = {}
        self._members: list[_Member] = [self._hire() for _ in range(count)]
        self._busy_seconds = 0.0
        self._first_start: float | None = None
        self._last_end = 0.0
        self.replaced = 0
        self._stillborn = 0
        self._alive_at = time.monotonic()
        self._await_first()

    # ------------------------------------------------------------------------------------------------ evaluator

    @property
    def workers(self) -> int:
        return self.count

    def submit(self, job: Job, priority: Priority) -> None:
        heapq.heappush(self._pending, _Ticket(job, priority, next(self._tickets)))
        self._dispatch()

    def wait(self) -> list[tuple[Job, JobResult]]:
        while True:
            finished = self._collect()
            self._dispatch()
            if finished:
                return finished

    def extract(self, missing: Iterable[tuple[str, int, Shard]]) -> Iterator[None]:
        """Compute shards of frozen features, many at a time; yields once for each."""
        for number, job in enumerate(missing):
            heapq.heappush(self._pending, _Ticket(job, (0, 0), number))
        left = len(self._pending)
        self._dispatch()
        while left:
            for _ in self._collect():
                left -= 1
                yield
            self._dispatch()

    def drop(self, states: Iterable[str]) -> None:
        gone = list(states)
        for digest in gone:
            self._holders.pop(digest, None)
        self._disk.drop(gone)
        for member in self._members:
            member.handle.drop.remote(gone)

    def busy(self) -> int:
        """Workers with something to do."""
        return sum(bool(m.calls) for m in self._members)

    def busy_share(self) -> float:
        """Fraction of the workers' time spent on jobs between the first start and the last end."""
        if self._first_start is None or self._last_end <= self._first_start:
            return 0.0
        return self._busy_seconds / (self.count * (self._last_end - self._first_start))

    def pids(self) -> list[int]:
        """Process ids of the workers."""
        return [int(p) for p in ray.get([m.handle.pid.remote() for m in self._members if m.hello is None])]

    def close(self) -> None:
        """Stop the workers at once."""
        for member in self._members:
            ray.kill(member.handle)
        self._members = []

    # ------------------------------------------------------------------------------------------------ inside

    def _hire(self) -> _Member:
        name = f"worker-{next(self._names)}"
        handle = Worker.options(num_cpus=1, num_gpus=self._gpus).remote(self.world, name)  # type: ignore[attr-defined]
        return _Member(name, handle, handle.pid.remote())

    def _await_first(self) -> None:
        while not any(m.hello is None for m in self._members):
            ray.wait([m.hello for m in self._members], num_returns=1, timeout=1.0)
            self._welcome()

    def _welcome(self) -> None:
        """Workers that have come up since the last look.

        Raises:
            UserError: no worker is up, and none has come up for a while; or they die while they start, again and again.
        """
        waiting = {m.hello: m for m in self._members if m.hello is not None}
        up, _ = ray.wait(list(waiting), num_returns=len(waiting), timeout=0) if waiting else ([], [])
        for hello in up:
            try:
                ray.get(hello)
                waiting[hello].hello = None
                self._stillborn = 0
            except RayError as error:
                self._stillborn += 1
                if self._stillborn > MAX_RETRIES * self.count:
                    raise UserError(f"workers die while they start: {' '.join(str(error).split())[:300]}") from None
                self._replace(waiting[hello])
        if any(m.hello is None for m in self._members):
            self._alive_at = time.monotonic()
        elif time.monotonic() - self._alive_at > self._timeout:
            have = {k: v for k, v in ray.cluster_resources().items() if k in ("CPU", "GPU")}
            raise UserError(
                f"no worker could start within {self._timeout:.0f} s: each needs 1 CPU and {self._gpus:g} GPU, the cluster has "
                f"{have}; lower --workers or --gpus-per-worker"
            )

    def _dispatch(self) -> None:
        """Fill first every worker's running slot, then the queued ones."""
        for depth in range(1, SLOTS + 1):
            for member in self._members:
                if self._pending and member.hello is None and len(member.calls) < depth:
                    self._call(member, self._pick(member))

    def _pick(self, member: _Member) -> _Ticket:
        """The first job in line, or one of the same priority whose parent state this worker holds."""
        ahead = heapq.nsmallest(LOOK_AHEAD, self._pending)
        mine = (t for t in ahead if t.priority[0] == ahead[0].priority[0] and self._holder(t) == member.name)
        free = (t for t in ahead if t.priority[0] == ahead[0].priority[0] and self._holder(t) is None)
        chosen = next(mine, None) or next(free, None) or ahead[0]
        self._pending.remove(chosen)
        heapq.heapify(self._pending)
        return chosen

    def _holder(self, ticket: _Ticket) -> str | None:
        return self._holders.get(ticket.job.parent) if isinstance(ticket.job, Edge) else None

    def _call(self, member: _Member, ticket: _Ticket) -> None:
        self._first_start = self._first_start or time.perf_counter()
        member.calls[member.handle.run.remote(ticket.job)] = ticket

    def _collect(self) -> list[tuple[Job, JobResult]]:
        """Wait for at least one call to end, one way or the other."""
        self._welcome()
        owner = {call: m for m in self._members for call in m.calls}
        waiting = [m.hello for m in self._members if m.hello is not None]
        ready, _ = ray.wait([*owner, *waiting], num_returns=1, timeout=1.0)
        ready = [call for call in ready if call in owner]
        if ready:
            more, _ = ray.wait(list(owner), num_returns=len(owner), timeout=0)
            ready = list(dict.fromkeys([*ready, *more]))
        finished: list[tuple[Job, JobResult]] = []
        died: dict[str, _Member] = {}
        for call in ready:
            member = owner[call]
            try:
                result, seconds = ray.get(call)
            except RayTaskError as error:
                raise _cause(error) from None
            except RayError:  # the process died, was killed for memory, or its node is gone
                died[member.name] = member
                continue
            ticket = member.calls.pop(call)
            self._busy_seconds += seconds
            self._last_end = time.perf_counter()
            if isinstance(ticket.job, Edge):
                self._holders[ticket.job.state] = member.name
            finished.append((ticket.job, result))
        for member in died.values():
            finished += self._replace(member)
        return finished

    def _replace(self, member: _Member) -> list[tuple[Job, JobResult]]:
        """A worker is gone: hire another, put its calls in line again; the one that ran may be what killed it."""
        ray.kill(member.handle)  # it may be unreachable only, and hold its CPU
        self._members.remove(member)
        self._holders = {state: name for state, name in self._holders.items() if name != member.name}
        self.replaced += 1
        failed: list[tuple[Job, JobResult]] = []
        for position, ticket in enumerate(member.calls.values()):
            ticket.tries += position == 0
            if ticket.tries > MAX_RETRIES:
                failed.append(_poison(ticket.job))
            else:
                heapq.heappush(self._pending, ticket)
        self._members.append(self._hire())
        return failed


def _poison(job: Any) -> tuple[Job, JobResult]:
    """The result of a job that killed every worker it was given to.

    Raises:
        UserError: it was not a training, so that there is no result to say it in.
    """
    message = f"killed its worker {MAX_RETRIES + 1} times (out of memory, or a crash in compiled code)"
    if not isinstance(job, Edge):
        raise UserError(f"a job that computes features {message}; use fewer --workers or --probe-images, then resume")
    return job, EdgeResult(job.digest, job.state, "failed", message=message)


def _cause(error: RayTaskError) -> Exception:
    """The exception that the worker raised."""
    cause = getattr(error, "cause", None)
    return cause if isinstance(cause, Exception) else error
