"""Methods that are not told from chance on the sequences of a run: said wherever the run is summarised."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from seqsearch.distribution.chance import LEVEL, Chance, beside_chance
from seqsearch.distribution.interval import AGREE
from seqsearch.metrics.accuracy import acc
from seqsearch.results.run import Scored, TaskImages


@dataclass(frozen=True)
class AtChance:
    """A method on some sequences, on which no training of it is told from chance (`seqsearch.distribution.chance`).

    Attributes:
        where: the kind of sequences, ``random`` or ``found``, or ``all``.
        accuracy: mean final Acc, a fraction.
        chance: what one class for every image gives, as Acc is reckoned: the largest share that a class has of its task, over the
            tasks; means over the trainings.
        classes: of a sequence, the fewest and the most.
    """

    method: str
    where: str
    accuracy: float
    chance: float
    classes: tuple[int, int]
    test: Chance


def at_chance(method: str, where: str, trainings: Sequence[Scored]) -> AtChance | None:
    """None where some training is told from chance, or could not be, or where it is not known which images were right.

    What few images cannot tell from chance, were all of them right, is at chance only if it is not above it as measured.
    """
    if not trainings or not all(s.right for s in trainings):
        return None
    counts = [[n for task in s.right for n in task.class_n] for s in trainings]
    test = beside_chance([[k for task in s.right for k in _by_class(task)] for s in trainings], counts)
    accuracy = float(np.mean([acc(s.accuracy) for s in trainings]))
    blind = float(np.mean([max(max(t.class_n) / sum(t.class_n) for t in s.right) / len(s.right) for s in trainings]))
    if test.above or (test.best > LEVEL and accuracy > blind + AGREE):
        return None
    numbers = [len(n) for n in counts]
    return AtChance(method, where, accuracy, blind, (min(numbers), max(numbers)), test)


def _by_class(task: TaskImages) -> list[int]:
    """Images right of each class of a task."""
    starts = np.cumsum([0, *task.class_n[:-1]])
    found: list[int] = np.add.reduceat(task.right.astype(np.int64), starts).tolist()
    return found
