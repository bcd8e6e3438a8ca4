"""Memory of this process."""

from __future__ import annotations

import contextlib
import resource
import sys
from collections.abc import Iterator
from pathlib import Path

STATM = Path("/proc/self/statm")
"""Where Linux says how many pages a process has: the second number those in memory, the sixth those of its own data."""


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
    """Within this block allocations fail that would make this process occupy more than ``size`` bytes (Linux).

    A limit that is lower already stays. What fails raises `MemoryError`, or an error of the library that allocates.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    limit_memory(size)
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def limit_memory(size: int) -> None:
    """As `memory_limit`, until this process ends."""
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    with contextlib.suppress(OSError, ValueError):  # not Linux, or less is allowed anyway
        most = max(0, _pages(5) - _pages(1) + size)
        resource.setrlimit(resource.RLIMIT_DATA, (most if soft == resource.RLIM_INFINITY else min(soft, most), hard))


def _pages(number: int) -> int:
    return int(STATM.read_text().split()[number]) * resource.getpagesize()
