"""Mean accuracy over all orders and all training seeds, from random orders with one training each."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from seqsearch.distribution.interval import AGREE, UNKNOWN, Float64, Interval, accuracies, finite
from seqsearch.distribution.pivot import Pivot, skewness

FEWEST = 30
"""Random orders below which a mean has no interval: with fewer, 10 % of orders that are far off go unseen too often."""


def mean_interval(random: ArrayLike, level: float = 0.95) -> Interval:
    """Mean of ``random [L]``, accuracies of independent orders with a training seed each, and its interval.

    The bounds are those of `Pivot`, cut at 0 and 1; NaN below `FEWEST` orders, and where all accuracies agree: how far off
    orders are that were not drawn, if any, is then unknown.
    No interval of a mean holds for every distribution ("The Nonexistence of Certain Statistical Procedures in Nonparametric
    Problems", Bahadur and Savage, 1956): orders that are rare and far off may all be missed.
    """
    x = accuracies(random, "accuracies of random orders")
    if len(x) < FEWEST or np.ptp(x) <= AGREE:
        return Interval(float(x.mean()))
    return _bounded(Pivot.of_mean(x), level)


def needed_for_mean(L: int) -> int:
    """Random orders that are lacking for the mean to have an interval."""
    return max(0, FEWEST - L)


def adjusted_mean(random: ArrayLike, S: ArrayLike, S_mean: float, level: float = 0.95) -> Interval:
    """Mean of ``random [L]`` with the objective ``S [L]`` of the orders as control variate; ``S_mean`` is that of all orders.

    ybar - b (Sbar - S_mean), b the slope of least squares; its variance is MSE (1 / L + (Sbar - S_mean)^2 / Sxx), with L - 2
    degrees of freedom: "A Perspective on the Use of Control Variables to Increase the Efficiency of Monte Carlo Simulations"
    (Lavenberg and Welch, 1981). The bounds are those of `Pivot` with the skewness of the residuals, cut at 0 and 1. NaN where
    S is constant or the mean has no interval.

    Raises:
        ValueError: not as many objectives as accuracies.
    """
    y, s = accuracies(random, "accuracies of random orders"), finite(S, "objectives of random orders")
    if len(y) != len(s):
        raise ValueError(f"{len(y)} random orders need as many objectives, not {len(s)}")
    if len(y) < FEWEST or np.ptp(s) < 1e-12:
        return UNKNOWN
    off, squares, residual, slope = _line(s, y, S_mean)
    value = min(1.0, max(0.0, float(y.mean()) - slope * off))
    if np.ptp(residual) <= AGREE:
        return Interval(value)
    variance = float((residual**2).sum()) / (len(y) - 2) * (1 / len(y) + off**2 / squares)
    return _bounded(Pivot(value, math.sqrt(variance), skewness(residual), len(y), len(y) - 2), level)


def _line(s: Float64, y: Float64, S_mean: float) -> tuple[float, float, Float64, float]:
    """Sbar - S_mean, Sxx, residuals ``[L]`` and slope of the least-squares line."""
    centred = s - s.mean()
    squares = float((centred**2).sum())
    slope = float((centred * y).sum()) / squares
    return float(s.mean()) - S_mean, squares, y - y.mean() - slope * centred, slope


def _bounded(pivot: Pivot, level: float) -> Interval:
    low, high = pivot.bounds(level)
    return Interval(pivot.value, max(0.0, low), min(1.0, high))
