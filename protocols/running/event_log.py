"""``log.jsonl``: what happened in a run, one JSON object a line. For people and their tools; nothing that is found
depends on it. (A session that stopped before it had a journal says there how many workers it was given.)"""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from seqsearch.core.errors import UserError
from seqsearch.core.notices import warn
from seqsearch.core.text import json_line
from seqsearch.storage.inside import Inside

NAME = "log.jsonl"
BEGINS = "session-begin"
"""The event with which a session begins."""


def now() -> str:
    """ISO 8601, UTC, milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


class EventLog:
    """Appends to the ``log.jsonl`` of a run folder. A log that cannot be written is said once and stops nothing.

    ``check`` raises `UserError` where the log is another process' by now: nothing is appended then.
    """

    def __init__(self, folder: Path, check: Callable[[], None] = lambda: None) -> None:
        self._folder, self._check = Inside(folder), check
        self._broken = False
        self._begin = b"\n" if self._torn() else b""

    def write(self, event: str, /, **fields: Any) -> None:
        """One line: ``time``, ``event`` and the fields; what JSON does not know is text, what does not show is escaped."""
        try:
            self._check()
        except UserError:
            return
        line = {"time": now(), "event": event, **fields}
        data = self._begin + json_line(line).encode() + b"\n"
        try:
            file = self._folder.open(NAME, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
            try:
                os.write(file, data)
            finally:
                os.close(file)
            self._begin = b""
        except OSError as error:
            if not self._broken:
                warn(f"cannot write {self._folder.path / NAME} ({error.strerror}); the run goes on")
            self._broken = True

    def _torn(self) -> bool:
        """Whether the last line has no end: its writer was killed."""
        try:
            with self._folder.reader(NAME) as file:
                file.seek(-1, os.SEEK_END)
                return file.read(1) != b"\n"
        except OSError:  # not there, or empty
            return False
