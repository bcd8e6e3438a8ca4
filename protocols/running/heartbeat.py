"""``status.json``: how far a run is, for ``seqsearch status`` in another terminal. A thread writes it, so that a long training
does not look like a dead run."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from protocols.running.event_log import now
from seqsearch.core.errors import UserError
from seqsearch.storage.files import atomic_path

SOONEST, LATEST = 1.0, 5.0
"""Seconds between two writings: at least, and at most."""


class Heartbeat:
    """Writes what ``describe`` returns, at most once a second if it changed, and every few seconds if not, until it is closed.

    ``describe`` is called from another thread. A file that cannot be written (the disk is full), or must not be by ``check``,
    stops nothing.
    """

    def __init__(
        self, path: Path, describe: Callable[[], dict[str, Any]], check: Callable[[], None] = lambda: None
    ) -> None:
        self.path, self._describe, self._check = path, describe, check
        self._end = threading.Event()
        self._last: dict[str, Any] | None = None
        self._written = 0.0
        self._thread = threading.Thread(target=self._beat, name="heartbeat", daemon=True)
        self.write()
        self._thread.start()

    def write(self) -> None:
        """Write now."""
        self._last, self._written = self._describe(), time.monotonic()
        try:
            self._check()
            with atomic_path(self.path) as temporary:
                temporary.write_text(json.dumps({"at": now(), **self._last}, default=str) + "\n")
        except UserError:
            return

    def close(self) -> None:
        """Write a last time."""
        self._end.set()
        self._thread.join()
        self.write()

    def _beat(self) -> None:
        while not self._end.wait(SOONEST):
            if self._describe() != self._last or time.monotonic() - self._written >= LATEST:
                self.write()
