"""Numbers as good as drawn, each a function of its place and a seed alone: no order in which they are asked for can change
them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def hashed(seed: int, places: NDArray[np.int64]) -> NDArray[np.uint64]:
    """64 bits for each of ``places`` ``[n]``: the function of SplitMix64 ("Fast Splittable Pseudorandom Number Generators")."""
    return _mixed(places.astype(np.uint64) + _mixed(np.array([seed], dtype=np.uint64)))


def _mixed(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    found = values + np.uint64(0x9E3779B97F4A7C15)
    found = (found ^ (found >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    found = (found ^ (found >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return found ^ (found >> np.uint64(31))
