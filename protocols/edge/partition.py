"""Partition of the classes of an EDGE study into tasks: free, or the same tasks in every sequence.

A sequence is an order of units. With a free partition a unit is a class, and a task has as many units as classes. With a
fixed partition a unit is a task. Searches, draws and counts are then those of sequences of K units, one in each task.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from seqsearch.core.errors import UserError
from seqsearch.extremes.objective import random_labels, tasks_of
from seqsearch.similarity.matrix import Similarity, checked

Classes = tuple[tuple[int, ...], ...]
"""Classes of each task, as positions among those in play."""


@dataclass(frozen=True)
class Partition:
    """How classes make tasks.

    Attributes:
        sizes: classes of each task ``[K]``.
        given: the tasks of every sequence, of one size; empty for a free partition.
    """

    sizes: tuple[int, ...]
    given: Classes = ()

    @property
    def units(self) -> tuple[int, ...]:
        """Units of each task ``[K]``."""
        return (1,) * len(self.sizes) if self.given else self.sizes

    def classes(self, tasks: Iterable[Iterable[int]]) -> Classes:
        """The classes of each task, for tasks of units."""
        if not self.given:
            return tuple(map(tuple, tasks))
        return tuple(tuple(sorted(c for u in task for c in self.given[u])) for task in tasks)

    def in_units(self, tasks: Classes) -> Classes:
        """The units of each task, for tasks of classes."""
        if not self.given:
            return tasks
        at = {frozenset(task): u for u, task in enumerate(self.given)}
        return tuple((at[frozenset(task)],) for task in tasks)

    def random(self, seed: int, number: int) -> Classes:
        """A random sequence."""
        return self.classes(tasks_of(random_labels(self.units, seed, number), len(self.sizes)))

    def similarity(self, of_classes: Similarity) -> Similarity:
        """Similarity of units; of two tasks it is the mean over their pairs of classes."""
        if not self.given:
            return of_classes
        values = np.asarray(of_classes.values, np.float64)
        means = [[float(values[np.ix_(a, b)].mean()) if a != b else 0.0 for b in self.given] for a in self.given]
        names = [f"classes {' '.join(map(str, task))}" for task in self.given]
        return checked(means, names, "similarity of tasks", of_classes.source, ours=True)


def partition_of(fixed: bool, sizes: Sequence[int], seed: int, orders: Sequence[Classes]) -> Partition:
    """The partition of a study: free, or the tasks of the first order of ``orders``, else of the first draw of the seed.

    Raises:
        UserError: tasks of several sizes, or orders with other tasks.
    """
    free = Partition(tuple(sizes))
    if not fixed:
        return free
    if len(set(sizes)) > 1:
        raise UserError(
            f"--partition fixed permutes tasks of one size, and {sum(sizes)} classes in {len(sizes)} tasks have {min(sizes)} to "
            f"{max(sizes)}: choose --tasks and --classes that divide, and leave --initial-classes out"
        )
    given = orders[0] if orders else free.random(seed, 0)
    tasks = sorted(tuple(sorted(task)) for task in given)
    if any(sorted(tuple(sorted(task)) for task in order) != tasks for order in orders):
        raise UserError("--orders has orders of different tasks: --partition fixed takes orders of the same tasks")
    return Partition(tuple(sizes), tuple(tasks))
