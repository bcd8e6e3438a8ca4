"""Joint training beside a sequence: all its classes as one task, under a name made of the sequence's."""

from __future__ import annotations

from dataclasses import replace

from seqsearch.planners.step import PoolView
from seqsearch.results.rows import TaskSequence


def joint_id(sequence_id: str) -> str:
    """The name of the union of a sequence."""
    return f"{sequence_id}/joint"


def at_once(sequence: TaskSequence, view: PoolView) -> TaskSequence:
    """All classes of a sequence as one task, for the same methods."""
    whole = (view.union(sequence.tasks),)
    return replace(sequence, sequence_id=joint_id(sequence.sequence_id), kind="joint", tasks=whole, values=(None,))
