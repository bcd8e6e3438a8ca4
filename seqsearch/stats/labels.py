"""How do the labels of a stream depend on each other in time: by lag, in bursts, over windows of the stream?

`narrow` makes labels a narrow array: 2 bytes a label, whatever they come as.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import cast

import numpy as np
from numpy.typing import NDArray

from seqsearch.core.errors import UserError
from seqsearch.stats.interval import Float64

MOST_CLASSES = 1 << 22
Int64 = NDArray[np.int64]
Labels = NDArray[np.uint16] | NDArray[np.uint32]
"""Labels 0 ... C - 1, contiguous."""

Stream = NDArray[np.integer] | Iterable[NDArray[np.integer]]
"""Labels ``[n]``, one a sample in the order of time, 0 ... C - 1; also memory-mapped, or as chunks that are read one by one."""


def narrow(labels: Stream, classes: int | None = None) -> tuple[Labels, int]:
    """The labels as uint16 (uint32 from 65537 classes on), and C: ``classes``, or one more than the largest label.

    Arrays of these types are not copied, memory-mapped ones not read into memory. Of chunks each is made narrow as it comes.

    Raises:
        UserError: no labels, several dimensions, no integers, negative ones, one that is not below ``classes``, or more
            than 2^22 classes.
    """
    parts = [_narrow(np.asarray(chunk)) for chunk in ([labels] if isinstance(labels, np.ndarray) else labels)]
    found = parts[0][0] if len(parts) == 1 else np.concatenate([part for part, _ in parts] or [np.empty(0, np.uint16)])
    most = max((top for _, top in parts), default=-1)
    if not found.size:
        raise UserError("the stream has no labels")
    if classes is not None and most >= classes:
        raise UserError(f"label {most} in a stream of {classes} classes: labels are 0 to {classes - 1}")
    if max(most + 1, classes or 0) > MOST_CLASSES:
        raise UserError(f"label {most}: at most {MOST_CLASSES} classes are counted; number the labels 0, 1, ...")
    return cast(Labels, np.ascontiguousarray(found)), max(1, classes or most + 1)


def _narrow(labels: NDArray[np.integer]) -> tuple[Labels, int]:
    """One array, and its largest label; -1 if there is none."""
    if labels.ndim != 1 or labels.dtype.kind not in "iu":
        raise UserError(f"labels are integers of one dimension, not {labels.dtype} of shape {labels.shape}")
    if not labels.size:
        return np.empty(0, np.uint16), -1
    low, most = int(labels.min()), int(labels.max())
    if low < 0:
        raise UserError(f"label {low} at {int(labels.argmin())}: labels are 0, 1, ...; leave out samples without one")
    if most >= MOST_CLASSES:
        raise UserError(f"label {most}: at most {MOST_CLASSES} classes are counted; number the labels 0, 1, ...")
    kept = labels.dtype in (np.uint16, np.uint32)
    return cast(Labels, labels if kept else labels.astype(np.uint16 if most < 1 << 16 else np.uint32)), most


def rising(values: Iterable[int], least: int, what: str) -> tuple[int, ...]:
    """Sorted, each once.

    Raises:
        UserError: there is none, or one is less than ``least``.
    """
    found = tuple(sorted({int(v) for v in values}))
    if not found or found[0] < least:
        raise UserError(f"{what} are whole numbers from {least} on, not {found[0] if found else 'none'}")
    return found


@dataclass(frozen=True)
class Bursts:
    """Lengths of runs of one class. ``lengths [R]``, in samples, in the order of the stream; ``mean`` and ``longest`` of them."""

    lengths: Int64

    @property
    def mean(self) -> float:
        return float(self.lengths.mean())

    @property
    def longest(self) -> int:
        return int(self.lengths.max())


def log_lags(n: int, per_octave: int = 1) -> tuple[int, ...]:
    """1, 2, 4, ... up to n / 20, with ``per_octave`` of them in each doubling; (1,) of a short stream."""
    top = max(1, n // 20)
    return tuple(sorted({int(2 ** (i / per_octave)) for i in range(int(np.log2(top) * per_octave) + 1)}))


def autocorrelation(labels: Stream, lags: Iterable[int] | None = None) -> tuple[tuple[int, ...], Float64]:
    """Lags s, and for each the share of i with y[i] = y[i - s] less the sum over c of
    P(y[i - s] = c) P(y[i] = c), over the same i.

    0 for independent labels. O(n) a lag.

    Raises:
        UserError: labels as of `narrow`, or a lag that is not 1 ... n - 1.
    """
    y, C = narrow(labels)
    found = rising(lags if lags is not None else log_lags(len(y)), 1, "lags")
    if found[-1] >= len(y):
        raise UserError(f"lag {found[-1]} in a stream of {len(y)} labels")
    whole, out = np.bincount(y, minlength=C), []
    for s in found:
        early, late = whole - np.bincount(y[-s:], minlength=C), whole - np.bincount(y[:s], minlength=C)
        m = len(y) - s
        out.append(np.count_nonzero(y[s:] == y[:-s]) / m - float(early.astype(float) @ late) / m**2)
    return found, np.array(out)


def prior(labels: Stream, windows: int = 20, classes: int | None = None) -> tuple[Int64, Float64]:
    """Bounds of equal windows ``[W + 1]`` in samples, and the share of each class in each ``[W, C]``.

    Raises:
        UserError: labels as of `narrow`, or no window, or more than labels.
    """
    y, C = narrow(labels, classes)
    if not 1 <= windows <= len(y):
        raise UserError(f"{windows} windows of {len(y)} labels")
    edges = np.linspace(0, len(y), windows + 1).astype(np.int64)
    return edges, np.array([np.bincount(y[a:b], minlength=C) / (b - a) for a, b in pairwise(edges)])


def bursts(labels: Stream, gap: int = 0) -> Bursts:
    """Runs of one class; with ``gap``, those of a class less than ``gap + 1`` samples of others apart are one burst.

    Lengths are from the first to the last sample of a burst, those of others between them included.

    Raises:
        UserError: labels as of `narrow`, or a negative gap.
    """
    y, _ = narrow(labels)
    if gap < 0:
        raise UserError(f"a gap is no less than 0, not {gap}")
    order = np.argsort(y, kind="stable")  # of each class its places, rising
    sorted_y = y[order]
    new = np.ones(len(y), bool)
    new[1:] = (sorted_y[1:] != sorted_y[:-1]) | (np.diff(order) > gap + 1)
    starts = np.flatnonzero(new)
    first, last = order[starts], order[np.append(starts[1:], len(y)) - 1]
    return Bursts((last - first + 1)[np.argsort(first)])


def effective_samples(values: Iterable[float] | Float64, block: int) -> float:
    """How many independent values have the same standard error of their mean: a value's variance over that of the mean by blocks.

    ``values [n]``, e.g. right answers as 0 and 1. n if all are equal.

    Raises:
        UserError: fewer than 20 blocks of ``block`` values.
    """
    x = np.asarray(values, dtype=np.float64)
    G = len(x) // block if block > 0 else 0
    if G < 20:
        raise UserError(f"{len(x)} values are {G} blocks of {block}; 20 are needed")
    edges = np.linspace(0, len(x), G + 1).astype(np.int64)
    means = np.add.reduceat(x, edges[:-1]) / np.diff(edges)
    error = float(means.var(ddof=1)) / G
    return float(x.var() / error) if error > 0 else float(len(x))
