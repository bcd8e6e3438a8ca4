"""One worker as the fleet sees it: its handle, and the calls that it has been given."""

from __future__ import annotations

import time
from typing import Any

import ray
from ray.exceptions import RayError

from actors.queue import Ticket
from actors.worker import Hello

SILENCE_SECONDS = 30.0
"""A worker that does not say within this time how long it has been at it hangs in compiled code."""


class WorkerHandle:
    """A worker, and its calls in their order."""

    def __init__(self, name: str, handle: Any) -> None:
        self.name, self.handle = name, handle
        self.greeting = handle.hello.remote()
        self.hello: Hello | None = None
        """Set when the worker is up. Before, it gets no calls: it may never be placed."""
        self.calls: dict[Any, Ticket] = {}
        self.alone = False
        """It has its device for itself until its call ends."""
        self.retiring = ""
        """Why it gets no more calls, and is replaced when it has none; empty: it goes on."""
        self.timed_out = False
        self._head_since = 0.0
        self._question: Any = None
        self._asked = 0.0

    @property
    def ready(self) -> bool:
        return self.hello is not None and not self.retiring and not self.timed_out and not self.alone

    @property
    def device(self) -> str:
        """Whose memory it uses; empty until it is up."""
        return self.hello.device if self.hello else ""

    def begin(self, call: Any, ticket: Ticket, *, alone: bool) -> None:
        if not self.calls:
            self._head_since = time.monotonic()
        self.calls[call], self.alone = ticket, alone

    def end(self, call: Any) -> Ticket:
        self._head_since, self.alone = time.monotonic(), False
        return self.calls.pop(call)

    def is_stuck(self, limit: float) -> bool:
        """Check whether the worker's current job has taken longer than ``limit`` seconds.

        The worker is asked without waiting, and its answer is read at a later call.
        """
        if self.hello is None or self.timed_out or not self.calls or time.monotonic() - self._head_since < limit:
            return False
        if self._question is None:
            self._question, self._asked = self.handle.stuck.remote(), time.monotonic()
            return False
        if not ray.wait([self._question], timeout=0)[0]:
            return time.monotonic() - self._asked > SILENCE_SECONDS
        question, self._question = self._question, None
        try:
            return bool(ray.get(question) > limit)
        except RayError:  # it is dead, which will be noticed elsewhere
            return False
