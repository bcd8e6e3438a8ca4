"""The contracts of the engine: who runs jobs, and who remembers their results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol, TypeVar

from seqsearch.core.outcomes import EdgeResult, ProbeResult
from seqsearch.core.types import Edge, Probe

A = TypeVar("A")
B = TypeVar("B")
Job = Edge | Probe
Priority = tuple[int, int]
"""Of the planner, then number of the request: what was begun first is finished first, so that few states are alive."""
JobResult = EdgeResult | ProbeResult


class Evaluator(Protocol):
    """Runs jobs somewhere. In process and on Ray it gives identical results."""

    def submit(self, job: Job, priority: Priority) -> None:
        """Take a job; lower priorities run first, then first come first served."""
        ...

    def wait(self, timeout: float | None = None) -> list[tuple[Job, JobResult]]:
        """Block until something is finished, or nothing was for ``timeout`` seconds. Not called with nothing in flight."""
        ...

    def drop(self, states: Iterable[str]) -> None:
        """These states will not be extended any more."""
        ...

    def map(self, function: Callable[[A], B], arguments: Sequence[A]) -> list[B]:
        """``[function(a) for a in arguments]``, wherever there is room: work beside the search, of functions that travel."""
        ...


class Ledger(Protocol):
    """Store of results, known and new: a run's journal, or a way to it."""

    @property
    def trained(self) -> int:
        """Trainings done so far."""
        ...

    def edge(self, digest: str) -> EdgeResult | None:
        """A known result."""
        ...

    def probe(self, digest: str) -> ProbeResult | None:
        """A known answer."""
        ...

    def add(self, *results: EdgeResult | ProbeResult) -> None:
        """Put results down."""
        ...
