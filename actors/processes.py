"""Processes and what they started (Linux)."""

from __future__ import annotations

import os
from collections import defaultdict
from pathlib import Path


def descendants(pid: int) -> list[int]:
    """A process and all its descendants. Not every kernel lists children by itself: all processes are asked for their parent."""
    children: dict[int, list[int]] = defaultdict(list)
    for name in filter(str.isdecimal, os.listdir("/proc")):
        try:
            said = Path(f"/proc/{name}/stat").read_bytes()
        except OSError:
            continue
        children[int(said.rpartition(b")")[2].split()[1])].append(int(name))
    found = [pid]
    for each in found:  # which grows
        found += children[each]
    return found
