"""Similarity as cosines of class features, kept as the features: no matrix of all pairs is made."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from seqsearch.core.errors import UserError
from seqsearch.similarity.matrix import OfClasses
from seqsearch.storage.reading import open_regular

MOST_CLASSES, MOST_DIMENSIONS, ROWS = 1_000_000, 4_096, 4_096
PREFIX = "features:"
"""Of ``--similarity features:FILE``."""


@dataclass(frozen=True, eq=False)
class ClassFeatures(OfClasses):
    """Features of classes whose similarity is the cosine.

    Its values ``[N, d]`` are float32, rows of length 1 (or 0). The names of the classes are their numbers.
    """

    kind = "class features"


def read_features(path: Path) -> ClassFeatures:
    """Mean features of classes ``[N, d]`` in a ``.npy`` file, one row a class; a row of zeros is similar to no other.

    Raises:
        UserError: it cannot be read, or holds no matrix of finite numbers with two rows or more.
    """
    try:
        os.close(open_regular(path))
        with warnings.catch_warnings(action="ignore"):  # of sizes that no array can have
            found = np.load(path, mmap_mode="r", allow_pickle=False)
        if not isinstance(found, np.memmap) or found.dtype.kind not in "fiub" or found.ndim != 2:
            raise ValueError("it holds no array [N, d] of real numbers")
        n, d = found.shape
        if not (2 <= n <= MOST_CLASSES and 1 <= d <= MOST_DIMENSIONS):
            raise ValueError(
                f"it is {n} x {d}, must be of 2 to {MOST_CLASSES:,} classes and 1 to {MOST_DIMENSIONS:,} features"
            )
    except OSError as error:
        raise UserError(f"{path}: cannot be read as features of classes ({error.strerror or error})") from None
    except (ValueError, EOFError) as error:
        raise UserError(f"{path}: cannot be read as features of classes ({str(error)[:200]})") from None
    values = np.empty((n, d), np.float32)
    for i in range(0, n, ROWS):
        rows = np.array(found[i : i + ROWS], np.float64)
        largest = np.abs(rows).max(axis=1, keepdims=True)
        if not np.isfinite(largest).all():
            raise UserError(f"{path}: the features of class {i + int(np.isfinite(largest).argmin())} are not finite")
        rows /= np.where(largest > 0, largest, 1.0)  # before squares, which would leave the range of numbers
        lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, None]
        values[i : i + ROWS] = rows / np.where(lengths > 0, lengths, 1.0)
    values.setflags(write=False)
    return ClassFeatures(values, tuple(map(str, range(n))), f"cosines of {path.name}")
