"""How labels depend on each other in time: by lag, in bursts, over windows of the stream."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from seqsearch.core.errors import UserError
from seqsearch.correlation.blind import Float64
from seqsearch.correlation.kernels import Int64
from seqsearch.correlation.labels import Stream, narrow, rising


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
