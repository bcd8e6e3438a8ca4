"""Columns on what methods took, for tables of papers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from protocols.report.table import (
    CLDYB,
    COUNT,
    DOWN,
    GTEP,
    MEGABYTES,
    NEITHER,
    OURS,
    Column,
    Layout,
    Scale,
    Table,
    Value,
)
from seqsearch.results.costs import MethodCost

HOURS = Scale("h", "from 0", lambda hours: f"{hours:.3g}" if hours >= 1e-3 else f"{hours:.5f}")
GIGABYTES = Scale("GB", "from 0", lambda gb: f"{gb:.3g}")
MILLIONS = Scale("10^6", "from 0", lambda millions: f"{millions:.3g}")
COSTS = Layout(
    "costs",
    "Columns on request",
    (
        Column(
            "images", "images", "training images of a sequence, each counted once; where classes differ in number, each counts "
            "as their mean", COUNT, NEITHER, OURS,
        ),
        Column(
            "hours", "device hours", "training time of the method in the run, all trainings together, each on one device",
            HOURS, DOWN, OURS, "seconds / 3600",
        ),
        Column(
            "memory", "peak memory, GB", "largest memory of a training: of the GPU, or of the worker's process so far",
            GIGABYTES, DOWN, OURS, "bytes / 10^9",
        ),
        Column(
            "stored", "stored, MB", "what the method keeps beyond the backbone at the end: parameters, statistics and "
            "exemplars; largest over sequences", MEGABYTES, DOWN, f"{CLDYB}, appendix B.3", "bytes / 10^6",
        ),
        Column(
            "parameters", "parameters, M", "parameters of the model at the end, backbone included, trained or not; largest "
            "over sequences", MILLIONS, DOWN, f"{GTEP}, section 4.1, Fig. 6(b)", "number / 10^6",
        ),
    ),
)  # fmt: skip
LAYOUTS = (COSTS,)
KEYS = tuple(c.key for c in COSTS.columns)
"""Columns on request."""


def with_costs(table: Table, costs: Mapping[str, MethodCost], keys: Sequence[str]) -> Table:
    """A table whose rows are methods, with further columns behind its own; rows of something else are empty there."""
    columns = [replace(c, key=f"cost_{c.key}") for c in COSTS.columns if c.key in keys]
    rows = []
    for row in table.rows:
        cost = costs.get(str(row[0]), MethodCost())
        figures: dict[str, Value] = {
            "images": cost.images,
            "hours": None if cost.seconds is None else cost.seconds / 3600,
            "memory": None if cost.peak_bytes is None else cost.peak_bytes / 1e9,
            "stored": None if cost.stored_bytes is None else cost.stored_bytes / 1e6,
            "parameters": None if cost.parameters is None else cost.parameters / 1e6,
        }
        rows.append((*row, *(figures[c.key] for c in COSTS.columns if c.key in keys)))
    return replace(table, columns=(*table.columns, *columns), rows=tuple(rows))
