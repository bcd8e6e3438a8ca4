"""Similarity as cosines of class features, kept as the features: no matrix of all pairs is made."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from seqsearch.core.digests import digest_of
from seqsearch.core.errors import UserError
from seqsearch.storage.reading import open_regular

MOST_CLASSES, MOST_DIMENSIONS = 1_000_000, 16_384
PREFIX = "features:"
"""Of ``--similarity features:FILE``."""


@dataclass(frozen=True, eq=False)
class ClassFeatures:
    """Features of classes whose similarity is the cosine.

    Attributes:
        values: ``[N, d]`` float32, rows of length 1 (or 0), read-only.
        names: of the classes: their numbers.
        source: where they come from, in one line.
    """

    values: NDArray[np.float32]
    names: tuple[str, ...]
    source: str

    def __len__(self) -> int:
        """Number of classes N."""
        return len(self.names)

    @cached_property
    def digest(self) -> str:
        """Identity of names and values; the source has no part in it."""
        return digest_of("class features", self.names, self.values)


def read_features(path: Path) -> ClassFeatures:
    """Mean features of classes ``[N, d]`` in a ``.npy`` file, one row a class; a row of zeros is similar to no other.

    Raises:
        UserError: it cannot be read, or holds no matrix of finite numbers with two rows or more.
    """
    try:
        os.close(open_regular(path))
        found = np.load(path, mmap_mode="r", allow_pickle=False)
        if not isinstance(found, np.memmap) or found.dtype.kind not in "fiub" or found.ndim != 2:
            raise ValueError("it holds no array [N, d] of real numbers")
        n, d = found.shape
        if not (2 <= n <= MOST_CLASSES and 1 <= d <= MOST_DIMENSIONS):
            raise ValueError(
                f"it is {n} x {d}, must be of 2 to {MOST_CLASSES:,} classes and 1 to {MOST_DIMENSIONS:,} features"
            )
        values = np.array(found, dtype=np.float32, order="C")
    except (OSError, ValueError, EOFError) as error:
        raise UserError(f"{path}: cannot be read as features of classes ({error})") from None
    lengths = np.sqrt(np.einsum("ij,ij->i", values, values, dtype=np.float64))
    if not np.isfinite(lengths).all():
        raise UserError(f"{path}: the features of class {int(np.isfinite(lengths).argmin())} are not finite")
    values /= np.where(lengths > 0, lengths, 1.0).astype(np.float32)[:, None]
    values.setflags(write=False)
    return ClassFeatures(values, tuple(map(str, range(n))), f"cosines of {path.name}")
