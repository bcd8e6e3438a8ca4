"""One worker of the fleet, seen from the driver: its Ray handle, and the calls that it has been given."""

from __future__ import annotations

import time
from typing import Any

import ray
from ray.exceptions import RayError

from actors.queue import Ticket
from actors.worker import Hello

SILENCE_SECONDS = 30.0
"""A worker that does not answer the question of how long its call has run within this time is taken to hang in compiled code."""


class WorkerHandle:
    """A worker, and its calls in the order in which it runs them. A call is one job, with its `Ticket`."""

    def __init__(self, name: str, handle: Any) -> None:
        self.name, self.handle = name, handle
        self.greeting = handle.hello.remote()
        self.hello: Hello | None = None
        """Set when the worker is up. Before, it gets no calls: it may never be placed."""
        self.calls: dict[Any, Ticket] = {}
        self.alone = False
        """Whether it has its device for itself until its call ends."""
        self.retiring = ""
        """Why it gets no more calls and is replaced when its calls have ended; empty: it goes on."""
        self.timed_out = False
        """Whether it was killed because its call took longer than ``--rollout-timeout``, or because it did not answer."""
        self._current_since = 0.0
        """Time on the driver's clock when the current call, the first in line, may have begun."""
        self._question: Any = None
        """Reference to the unanswered question of how long the current call has run; None: no question is open."""
        self._asked = 0.0
        """Time of the question."""

    @property
    def ready(self) -> bool:
        return self.hello is not None and not self.retiring and not self.timed_out and not self.alone

    @property
    def device(self) -> str:
        """Name of the device that it runs on; empty until it is up."""
        return self.hello.device if self.hello else ""

    def begin(self, call: Any, ticket: Ticket, *, alone: bool) -> None:
        if not self.calls:
            self._current_since = time.monotonic()
        self.calls[call], self.alone = ticket, alone

    def end(self, call: Any) -> Ticket:
        self._current_since, self.alone = time.monotonic(), False
        return self.calls.pop(call)

    def is_stuck(self, limit: float) -> bool:
        """Whether the worker's current call has taken longer than ``limit`` seconds.

        The worker is asked without waiting. Its answer is read the next time `is_stuck` is called.
        """
        if self.hello is None or self.timed_out or not self.calls or time.monotonic() - self._current_since < limit:
            return False
        if self._question is None:
            self._question, self._asked = self.handle.seconds_in_job.remote(), time.monotonic()
            return False
        if not ray.wait([self._question], timeout=0)[0]:
            return time.monotonic() - self._asked > SILENCE_SECONDS
        question, self._question = self._question, None
        try:
            return bool(ray.get(question) > limit)
        except RayError:  # it is dead, which the end of its calls will show
            return False
