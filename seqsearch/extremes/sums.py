"""Passes over a matrix of similarities, compiled: each reads it once and takes no memory."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqsearch.core.compiled import compiled


@compiled
def over_tasks(similarity: NDArray[np.floating[Any]], labels: NDArray[np.int64], sums: NDArray[np.float64]) -> None:
    """Fill ``sums`` R [K, N]: R[t, x] is the sum of D[x, y] over the classes y of task t."""
    n = labels.size
    for t in range(sums.shape[0]):
        for x in range(n):
            sums[t, x] = 0.0
    for y in range(n):
        t = labels[y]
        for x in range(n):
            sums[t, x] += similarity[y, x]


@compiled
def of_rows(
    similarity: NDArray[np.floating[Any]], sums: NDArray[np.float64], pivot: float
) -> tuple[float, float, float]:
    """Fill ``sums`` [N] with the sums of the rows. Returns the least and the largest entry, and the sum of the squares of all
    entries off the diagonal less ``pivot``."""
    squares, least, most = 0.0, math.inf, -math.inf
    for x in range(similarity.shape[0]):
        total, own = 0.0, 0.0
        for y in range(similarity.shape[1]):
            value = float(similarity[x, y])
            total += value
            if x != y:
                own += (value - pivot) ** 2
            least = min(least, value)
            most = max(most, value)
        sums[x] = total
        squares += own
    return least, most, squares


@compiled
def count(
    rows: NDArray[np.floating[Any]], first: int, bottom: float, per_width: float, counts: NDArray[np.int64]
) -> None:
    """Count the entries above the diagonal in bins: ``rows`` are those of a matrix from its row ``first`` on."""
    last = counts.size - 1
    for i in range(rows.shape[0]):
        for j in range(first + i + 1, rows.shape[1]):
            at = int((float(rows[i, j]) - bottom) * per_width)
            counts[min(last, max(0, at))] += 1
