"""Accuracy on an evaluation pool without the classes that it shares with the tuning pool, if sharing was allowed.

The model is the same, and chooses among all classes seen, the shared ones included. Only the images of shared classes
are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from seqsearch.results.rows import Row
from seqsearch.stats.choice import Difference, mean_over_orders, shares_of_orders
from seqsearch.stats.interval import Interval

Matrix = NDArray[np.float64]
Marks = Mapping[str, Mapping[int, Sequence[bool]]]
"""By class order and task (from 1), of each of its classes: is it shared?"""


@dataclass(frozen=True)
class Unshared:
    """A method on the images of the other classes.

    Attributes:
        shared, classes: of the pool: in play and shared; in play.
        curve: Acc_t ``[orders, T]`` over images of the other classes seen; NaN as long as none of them was.
        harmonic: H of the means, with bounds over class orders alone where there are enough.
    """

    shared: int
    classes: int
    curve: Matrix
    harmonic: Difference

    @property
    def acc(self) -> NDArray[np.float64]:
        """Of each order."""
        return self.curve[:, -1]

    @property
    def avg(self) -> NDArray[np.float64]:
        """Of each order: the mean over the tasks after which any of these classes was seen."""
        there = np.isfinite(self.curve)
        total, tasks = np.where(there, self.curve, 0).sum(axis=1), there.sum(axis=1)
        found: NDArray[np.float64] = np.where(tasks > 0, total / np.maximum(tasks, 1), np.nan)
        return found

    @property
    def known(self) -> bool:
        return bool(np.isfinite(self.harmonic.value.value))


def marks(sequences: Iterable[Row]) -> Marks:
    """From rows of ``sequences.parquet``; nothing of those that do not say."""
    found: dict[str, dict[int, list[bool]]] = {}
    for row in sorted((r for r in sequences if r.get("shared") is not None), key=lambda r: (r["step"], r["position"])):
        found.setdefault(row["sequence_id"], {}).setdefault(row["step"], []).append(bool(row["shared"]))
    return found


def unshared(by_order: Mapping[str, Sequence[Row]], marked: Marks, tasks: int) -> Unshared | None:
    """From the rows of each class order; None where no class is shared, or a row does not say what is right of each class."""
    if not by_order or not all(name in marked for name in by_order):
        return None
    curves = [_curve(rows, marked[name], tasks) for name, rows in by_order.items()]
    known = [c for c in curves if c is not None]
    if len(known) < len(curves):
        return None
    of_one = [s for own in marked[next(iter(by_order))].values() for s in own]
    found = Unshared(
        sum(of_one), len(of_one), np.array(known), Difference(Interval(np.nan), 0, "all classes are shared")
    )
    if not np.isfinite(found.acc).all():
        return found
    return Unshared(found.shared, found.classes, found.curve, mean_over_orders(shares_of_orders(found.acc, found.avg)))


def _curve(rows: Sequence[Row], marked: Mapping[int, Sequence[bool]], tasks: int) -> NDArray[np.float64] | None:
    """Acc_t ``[tasks]`` of one rollout over images of classes that are not shared."""
    right, evaluated, seen = (np.zeros(tasks) for _ in range(3))
    for row in rows:
        t, own = row["trained_step"] - 1, _other_classes(row, marked.get(row["evaluated_step"], ()))
        if own is None or not 0 <= t < tasks:
            return None
        right[t] += own[0]
        evaluated[t] += own[1]
        seen[t] += 1
    if (seen != np.arange(1, tasks + 1)).any():
        return None
    return np.where(evaluated > 0, right / np.where(evaluated > 0, evaluated, 1), np.nan)


def by_class(row: Row) -> tuple[list[int], list[int]] | None:
    """Images right, and evaluated, of each class of a task; None where the row does not say so, or errs."""
    n, right = row.get("class_n"), row.get("class_correct")
    if not n or not right or len(n) != len(right) or (sum(right), sum(n)) != (row["correct"], row["n"]):
        return None
    return (right, n) if all(0 <= c <= m for c, m in zip(right, n, strict=True)) else None


def _other_classes(row: Row, shared: Sequence[bool]) -> tuple[int, int] | None:
    """Images right, and evaluated, of the classes that are not shared; None where the row does not say so of each class."""
    found = by_class(row)
    if found is None or len(found[0]) != len(shared):
        return None
    right, n = found
    keep = [i for i, is_shared in enumerate(shared) if not is_shared]
    return sum(right[i] for i in keep), sum(n[i] for i in keep)
