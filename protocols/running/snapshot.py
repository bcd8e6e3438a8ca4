"""Progress of a session at one moment, and the interface of its displays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Snapshot:
    """Figures of a session at one moment; counts include what was replayed from the journal.

    The fields are keys of ``status.json`` and keep their names: ``judged`` counts evaluated candidates, ``saved`` is
    `Counts.shared` and ``cache_hits`` is `Counts.known`.

    ``done`` of about ``total`` ``unit`` of the ``phase`` are finished. ``saved`` are results that rollouts needed without a
    training of their own, ``cache_hits`` results that were in the journal already, ``replayed`` results of earlier sessions,
    ``queued`` jobs that wait for a worker.
    """

    phase: str = "starting"
    done: int = 0
    total: int = 0
    unit: str = "rollouts"
    step: int = 1
    steps: int = 0
    rollouts: int = 0
    judged: int = 0
    trained: int = 0
    saved: int = 0
    cache_hits: int = 0
    replayed: int = 0
    in_flight: int = 0
    queued: int = 0
    workers: int = 0
    busy: int = 0
    busy_share: float | None = None
    left_seconds: float | None = None
    troubles: tuple[str, ...] = ()


@dataclass(frozen=True)
class Expected:
    """Upper bounds for progress and remaining time: rollouts and trainings of a session, and steps of a sequence."""

    rollouts: int = 0
    trainings: int = 0
    steps: int = 0


class Display(Protocol):
    """Something that shows how a session goes."""

    def start(self) -> None:
        """The session begins."""
        ...

    def stop(self) -> None:
        """The session is over."""
        ...

    def say(self, line: str) -> None:
        """Print a line that stays."""
        ...

    def say_lines(self, text: str) -> None:
        """Print lines that the user asked for, and that stay."""
        ...

    def show(self, s: Snapshot) -> None:
        """Show the progress; cheap, and called after every result."""
        ...


class NoDisplay:
    """Shows nothing."""

    def start(self) -> None:
        return

    def stop(self) -> None:
        return

    def say(self, line: str) -> None:
        return

    def say_lines(self, text: str) -> None:
        return

    def show(self, s: Snapshot) -> None:
        return
