"""Joint training beside a sequence: all its classes as one task, under a name made of the sequence's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from seqsearch.core.types import ClassId
from seqsearch.planners.step import PoolView
from seqsearch.results.rows import TaskSequence
from seqsearch.results.run import RunResults, Scored, TaskImages

Right = Mapping[ClassId, NDArray[np.bool_]]
"""Which images of each class were right."""


def joint_id(sequence_id: str) -> str:
    """The name of the union of a sequence."""
    return f"{sequence_id}/joint"


def at_once(sequence: TaskSequence, view: PoolView) -> TaskSequence:
    """All classes of a sequence as one task, for the same methods."""
    whole = (view.union(sequence.tasks),)
    return replace(sequence, sequence_id=joint_id(sequence.sequence_id), kind="joint", tasks=whole, values=(None,))


def right_images(scored: Scored, tasks: Sequence[Sequence[ClassId]]) -> Right | None:
    """Of a rollout in the end, by class; None where it is not known. ``tasks`` are their classes."""
    if [len(task.class_n) for task in scored.right] != list(map(len, tasks)):
        return None
    found: dict[ClassId, NDArray[np.bool_]] = {}
    for task, images in zip(tasks, scored.right, strict=True):
        parts = np.split(images.right, np.cumsum(images.class_n)[:-1])
        found.update(zip(task, parts, strict=True))
    return found


def joint_right(data: RunResults, sequence: TaskSequence, method: str, seed: int) -> Right | None:
    """Of joint training on the classes of a sequence; None where that was not trained to its end."""
    joint = data.rollouts.get((joint_id(sequence.sequence_id), method, seed))
    if joint is None or not joint.complete:
        return None
    return right_images(joint, [sorted(c for task in sequence.tasks for c in task.classes)])


def joint_rollout(data: RunResults, sequence: TaskSequence, method: str, seed: int) -> Scored | None:
    """Joint training as if it had learned the tasks of the sequence: its last row has the accuracy on each task; all else is NaN.

    None where it was not trained to its end.
    """
    right = joint_right(data, sequence, method, seed)
    if right is None:
        return None
    images = tuple(
        TaskImages(tuple(len(right[c]) for c in task.classes), np.concatenate([right[c] for c in task.classes]))
        for task in sequence.tasks
    )
    accuracy = np.full((len(images), len(images)), np.nan)
    accuracy[-1] = [task.right.mean() for task in images]
    row = data.rollouts[joint_id(sequence.sequence_id), method, seed].row
    return Scored("ok", accuracy, accuracy, row, images)
