"""The normal that is fitted to accuracies."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from seqsearch.distribution.interval import AGREE, finite


@dataclass(frozen=True)
class NormalFit:
    """Mean and standard deviation of a normal; ``sigma`` is 0 for a point, NaN where it cannot be known."""

    mu: float
    sigma: float


def normal_fit(values: ArrayLike, ddof: int = 1) -> NormalFit:
    """Mean and standard deviation of ``[L]`` values, or of the row means of ``[L, R]``.

    ``ddof`` 1 divides by L - 1 (unbiased variance), 0 by L (the paper's sigma of section 3.1).
    Values that agree but for rounding have exactly 0.
    """
    x = finite(values, "values to fit", dimensions=(1, 2))
    x = x.mean(axis=1) if x.ndim == 2 else x
    if np.ptp(x) <= AGREE and len(x) > ddof:
        return NormalFit(float(x[0]), 0.0)
    return NormalFit(float(x.mean()), float(x.std(ddof=ddof)) if len(x) > ddof else math.nan)
