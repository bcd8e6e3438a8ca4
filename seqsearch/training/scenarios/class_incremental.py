"""Class-incremental learning: an experience is a task, whose classes are new; all tasks so far are evaluated."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from seqsearch.core.bits import packed
from seqsearch.core.outcomes import ClassifierCounts
from seqsearch.core.types import EvaluationSplit, StateKey, Task
from seqsearch.methods.base import Method
from seqsearch.methods.data import Batch, ImageSource, TaskData
from seqsearch.pools.base import Rows
from seqsearch.training.context import check_unseen, task_data
from seqsearch.training.scenario import Evaluation, Scenario, array_of, checked_scores, scores_of


class ClassIncremental(Scenario):
    """Tasks come one after the other; which of them an image is of is hidden when it is evaluated."""

    def data(self, method: Method, key: StateKey) -> TaskData:
        task = key.prefix[-1]
        assert isinstance(task, Task)
        return task_data(self.world, self.source(key.method.backbone), task, method, key.seed, key.replicate)

    def some(self, key: StateKey, most: int) -> Rows:
        """The first training image of each class of the last task, then the second of each, and so on."""
        task = key.prefix[-1]
        assert isinstance(task, Task)
        rows, positions = self.world.rows(task.classes, "train")
        number = np.arange(len(rows)) - np.searchsorted(positions, positions)  # of a row within its class
        return rows[np.lexsort((positions, number))[:most]]

    def evaluated_on(self, backbone: str) -> ImageSource:
        """Where the images and texts that are evaluated come from."""
        return self.source(backbone)

    def evaluate(self, method: Method, key: StateKey, evaluated: EvaluationSplit) -> Evaluation:
        """See `Scenario.evaluate`.

        Raises:
            AccessError: images are to be evaluated that the state has learned from.
        """
        names: tuple[str, ...] = ()
        counts: list[tuple[int, ...]] = []
        found: dict[str, list[Right]] = {}
        first = 0
        for task in key.prefix:
            assert isinstance(task, Task)
            check_unseen(task, evaluated)
            rows, positions = self.world.rows(task.classes, evaluated)
            columns = range(first, first + len(task.classes))
            scores = scores_of(method, Batch(rows, self.evaluated_on(key.method.backbone)))
            if names and tuple(scores) != names:
                raise ValueError(
                    f"classifiers() gives {', '.join(scores)}, and gave {', '.join(names)} for another task"
                )
            names = tuple(scores)
            counts.append(_per_class(positions, len(columns)))
            for name, of_name in scores.items():
                checked = checked_scores(method, of_name, len(rows), name)
                found.setdefault(name, []).append(right(checked, positions, columns))
            first = columns.stop
        return Evaluation(tuple(counts), tuple(counted_right(name, by_task) for name, by_task in found.items()))


@dataclass(frozen=True)
class Right:
    """A task's images: correct and masked correct by class, and which ``[n]`` are right among all classes seen."""

    correct: tuple[int, ...]
    masked: tuple[int, ...]
    images: NDArray[np.bool_]


def right(scores: torch.Tensor, positions: NDArray[np.int64], columns: range) -> Right:
    """From scores ``[n, seen]`` of a task's images, the class ``[n]`` that each is of within the task, and the task's columns.

    Of equal scores the first counts. Methods of numpy's arrays are used, which no code can replace.
    """
    array = array_of(scores)
    full: NDArray[np.bool_] = array.argmax(1) == positions + columns.start
    masked = array[:, columns.start : columns.stop].argmax(1) == positions
    return Right(_per_class(positions[full], len(columns)), _per_class(positions[masked], len(columns)), full)


def _per_class(positions: NDArray[np.int64], classes: int) -> tuple[int, ...]:
    return tuple(np.bincount(positions, minlength=classes).tolist())


def counted_right(name: str, by_task: list[Right]) -> ClassifierCounts:
    """Return the counts of images that one classifier got right, task by task."""
    images = packed(np.concatenate([r.images for r in by_task]))
    return ClassifierCounts(name, tuple(r.correct for r in by_task), tuple(r.masked for r in by_task), images)


build = ClassIncremental
