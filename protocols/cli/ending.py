"""The last line of a command that was asked to stop: how to go on, and the exit code."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import NoReturn

_line = "stopped; nothing was begun"


def last_words(line: str) -> None:
    """Set the last line that is printed if a signal ends this process."""
    global _line
    _line = line


def end(number: int) -> NoReturn:
    """Say it, and exit with 128 plus the number of the signal."""
    _flush()
    with contextlib.suppress(OSError):
        os.write(2, f"\n{_line}\n".encode(errors="replace"))
    os._exit(128 + number)


def leave(code: int) -> NoReturn:
    """Exit past exit handlers, which would wait for a cluster."""
    _flush()
    os._exit(code)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, RuntimeError):  # closed, gone, or in the middle of writing
            stream.flush()
