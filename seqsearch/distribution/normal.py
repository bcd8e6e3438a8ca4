"""The normal that is fitted to accuracies, and its quantiles."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from seqsearch.distribution.interval import AGREE, Interval, finite, tail


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


def normal_quantile(fit: NormalFit, p: float, n: int | None = None, level: float = 0.95) -> Interval:
    """The ``p``-quantile of the fitted normal; with ``n``, the sample size of a fit with ddof 1, its exact interval.

    sqrt(n) (mean - quantile) / sd has a noncentral t distribution with n - 1 degrees of freedom and noncentrality -z_p sqrt(n):
    "Statistical Intervals" (Meeker, Hahn and Escobar, 2017), chapter 4. Not cut at 0 or 1.
    """
    value = fit.mu + fit.sigma * float(stats.norm.ppf(p))
    if n is None or n < 2:
        return Interval(value)
    low, high = _noncentral_t(p, n, level)
    return Interval(value, fit.mu - high * fit.sigma, fit.mu - low * fit.sigma)


@lru_cache(maxsize=1024)
def _noncentral_t(p: float, n: int, level: float) -> tuple[float, float]:
    shift = -float(stats.norm.ppf(p)) * math.sqrt(n)
    low, high = (float(q(tail(level), n - 1, shift)) / math.sqrt(n) for q in (stats.nct.ppf, stats.nct.isf))
    return low, high


def empirical_quantile(values: ArrayLike, p: float, level: float = 0.95) -> Interval:
    """The ``p``-quantile of ``[L]`` values (linear between order statistics) with an interval free of any distribution.

    The bounds are the order statistics of David and Nagaraja's "Order Statistics" (2003), section 7.1: at least ``level``,
    whatever the distribution. All NaN where L is too small to have both (6 for the median, 72 for the .05-quantile at 95 %).
    """
    x, beyond = np.sort(finite(values, "values")), tail(level)
    below = int(stats.binom.ppf(beyond, len(x), p))  # P(count <= below - 1) <= beyond
    above = int(stats.binom.isf(beyond, len(x), p)) + 1  # P(count >= above) <= beyond
    if below < 1 or above > len(x):
        return Interval(math.nan)
    return Interval(float(np.quantile(x, p)), float(x[below - 1]), float(x[above - 1]))
