"""Processes and what they started (Linux)."""

from __future__ import annotations

from pathlib import Path


def family(pid: int) -> list[int]:
    """A process and all its descendants (Linux)."""
    found = [pid]
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            children = task.read_text().split()
        except OSError:
            continue
        found += [p for child in children for p in family(int(child))]
    return found
