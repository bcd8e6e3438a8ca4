"""Ownership of a run folder: the owner is the process that holds its lock and whose token is in it."""

from __future__ import annotations

import contextlib
import os
import time
import uuid
from pathlib import Path
from typing import IO

from seqsearch.core.errors import UserError
from seqsearch.storage.files import cannot_write
from seqsearch.storage.inside import ABSENT, Inside
from seqsearch.storage.locks import lock_in

NAME = "lock"
LONGEST = 1 << 10
"""Bytes of a token that are looked at."""


class Owner:
    """Holds the lock of a run until it is closed or the process ends.

    On some network disks a lock can be lost while its process is paused. So each owner also leaves a token of its own, and looks
    whether it is still there before it writes.

    Raises:
        UserError: another process holds it, or the lock cannot be made.
    """

    def __init__(self, run: Path) -> None:
        self._run = run
        self._token = f"{os.getpid()} {uuid.uuid4().hex}\n".encode()
        try:
            self._lock = _held(run)
            os.ftruncate(self._lock.fileno(), 0)
            os.pwrite(self._lock.fileno(), self._token, 0)
        except OSError as error:
            raise cannot_write(error, run / NAME) from None

    def check(self) -> None:
        """
        Raises:
            UserError: another process has taken the run over, or that is unknown.
        """
        try:
            found = Inside(self._run).read(NAME, LONGEST)
        except OSError as error:
            why = "is gone (was the run moved?)" if error.errno in ABSENT else f"cannot be read ({error.strerror})"
            raise UserError(
                f"{self._run / NAME} {why}: this one ends, and nothing is lost; mend it, and resume"
            ) from None
        if found != self._token:
            raise UserError(
                f"run {self._run} was taken over by another process while this one was paused: this one ends, and nothing "
                f"is lost; see how it is doing with: seqsearch status {self._run}"
            )

    def close(self) -> None:
        """Leave the lock, empty, to others."""
        with contextlib.suppress(UserError):
            self.check()
            os.ftruncate(self._lock.fileno(), 0)
        self._lock.close()


def _held(run: Path) -> IO[bytes]:
    for patience in (0.05, 0.1, 0.2, 0):  # `seqsearch status` takes it for an instant, to see whether it is free
        held = lock_in(Inside(run), NAME)
        if held is not None:
            return held
        time.sleep(patience)
    raise UserError(f"run {run} is in use by another process: wait for it, or stop it and resume")
