"""Samples of a stream as rows of a pool: in time a sample is a position, in a pool rows lie class by class."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from seqsearch.pools.base import ClassInfo, Rows
from seqsearch.streams.base import Labels

Samples = NDArray[np.uint32] | NDArray[np.int64]
"""Positions in time ``[n]``."""


def narrow(labels: Labels, classes: int) -> Labels:
    """Labels in as few bytes as ``classes`` need: of millions these count, and numpy sorts 16 bits by counting."""
    kind = np.uint16 if classes <= 1 << 16 else np.int32
    return labels if labels.dtype == kind else labels.astype(kind)


def by_class(labels: Labels) -> Samples:
    """The sample ``[n]`` at each row: class by class, in order of time within a class."""
    order = np.argsort(labels, kind="stable")
    return order.astype(np.uint32) if len(order) < 1 << 32 else order


def rows_of(order: Samples) -> Rows:
    """The row ``[n]`` of each sample: the inverse of `by_class`."""
    rows = np.empty(len(order), dtype=np.int64)
    rows[order] = np.arange(len(order))
    return rows


def counted(names: Sequence[str], labels: Labels, groups: Sequence[str] | str) -> tuple[ClassInfo, ...]:
    """Classes with the number of their samples; of some there may be none. ``groups``: one of all, or one each."""
    counts = np.bincount(labels, minlength=len(names)).tolist()
    each = [groups] * len(names) if isinstance(groups, str) else groups
    return tuple(ClassInfo(n, g, c) for n, g, c in zip(names, each, counts, strict=True))
