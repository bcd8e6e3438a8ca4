"""Reads and checks the output of a command: a matrix of accuracies, and perhaps its last predictions, which are
compared with its images."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqsearch.core.bits import packed
from seqsearch.core.outcomes import HEAD, ClassifierCounts, Counts
from seqsearch.core.typed import brief
from seqsearch.core.types import EvaluationSplit, Tasks
from seqsearch.pools.base import Rows
from seqsearch.storage.inside import Inside
from seqsearch.storage.reading import parsed
from seqsearch.training.world import World

BASE, PER_ACCURACY, PER_IMAGE = 1 << 20, 64, 32
"""Bytes that the file may have: whatever the sequence is, and for each accuracy and each image of it."""
NEAR, ROUNDED = 0.05, 5.1e-5
"""By how much an accuracy may miss a share of the images, in images and in accuracy: four digits are enough for 10,000 images."""
PREDICTED = 'must be {"predicted": [[label, ...], ...]}: row t is after task t, a label for each image of {predict}'
FORM = 'must be {"accuracy": [[a11], [a21, a22], ...]}: row t is after task t, entry i the share right of task i'


class BadAnswer(Exception):
    """It is missing, unreadable, or not possible; the message says what, in one line."""


@dataclass(frozen=True)
class Answer:
    """Accuracies of a command. ``steps`` are the images right of each task ``[t + 1]`` after each one ``[T]``.
    ``judged`` counts the evaluated images of each group."""

    steps: Counts
    judged: Counts
    head: ClassifierCounts


def read_answer(folder: Inside, name: str, world: World, tasks: Tasks, evaluated: EvaluationSplit) -> Answer:
    """Read what a command has written of these tasks.

    Raises:
        BadAnswer: see there.
    """
    images = [world.rows(task.classes, evaluated)[1] for task in tasks]
    said = _read(folder, name, BASE + PER_ACCURACY * len(tasks) ** 2 + PER_IMAGE * sum(map(len, images)))
    steps = _right(said.get("accuracy"), [len(i) for i in images])
    if "predicted" not in said:
        head = ClassifierCounts(HEAD, tuple((k,) for k in steps[-1]), ())
        return Answer(steps, tuple((len(i),) for i in images), head)
    sizes = [len(task.classes) for task in tasks]
    flags = _flags(said["predicted"], images, sizes, steps[-1])
    correct = tuple(_per_class(i[f], n) for i, f, n in zip(images, flags, sizes, strict=True))
    counts = tuple(_per_class(i, n) for i, n in zip(images, sizes, strict=True))
    return Answer(steps, counts, ClassifierCounts(HEAD, correct, (), packed(np.concatenate(flags))))


def read_predictions(
    folder: Inside, name: str, world: World, tasks: Tasks, evaluated: EvaluationSplit, order: Rows
) -> Answer:
    """Read the labels that a command gives, and count those that are right.

    Args:
        order: which of the evaluated images ``[N]`` of all tasks (task by task, as `World.rows` has them) each listed image is.

    Raises:
        BadAnswer: see there.
    """
    images = [world.rows(task.classes, evaluated)[1] for task in tasks]
    sizes = [len(task.classes) for task in tasks]
    said = _read(folder, name, BASE + PER_IMAGE * len(tasks) * len(order), "predicted", PREDICTED)
    table = _labels(said["predicted"], len(tasks), len(order), sum(sizes))
    table[:, order] = table.copy()  # from the order of the list to that of the tasks
    ends = np.cumsum([len(i) for i in images])
    truth = np.concatenate([i + first for i, first in zip(images, np.cumsum([0, *sizes[:-1]]), strict=True)])
    flags = [np.split(row == truth, ends[:-1]) for row in table]
    steps = tuple(tuple(int(f.sum()) for f in row[: t + 1]) for t, row in enumerate(flags))
    correct = tuple(_per_class(i[f], n) for i, f, n in zip(images, flags[-1], sizes, strict=True))
    counts = tuple(_per_class(i, n) for i, n in zip(images, sizes, strict=True))
    return Answer(steps, counts, ClassifierCounts(HEAD, correct, (), packed(np.concatenate(flags[-1]))))


def _labels(predicted: Any, tasks: int, total: int, classes: int) -> NDArray[np.int64]:
    """``[tasks, images]``; -1 where there is none."""
    rows = isinstance(predicted, list) and len(predicted) == tasks
    if not rows or not all(isinstance(row, list) and len(row) == total for row in predicted):
        raise BadAnswer(f"predicted must be {tasks} rows of {total} labels; it {PREDICTED}")
    if not all(type(p) is int and -1 <= p < classes for row in predicted for p in row):
        raise BadAnswer(f"predicted must be labels from 0 to {classes - 1}, or -1; it {PREDICTED}")
    return np.array(predicted, dtype=np.int64).reshape(tasks, total)


def _read(folder: Inside, name: str, most: int, key: str = "accuracy", form: str = FORM) -> dict[str, Any]:
    """``most``: bytes; so the time and the memory that parsing takes are bounded by the size of the sequence."""
    try:
        said = parsed(folder.read(name, most), unique=True)
    except FileNotFoundError:
        raise BadAnswer(f"it wrote no {{out}} file; it {form}") from None
    except OSError as error:
        raise BadAnswer(f"its {{out}} file cannot be read ({error.strerror})") from None
    except ValueError as error:
        raise BadAnswer(f"its {{out}} file is no JSON ({brief(str(error))}); it {form}") from None
    if not isinstance(said, dict) or key not in said:
        raise BadAnswer(f"its {{out}} file has no {key}; it {form}")
    return said


def _right(matrix: Any, counts: list[int]) -> Counts:
    """Images right, from shares; a row may be filled up beyond its diagonal, which is not looked at."""
    if not isinstance(matrix, list) or len(matrix) != len(counts):
        rows = f"{len(matrix)} rows" if isinstance(matrix, list) else brief(matrix)
        raise BadAnswer(f"accuracy is {rows}, for {len(counts)} tasks; it {FORM}")
    found = []
    for t, row in enumerate(matrix, 1):
        if not isinstance(row, list) or len(row) not in (t, len(counts)):
            said = f"{len(row)} entries" if isinstance(row, list) else brief(row)
            raise BadAnswer(f"row {t} of accuracy has {said}, must have {t}; it {FORM}")
        found.append(
            tuple(_images(value, n, t, i) for i, (value, n) in enumerate(zip(row[:t], counts, strict=False), 1))
        )
    return tuple(found)


def _images(value: Any, n: int, t: int, i: int) -> int:
    where = f"accuracy of task {i} after task {t} is {brief(value)}"
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= 1:  # which NaN is not
        raise BadAnswer(f"{where}, must be a share from 0 to 1")
    right = round(value * n)
    if abs(value * n - right) > max(NEAR, ROUNDED * n):
        raise BadAnswer(
            f"{where}, which is no share of its {n} test images: give four digits or more, and evaluate it on the images of "
            "manifest.csv whose split is test"
        )
    return right


def _flags(predicted: Any, images: list[Any], sizes: list[int], last: tuple[int, ...]) -> list[Any]:
    """Which images ``[n]`` of each task are right."""
    total, classes = sum(map(len, images)), sum(sizes)
    whole = isinstance(predicted, list) and len(predicted) == total
    if not whole or not all(type(p) is int and 0 <= p < classes for p in predicted):
        raise BadAnswer(
            f"predicted must be {total} labels from 0 to {classes - 1}, of the test images in the order of manifest.csv"
        )
    ends = np.cumsum([len(i) for i in images])
    first = np.cumsum([0, *sizes[:-1]])
    pieces = np.split(np.array(predicted), ends[:-1])
    flags = [piece == i + f for piece, i, f in zip(pieces, images, first, strict=True)]
    for number, (right, said) in enumerate(zip(flags, last, strict=True), 1):
        if int(right.sum()) != said:
            raise BadAnswer(
                f"predicted has {int(right.sum())} images of task {number} right, the last row of accuracy {said}"
            )
    return flags


def _per_class(positions: Any, classes: int) -> tuple[int, ...]:
    return tuple(np.bincount(positions, minlength=classes).tolist())
