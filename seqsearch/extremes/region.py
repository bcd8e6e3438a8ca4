"""Where a fit to some sequences may be believed: the features that these have, each by itself and all together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seqsearch.extremes.objective import Floats

MARGIN = 1e-9
"""Beyond the bounds, as a share of their width: what sums in another order differ by."""


@dataclass(frozen=True, eq=False)
class Region:
    """Features ``[P]`` in the range seen: each between ``low`` and ``high``, and leverage at most ``most``.

    Leverage (x - centre)' metric (x - centre), metric the inverse of the matrix of sums of squares and products, says how far
    features are together from those fitted to; beyond the largest one fitted to a prediction is a hidden extrapolation
    ("Influential Observations in Linear Regression", Cook, 1979; the share of the mean, 1 / n, is left out on both sides).
    """

    low: Floats
    high: Floats
    centre: Floats
    metric: Floats
    most: float

    def leverage(self, features: ArrayLike) -> Floats:
        """``[n]`` of features ``[n, P]``."""
        off = np.asarray(features, dtype=np.float64) - self.centre
        found: Floats = np.einsum("np,pq,nq->n", off, self.metric, off)
        return found

    def holds(self, features: ArrayLike) -> NDArray[np.bool_]:
        """``[n]``: are features ``[n, P]`` in the range?"""
        x = np.asarray(features, dtype=np.float64)
        within: NDArray[np.bool_] = ((x >= self.low) & (x <= self.high)).all(axis=1) & (self.leverage(x) <= self.most)
        return within


def region(features: ArrayLike) -> Region:
    """The range of features ``[n, P]``, none of which follows from the others."""
    x = np.asarray(features, dtype=np.float64)
    centre = x.mean(axis=0)
    metric = np.linalg.inv((x - centre).T @ (x - centre))
    margin = MARGIN * (x.max(axis=0) - x.min(axis=0))
    bare = Region(x.min(axis=0) - margin, x.max(axis=0) + margin, centre, metric, np.inf)
    return Region(bare.low, bare.high, centre, metric, float(bare.leverage(x).max()) * (1 + MARGIN))
