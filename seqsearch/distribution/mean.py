"""The mean over n independent draws with its interval: the one rule of all protocols.

A draw is a class order with its training seed: an accuracy, or a difference of two that share order and seed. Nobody sees from
few draws whether they are skewed. So the interval is the union of two: Student's with the degrees of freedom of
`pivot.degrees_of`, and Hall's, which reaches further on the side of the long tail. `benchmarks.coverage.mean` measures both.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from seqsearch.distribution.interval import AGREE, UNKNOWN, Float64, Interval, accuracies, finite
from seqsearch.distribution.pivot import Pivot, degrees_of, skewness

FEWEST = 3
"""Draws below which a mean has no interval."""
ENOUGH_TO_SEE = 30
"""Draws from which on outliers of one in ten are seldom all missed: 0.9^30 is 4 %. Below, they are assumed not to lie far off."""
Limits = tuple[float, float]
"""Between which a mean lies, and its interval is cut."""
ACCURACY: Limits = (0.0, 1.0)
DIFFERENCE: Limits = (-1.0, 1.0)


def of_draws(values: Float64) -> Pivot:
    """Of the mean of ``[n]`` independent draws, `FEWEST` or more, that are not all equal."""
    n = len(values)
    error = float(values.std(ddof=1)) / math.sqrt(n)
    return Pivot(float(values.mean()), error, skewness(values), n, n - 1, degrees_of(n))


def mean_interval(values: ArrayLike, limits: Limits = ACCURACY, level: float = 0.95, shared: float = 0.0) -> Interval:
    """Mean of ``values [n]``, independent draws, and its interval, cut at ``limits``.

    ``shared``: the half-width by what all draws have in common, such as training seeds and test images; squares add up.

    NaN bounds below `FEWEST` draws, and where all agree: how far off others are, if any, is then unknown. No interval of a mean
    holds for every distribution ("The Nonexistence of Certain Statistical Procedures in Nonparametric Problems", Bahadur and
    Savage, 1956): draws that are rare and far off may all be missed.
    """
    x = finite(values, "values of independent draws")
    if len(x) < FEWEST or np.ptp(x) <= AGREE:
        return Interval(float(x.mean()))
    return _bounded(of_draws(x), limits, level, shared)


def needed_for_mean(n: int) -> int:
    """Draws that are missing for the mean to have an interval."""
    return max(0, FEWEST - n)


def adjusted_mean(random: ArrayLike, S: ArrayLike, S_mean: float, level: float = 0.95) -> Interval:
    """Mean of ``random [L]`` with the objective ``S [L]`` of the orders as control variate; ``S_mean`` is that of all orders.

    ybar - b (Sbar - S_mean), b the slope of least squares; its variance is MSE (1 / L + (Sbar - S_mean)^2 / Sxx), with L - 2
    degrees of freedom: "A Perspective on the Use of Control Variables to Increase the Efficiency of Monte Carlo Simulations"
    (Lavenberg and Welch, 1981). The bounds are those of `mean_interval` with the skewness of the residuals, which have one degree
    less. NaN where S is constant, and below `FEWEST` orders and one.

    Raises:
        ValueError: not as many objectives as accuracies.
    """
    y, s = accuracies(random, "accuracies of random orders"), finite(S, "objectives of random orders")
    if len(y) != len(s):
        raise ValueError(f"{len(y)} random orders need as many objectives, not {len(s)}")
    if len(y) <= FEWEST or np.ptp(s) < 1e-12:
        return UNKNOWN
    off, squares, residual, slope = _line(s, y, S_mean)
    value = min(1.0, max(0.0, float(y.mean()) - slope * off))
    if np.ptp(residual) <= AGREE:
        return Interval(value)
    variance = float((residual**2).sum()) / (len(y) - 2) * (1 / len(y) + off**2 / squares)
    n = len(y)
    pivot = Pivot(value, math.sqrt(variance), skewness(residual), n, n - 2, degrees_of(n - 1))
    return _bounded(pivot, ACCURACY, level)


def _line(s: Float64, y: Float64, S_mean: float) -> tuple[float, float, Float64, float]:
    """Sbar - S_mean, Sxx, residuals ``[L]`` and slope of the least-squares line."""
    centred = s - s.mean()
    squares = float((centred**2).sum())
    slope = float((centred * y).sum()) / squares
    return float(s.mean()) - S_mean, squares, y - y.mean() - slope * centred, slope


def _bounded(pivot: Pivot, limits: Limits, level: float, shared: float = 0.0) -> Interval:
    low, high = (math.hypot(bound - pivot.value, shared) for bound in pivot.bounds(level))
    return Interval(pivot.value, max(limits[0], pivot.value - low), min(limits[1], pivot.value + high))
