"""Labels of a stream as a narrow array: 2 bytes a label, whatever they come as."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

import numpy as np
from numpy.typing import NDArray

from seqsearch.core.errors import UserError
from seqsearch.correlation.kernels import Labels

MOST_CLASSES = 1 << 22

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
