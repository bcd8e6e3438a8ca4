"""``stats.json``: what a run did and how long it took, whoever wrote it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from seqsearch.core.errors import UserError
from seqsearch.core.typed import fits, sensible
from seqsearch.storage.reading import json_object

BUDGETED = ("starting_seconds", "budget_seconds")
"""Seconds that ``--time-budget`` did not count, and seconds that it did; for runs all of whose sessions had a
budget."""
TIMES = ("wall_seconds", "busy_share", "others_seconds", *BUDGETED)
COUNTS = ("trained", "naive", "replayed", "sessions", "killed_sessions", *TIMES)
"""Numbers in ``stats.json``."""


def read_stats(path: Path) -> dict[str, Any]:
    """Read the statistics of a run, and check their numbers.

    Raises:
        UserError: no JSON, or a number that cannot be.
    """
    said = json_object(path)
    for name in COUNTS:
        value = said.get(name)
        if value is not None and not (fits(value, float if name in TIMES else int) and sensible(value)):
            raise UserError(f"{path}: {name} is {json.dumps(value)[:40]}: restore the file")
    moved = said.get("moved", {})
    if not (isinstance(moved, dict) and all(fits(m, tuple[float, int]) and sensible(m) for m in moved.values())):
        raise UserError(f"{path}: moved is {json.dumps(moved)[:40]}: restore the file")
    failures = said.get("failures", {})
    if not (isinstance(failures, dict) and all(isinstance(why, str) for why in failures.values())):
        raise UserError(f"{path}: failures is {json.dumps(failures)[:40]}: restore the file")
    return said
