"""Pair potentials of many classes, computed row by row when a search asks for them: no matrix of all pairs is made.

A step of CLDyB with 64 candidates of 20 classes asks for about a thousand rows (``benchmarks/scale/proposals.py`` has times).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seqsearch.features.geometry import SAME, Float32, Float64, unit_rows

DENSE = 4_096
"""Classes up to which all potentials are computed (`seqsearch.features.geometry.potentials`)."""
SAMPLE = 1_024
"""Classes whose cosines with all others decide the ends of a method's scale."""


class ManyPotentials:
    """Potentials ``[n, n]`` in [0, 1] of n classes, as `seqsearch.features.geometry.potentials` but for the ends of the scale.

    Eq. 5 rescales the cosines of a method by the least and the largest of all pairs. Here these are of the pairs that have one of
    `SAMPLE` classes, evenly spaced; what is beyond counts as 0 or 1. All else is exact.

    ``potentials[np.ix_(rows, columns)]`` are those of some pairs, as of an array.

    Args:
        prototypes: one ``[N, d_m]`` for each method.
        left: positions ``[n]`` of the classes that are left, increasing; others have no potentials.
    """

    def __init__(self, prototypes: Sequence[ArrayLike], left: NDArray[np.int64]) -> None:
        self._units = [unit_rows(np.asarray(p)[left]) for p in prototypes]
        self._place = np.full(len(np.asarray(prototypes[0])), -1)
        self._place[left] = np.arange(len(left))
        self._n = len(left)
        self._ends = [self._ends_of(u) for u in self._units]

    def _ends_of(self, units: Float32) -> tuple[float, float]:
        if self._n < 2:
            return 0.0, 0.0
        some = np.unique(np.linspace(0, self._n - 1, SAMPLE).astype(np.int64))
        cosines = units[some] @ units.T
        cosines[np.arange(len(some)), some] = cosines[0, 1 if some[0] == 0 else 0]  # of another pair
        return float(cosines.min()), float(cosines.max())

    def __getitem__(self, index: tuple[NDArray[np.int64], ...]) -> Float64:
        rows, columns = (self._place[np.ravel(axis)] for axis in index)
        whole = len(columns) == self._n and bool((columns == np.arange(self._n)).all())
        found = np.zeros((len(rows), len(columns)))
        for units, (low, high) in zip(self._units, self._ends, strict=True):
            if high - low < SAME:
                found += 1.0
                continue
            cosines = units[rows] @ (units if whole else units[columns]).T
            cosines -= low
            cosines /= high - low
            found += np.clip(cosines, 0.0, 1.0, out=cosines)
        found /= len(self._units)
        found[rows[:, None] == columns] = 0.0
        return found
