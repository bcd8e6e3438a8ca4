"""Queue of jobs: by priority, then first come, first served.

As far as possible, a job goes to the worker that holds its parent state.
"""

from __future__ import annotations

import heapq
import itertools
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from seqsearch.engine.evaluator import Priority

LOOK_AHEAD = 64
"""Pending jobs among which one that suits a worker is looked for."""


@dataclass(eq=False)
class Ticket:
    """A job on its way.

    Attributes:
        deaths: nodes of the workers that died under it.
        unanswered: times that its answer was lost.
    """

    job: Any
    priority: Priority
    number: int
    deaths: list[str] = field(default_factory=list)
    unanswered: int = 0

    def __lt__(self, other: Ticket) -> bool:
        return (self.priority, self.number) < (other.priority, other.number)


class Queue:
    """Pending jobs. Taking one costs the same however many there are (but for the logarithm of a heap)."""

    def __init__(self) -> None:
        self._heap: list[Ticket] = []
        self.exclusive: deque[Ticket] = deque()
        """Jobs that ran out of memory beside others: each is to have a device for itself."""
        self._numbers = itertools.count()

    def __len__(self) -> int:
        return len(self._heap) + len(self.exclusive)

    def add(self, job: Any, priority: Priority) -> None:
        heapq.heappush(self._heap, Ticket(job, priority, next(self._numbers)))

    def put_back(self, ticket: Ticket) -> None:
        """It keeps its place in line."""
        heapq.heappush(self._heap, ticket)

    def pop(self, worker: str, holder: Callable[[Any], str | None]) -> Ticket | None:
        """The first job in line, or one of the same priority whose parent state this worker holds, or nobody; None: no job."""
        if not self._heap:
            return None
        ahead = [heapq.heappop(self._heap) for _ in range(min(LOOK_AHEAD, len(self._heap)))]
        rank = ahead[0].priority[0]
        same = [(t, holder(t.job)) for t in ahead if t.priority[0] == rank]
        mine = next((t for t, who in same if who == worker), None)
        chosen = mine or next((t for t, who in same if who is None), None) or ahead[0]
        for ticket in ahead:
            if ticket is not chosen:
                heapq.heappush(self._heap, ticket)
        return chosen
