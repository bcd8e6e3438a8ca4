"""Samples of a stream as rows of a pool: in time a sample is a position, in a pool rows lie class by class."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqsearch.pools.base import ClassInfo
from seqsearch.streams.base import Labels

Samples = NDArray[np.uint32] | NDArray[np.int64]
"""Positions in time ``[n]``, or rows."""
PIECE = 1 << 20
"""Samples that are sorted or counted at a time: numpy does both in 8 bytes a sample and more."""


def narrow(labels: Labels, classes: int) -> Labels:
    """Labels in as few bytes as ``classes`` need: of millions these count, and numpy sorts 16 bits by counting."""
    kind = np.uint16 if classes <= 1 << 16 else np.int32
    return labels if labels.dtype == kind else labels.astype(kind)


def pieces(n: int) -> Iterator[slice]:
    """``0 .. n-1``, `PIECE` at a time."""
    return (slice(first, min(first + PIECE, n)) for first in range(0, n, PIECE))


def tally(values: NDArray[np.integer[Any]], least: int = 0) -> NDArray[np.int64]:
    """How often each value occurs, as ``np.bincount`` with ``minlength``, which would take 8 bytes a value."""
    found = np.zeros(max(least, int(values.max()) + 1 if len(values) else 0), dtype=np.int64)
    for piece in pieces(len(values)):
        found += np.bincount(values[piece], minlength=len(found))
    return found


def up_to(n: int, first: int = 0) -> Samples:
    """``first .. n-1`` in as few bytes as they need."""
    return np.arange(first, n, dtype=np.uint32) if n < 1 << 32 else np.arange(first, n, dtype=np.int64)


def places(flags: NDArray[np.bool_]) -> Samples:
    """Where ``flags`` are set, as ``np.flatnonzero``, which takes 8 bytes a place."""
    found, at = up_to(int(np.count_nonzero(flags))), 0
    for piece in pieces(len(flags)):
        own = np.flatnonzero(flags[piece])
        found[at : at + len(own)], at = own + piece.start, at + len(own)
    return found


def by_class(labels: Labels) -> Samples:
    """The sample ``[n]`` at each row: class by class, in order of time within a class."""
    counts = tally(labels)
    free, order = np.cumsum(counts) - counts, up_to(len(labels))
    for piece in pieces(len(labels)):  # rows from `free` on are free of each class
        own = np.argsort(labels[piece], kind="stable")
        counts = np.bincount(labels[piece], minlength=len(free))
        rows = np.arange(len(own)) + np.repeat(free - (np.cumsum(counts) - counts), counts)
        order[rows] = own + piece.start
        free += counts
    return order


def rows_of(order: Samples) -> Samples:
    """The row ``[n]`` of each sample: the inverse of `by_class`."""
    rows = np.empty_like(order)
    for piece in pieces(len(order)):
        rows[order[piece]] = np.arange(piece.start, piece.stop)
    return rows


def counted(names: Sequence[str], labels: Labels, groups: Sequence[str] | str) -> tuple[ClassInfo, ...]:
    """Classes with the number of their samples; of some there may be none. ``groups``: one of all, or one each."""
    counts = tally(labels, len(names)).tolist()
    each = [groups] * len(names) if isinstance(groups, str) else groups
    return tuple(ClassInfo(n, g, c) for n, g, c in zip(names, each, counts, strict=True))
