"""The process of a command: started, watched, ended with all that it has started; what it says is kept."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator
from typing import IO

from seqsearch.core.outcomes import Status
from seqsearch.core.text import cut, shown
from seqsearch.storage.files import atomic_file
from seqsearch.storage.inside import Inside
from seqsearch.training.command import confined
from seqsearch.training.command.places import OUTPUT, Places

KEPT = 1 << 20
"""Bytes of output that are kept, of its beginning and of its end."""
SIGNALS = range(129, 160)
"""Exit codes that stand for signals, as in a shell."""
LAST_WORDS = 5.0
"""Seconds for what a command that has ended left in its pipe."""
PATIENCE = 10.0
"""Seconds for a watcher to end what it watches."""
SMALL = 300
"""Characters of a message that a command's own words may take."""


class CommandFailed(Exception):
    """A fault of a command, which is a result and no crash."""

    def __init__(self, message: str, status: Status = "failed") -> None:
        super().__init__(message)
        self.status: Status = status


def run_process(words: list[str], places: Places, hours: float, writes: str) -> None:
    """Run a command to its end, for so many ``hours`` at most; ``writes``: folders beside its own, separated by colons.

    Raises:
        CommandFailed: it could not be started, ended with another code than 0, or took too long.
    """
    with _started(words, places, writes) as process:
        assert process.stdout is not None
        said = _Kept(process.stdout, places.folder)
        try:
            code = process.wait(hours * 3600)
        except subprocess.TimeoutExpired:
            why = f"took longer than --command-hours {hours:g}"
            raise CommandFailed(f"{why}{places.where_output}", "timeout") from None
        finally:
            _end(process, str(places.scratch.path))
            said.end()
    if code:
        how = f"ended by signal {code - 128}" if code in SIGNALS else f"exit code {code}"
        last = cut(shown(said.last_line()), SMALL)
        raise CommandFailed(f"{how}{f': {last}' if last else ''}{places.where_output}")


@contextlib.contextmanager
def _started(words: list[str], places: Places, writes: str) -> Iterator[subprocess.Popen[bytes]]:
    """The process, which is gone with all that it started when the block is left, however that is, or this process ends."""
    own = {k: v for k, v in os.environ.items() if not k.startswith(("RAY_", "SEQSEARCH_"))}
    environment = {"PYTHONHASHSEED": "0", **own, "TMPDIR": str(places.scratch.path)}
    folders = [str(places.out.path), str(places.scratch.path), *filter(None, writes.split(":"))]
    confined.inherit(True)
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", confined.__file__, *folders, "--", *words],
        cwd=places.out.path,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        _end(process, str(places.scratch.path))
        confined.inherit(False)
        for folder in (places.scratch, places.unlabelled):
            shutil.rmtree(folder.path, ignore_errors=True)


def _end(process: subprocess.Popen[bytes], scratch: str) -> None:
    """Have it ended with all that it started, and wait till it is.

    Its watcher does that. Where the program has stopped the watcher, which kernels without signal scopes allow, this process ends
    what it then inherits: processes whose environment names the ``scratch`` folder of the command.
    """
    assert process.stdin is not None
    process.stdin.close()  # its watcher sees that
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(PATIENCE)
        return
    process.kill()
    process.wait()
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and (left := confined.left(scratch)):
        for child in left:
            with contextlib.suppress(OSError):
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, os.WNOHANG)


class _Kept:
    """Copies what a process says into a file, its beginning and its end if it is much."""

    def __init__(self, pipe: IO[bytes], folder: Inside) -> None:
        self._pipe, self._folder = pipe, folder
        self._head, self._tail, self._left_out = bytearray(), deque[bytes](), 0
        self._thread = threading.Thread(target=self._copy, daemon=True)
        self._thread.start()

    def _copy(self) -> None:
        with contextlib.suppress(ValueError, OSError):  # closed while it was read
            while piece := os.read(self._pipe.fileno(), 1 << 16):
                if len(self._head) < KEPT:
                    self._head += piece
                    continue
                self._tail.append(piece)
                while sum(map(len, self._tail)) > KEPT:
                    self._left_out += len(self._tail.popleft())

    def end(self) -> None:
        """Write the file; who still holds the pipe is not waited for."""
        self._thread.join(LAST_WORDS)
        said = f"\n... {self._left_out} bytes left out ...\n".encode() if self._left_out else b""
        with atomic_file(self._folder, OUTPUT) as file:
            file.write(bytes(self._head) + said + b"".join(list(self._tail)))

    def last_line(self) -> str:
        lines = (bytes(self._head[-KEPT:]) + b"".join(list(self._tail))).decode(errors="replace").splitlines()
        return next((line.strip() for line in reversed(lines) if line.strip()), "")
