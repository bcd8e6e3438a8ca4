"""Range of the final accuracy of each task over the user's own orders of the same tasks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from seqsearch.core.types import ClassId
from seqsearch.planners.replicates import ORDERS
from seqsearch.results.run import RunResults
from seqsearch.stats.accuracy import order_disparity


@dataclass(frozen=True)
class Disparity:
    """Of one method: the number of ``orders``, the mean over tasks of the range (``aopd``), and its maximum (``mopd``)."""

    orders: int
    aopd: float
    mopd: float


def disparity(data: RunResults, method: str, names: Sequence[str]) -> Disparity | None:
    """Of the sequences with these names, one training each; None unless they are two or more orders of the same tasks."""
    tables: list[dict[frozenset[ClassId], float]] = []
    for s in (s for s in data.sequences if s.sequence_id in names):
        for (name, of, seed), rollout in data.rollouts.items():
            if (name, of) == (s.sequence_id, method) and seed >= ORDERS and rollout.complete:
                final = rollout.accuracy[-1]
                tables.append({frozenset(t.classes): float(a) for t, a in zip(s.tasks, final, strict=True)})
    if len(tables) < 2 or any(table.keys() != tables[0].keys() for table in tables):
        return None
    return Disparity(len(tables), *order_disparity([[table[task] for task in tables[0]] for table in tables]))
