"""Memory of this process."""

from __future__ import annotations

import contextlib
import resource
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

STATM = Path("/proc/self/statm")
"""Where Linux says how many pages a process has: the second number those in memory, the sixth those of its own data."""


_lock = threading.Lock()
_blocks = 0
"""Blocks of `memory_limit` under way, in any thread."""
_outside = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
"""The limit before the first of them began."""


def peak_memory() -> int:
    """Bytes that this process had at most so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def resident_memory() -> int:
    """Bytes that this process occupies now (Linux; elsewhere its peak)."""
    try:
        return _pages(1)
    except OSError:
        return peak_memory()


def private_memory(pid: int | str = "self") -> int:
    """Bytes in memory that a process shares with no file (Linux); 0 if that cannot be seen."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) << 10 for line in lines if line.startswith("RssAnon:")), 0)


@contextlib.contextmanager
def memory_limit(size: int) -> Iterator[None]:
    """Within this block allocations fail that would give this process more than ``size`` bytes of `private_memory` (Linux).

    A limit that is lower already stays. What fails raises `MemoryError`, or an error of the library that allocates. Blocks of
    several threads may overlap: the last to end puts back what was before the first.
    """
    global _blocks, _outside
    with _lock:
        if not _blocks:
            _outside = resource.getrlimit(resource.RLIMIT_DATA)
        _blocks += 1
    try:
        _allow(size - private_memory())
        yield
    finally:
        with _lock:
            _blocks -= 1
            if not _blocks:
                resource.setrlimit(resource.RLIMIT_DATA, _outside)


def limit_memory(size: int) -> None:
    """Until this process ends, allocations fail that would make it occupy more than ``size`` bytes (Linux)."""
    _allow(size - resident_memory())


def _allow(size: int) -> None:
    """At most so many bytes more than there are."""
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    with contextlib.suppress(OSError, ValueError):  # not Linux, or less is allowed anyway
        most = max(0, _pages(5) + size)
        resource.setrlimit(resource.RLIMIT_DATA, (most if soft == resource.RLIM_INFINITY else min(soft, most), hard))


def _pages(number: int) -> int:
    return int(STATM.read_text().split()[number]) * resource.getpagesize()
