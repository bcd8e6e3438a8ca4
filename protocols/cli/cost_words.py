"""What a dry run says of time, workers and disk: in the same words for all protocols, and no zero for what is only little."""

from __future__ import annotations

from protocols.report.text import count, duration
from protocols.running.memory import Needed, gigabytes
from protocols.running.runtime import Runtime


def time_of(seconds: float) -> str:
    """
    >>> time_of(0.2), time_of(41), time_of(0)
    ('under 1 s', '41 s', '0 s')
    """
    return "under 1 s" if 0 < seconds < 1 else duration(seconds)


def each(seconds: float) -> str:
    """Seconds of one training, with two digits.

    >>> each(0.0126), each(0.0002)
    ('0.013 s', 'under 1 ms')
    """
    return "under 1 ms" if seconds < 0.001 else f"{seconds:.2g} s"


def disk_of(size: float) -> str:
    """``size`` in bytes.

    >>> disk_of(800), disk_of(3.2e6)
    ('under 1 MB', '3 MB')
    """
    return "under 1 MB" if size < 1e6 else f"{size / 1e6:,.0f} MB"


def memory_of(need: Needed | None, workers: int) -> str:
    """A line of its own, with the method that takes most; empty where nothing is estimated."""
    if need is None:
        return ""
    together = f", {gigabytes(workers * need.bytes)} with {count(workers, 'worker')}" if workers > 1 else ""
    return f"about {gigabytes(need.bytes)} of memory at most a training ({need.method}){together}\n"


def memory_json(need: Needed | None) -> dict[str, int | None]:
    """Bytes of a worker; None where nothing is estimated."""
    return {"memory_bytes": need.bytes if need else None}


def at_work(runtime: Runtime, number: int, noun: str = "worker", then: str = "") -> str:
    """Who trains: this process, or ``number`` workers; ``then`` follows the number."""
    return "in this process" if runtime.engine.workers == 0 else f"with {count(number, noun)}{then}"
