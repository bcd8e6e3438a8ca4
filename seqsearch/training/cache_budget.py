"""Memory budget of a worker's caches: a share of the free memory, so that methods have the rest."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

SHARE = 0.25
"""Of the memory that a worker can count on. The rest is for the method, for mapped features, and for gaps of the heap between
what is held: they may be as large again."""


@dataclass(frozen=True)
class CacheBudget:
    """Bytes in RAM.

    Attributes:
        states: of prefixes that are extended.
        features: by networks of methods that no longer change (`Batch.through`).
        images: decoded.
        probes: features that probes looked at.
    """

    states: int = 2 << 30
    features: int = 256 << 20
    images: int = 256 << 20
    probes: int = 256 << 20

    @property
    def total(self) -> int:
        return sum(vars(self).values())


MOST = CacheBudget()
"""Upper limits of the caches, where memory is plenty."""


def cache_budget(workers: int = 1, limit: int | None = None, free: int | None = None) -> CacheBudget:
    """The caches of one of ``workers`` on this machine: together a quarter of its part of the memory that is ``free`` (bytes;
    None: as the system says), or of its own ``limit`` if that is less; at most `MOST`."""
    part = (free_memory() if free is None else free) // max(1, workers)
    budget = SHARE * min(part, limit or part)
    scale = min(1.0, budget / MOST.total)
    return CacheBudget(**{name: int(scale * most) for name, most in vars(MOST).items()})


def free_memory(root: Path = Path("/")) -> int:
    """Bytes that processes here can still occupy: what the machine has left, and every cgroup that this one is in (containers,
    Slurm); where the system does not say (macOS), half of its memory."""
    found = [left for folder in _cgroups(root) if (left := _left(folder)) is not None]
    available = _entry(root / "proc/meminfo", "MemAvailable:")
    if available is None:
        return min([*found, os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2])
    return min([*found, available << 10])


def _cgroups(root: Path) -> list[Path]:
    """Folders of the memory controllers of this process, of version 2 and 1, and of all that they are in."""
    try:
        lines = (root / "proc/self/cgroup").read_text().splitlines()
    except OSError:
        return []
    found = []
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers and "memory" not in controllers.split(","):
            continue
        top = root / "sys/fs/cgroup" / ("memory" if controllers else "")
        own = top / path.lstrip("/")
        found += [own, *(p for p in own.parents if p == top or top in p.parents)]
    return found


def _left(cgroup: Path) -> int | None:
    """Bytes below its limit; None: it has no limit. Pages of files count as free, also active ones: before it ends a process, the
    system takes them back."""
    for limit, usage, total in (
        ("memory.max", "memory.current", ""),
        ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_"),
    ):
        try:
            most, used = (int((cgroup / name).read_text()) for name in (limit, usage))
            back = [_entry(cgroup / "memory.stat", f"{total}{kind}_file") or 0 for kind in ("inactive", "active")]
            return max(0, most - used + sum(back))
        except (OSError, ValueError):  # the other version, or "max"
            continue
    return None


def _entry(path: Path, name: str) -> int | None:
    """The number behind a name in a file of such lines."""
    try:
        lines = path.read_text().splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) for line in lines if line.split()[:1] == [name]), None)
