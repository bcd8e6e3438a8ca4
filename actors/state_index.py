"""The fleet's index of states (holders and costs), and the time that its workers spent."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from actors.worker import Reply
from actors.worker_handle import WorkerHandle
from seqsearch.core.types import Edge
from seqsearch.states.transfer import Offer


@dataclass(frozen=True)
class _Known:
    """A state that was trained: by whom, in which node's folder it lies, seconds of its training, size."""

    worker: str
    folder: str
    seconds: float
    size: int


class StateIndex:
    """Kept by the driver; forgotten with the states."""

    def __init__(self) -> None:
        self._states: dict[str, _Known] = {}
        self._busy = 0.0
        self._up: dict[str, float] = {}
        self._gone: dict[str, float] = {}
        self._first = self._last = 0.0

    # ------------------------------------------------------------------------------------------------ time

    def up(self, worker: str) -> None:
        """A worker can be given jobs from now on."""
        self._up[worker] = time.perf_counter()

    def busy_share(self) -> float:
        """Fraction of the workers' time, from when each was up, spent on jobs between the first start and the last end."""
        spans = [self._gone.get(w, self._last) - max(begin, self._first) for w, begin in self._up.items()]
        available = sum(s for s in spans if s > 0)
        return min(1.0, self._busy / available) if available > 0 else 0.0

    # ------------------------------------------------------------------------------------------------ states

    def states(self) -> frozenset[str]:
        """Those that the search may still extend."""
        return frozenset(self._states)

    def holder(self, job: Any) -> str | None:
        """The worker that trained the state which a job starts from."""
        known = self._states.get(job.key.parent.digest) if isinstance(job, Edge) else None
        return known.worker if known and known.worker else None

    def ended(self, job: Any, worker: WorkerHandle, reply: Reply) -> None:
        """A call was answered."""
        self._busy += reply.seconds
        self._last = time.perf_counter()
        self._first = self._first or self._last - reply.seconds
        if isinstance(job, Edge) and worker.hello:
            self._states[job.key.digest] = _Known(worker.name, worker.hello.folder, reply.seconds, reply.size)

    def forget(self, states: Iterable[str]) -> None:
        for digest in states:
            self._states.pop(digest, None)

    def lost(self, worker: str) -> None:
        """A worker is gone: what it held in RAM is, too; its node's disk may be there."""
        self._gone[worker] = time.perf_counter()
        for digest, known in self._states.items():
            if known.worker == worker:
                self._states[digest] = replace(known, worker="")

    def offers(self, edge: Edge, to: WorkerHandle, handles: Sequence[WorkerHandle]) -> Mapping[str, Offer]:
        """Return the states that a worker may fetch from other nodes for an edge.

        Return an empty mapping if its own folder has all states that it needs.
        """
        here = to.hello.folder if to.hello else ""
        known = {d: self._states[d] for d in edge.key.chain[:-1] if d in self._states}
        if edge.key.part and edge.key.home.digest in self._states:
            known[edge.key.part] = self._states[edge.key.home.digest]  # it lies where that state does
        if all(k.folder == here for k in known.values()):
            return {}
        by_name = {m.name: m for m in handles}
        by_folder = {m.hello.folder: m for m in handles if m.hello}
        offers = {}
        for digest, k in known.items():
            source = by_name.get(k.worker) or by_folder.get(k.folder)
            offered = source is not None and k.size > 0 and k.folder != here
            offers[digest] = Offer(k.seconds, k.size, (source.name, source.handle) if source and offered else None)
        return offers
