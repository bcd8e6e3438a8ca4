"""Finds methods of a run that are at chance; every summary of the run reports them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from seqsearch.results.run import Scored, TaskImages
from seqsearch.stats.accuracy import acc
from seqsearch.stats.chance import LEVEL, Chance, beside_chance
from seqsearch.stats.interval import AGREE


@dataclass(frozen=True)
class AtChance:
    """A method, no training of which is above chance somewhere (`seqsearch.stats.chance`).

    Attributes:
        where: on what, e.g. ``on random sequences``.
        figure: which accuracy it is, as tables name it.
        accuracy: after the last task, a fraction; mean over the trainings.
        chance: what one class for every image gives at best, as that is reckoned; mean over the trainings.
        classes: of a sequence, the fewest and the most.
    """

    method: str
    where: str
    figure: str
    accuracy: float
    chance: float
    classes: tuple[int, int]
    test: Chance


@dataclass(frozen=True)
class Ended:
    """A training after its last task.

    Attributes:
        right, images: test images of each class that were right, and that there are ``[K]``; classes without any do not count.
        accuracy, chance: as of `AtChance`.
    """

    right: tuple[int, ...]
    images: tuple[int, ...]
    accuracy: float
    chance: float


def at_chance(method: str, where: str, trainings: Sequence[Scored]) -> AtChance | None:
    """By final Acc, of which one class for every image gives the largest share that a class has of its task, over the tasks.

    None where some training is above chance, or could not be, or where it is not known which images were right.
    """
    if not all(s.right for s in trainings):
        return None
    return at_chance_or_none(method, where, "Acc", [_ended(s) for s in trainings])


def at_chance_or_none(method: str, where: str, figure: str, trainings: Sequence[Ended]) -> AtChance | None:
    """Return the method if it is at chance; None if some training is above chance, or if a training has no images.

    With very few images even a perfect accuracy cannot be significantly above chance. The method is then at chance only
    if its measured accuracy is not above chance.
    """
    counts = [[n for n in e.images if n] for e in trainings]
    if not all(counts) or not counts:
        return None
    test = beside_chance([[k for k, n in zip(e.right, e.images, strict=True) if n] for e in trainings], counts)
    accuracy, chance = (float(np.mean([getattr(e, name) for e in trainings])) for name in ("accuracy", "chance"))
    if test.above or (test.best > LEVEL and accuracy > chance + AGREE):
        return None
    numbers = [len(n) for n in counts]
    return AtChance(method, where, figure, accuracy, chance, (min(numbers), max(numbers)), test)


def _ended(s: Scored) -> Ended:
    largest = max(max(task.class_n) / sum(task.class_n) for task in s.right)
    return Ended(*_of_tasks(s.right), acc(s.accuracy), largest / len(s.right))


def _of_tasks(tasks: Sequence[TaskImages]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Images right of each class of some tasks, and those there are."""
    right: list[int] = []
    for task in tasks:
        starts = np.cumsum([0, *task.class_n[:-1]])
        right += np.add.reduceat(task.right.astype(np.int64), starts).tolist()
    return tuple(right), tuple(n for task in tasks for n in task.class_n)
