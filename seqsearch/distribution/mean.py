"""Mean accuracy over all orders and all training seeds, from random orders with one training each."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from seqsearch.distribution.interval import AGREE, Interval, accuracies, finite, tail

FEWEST = 20
"""Random orders below which a mean has no interval."""


def mean_interval(random: ArrayLike, level: float = 0.95) -> Interval:
    """Mean of ``random [L]`` with its interval; width 0 where all agree, NaN bounds below `FEWEST` orders."""
    x = accuracies(random, "accuracies of random orders")
    mean = float(x.mean())
    if np.ptp(x) <= AGREE:
        return Interval(mean, mean, mean) if len(x) >= FEWEST else Interval(mean)
    if len(x) < FEWEST:
        return Interval(mean)
    reach = float(stats.t.isf(tail(level), len(x) - 1)) * float(x.std(ddof=1)) / math.sqrt(len(x))
    return Interval(mean, mean - reach, mean + reach)


def needed_for_mean(L: int) -> int:
    """Random orders that are lacking for the mean to have an interval."""
    return max(0, FEWEST - L)


def adjusted_mean(random: ArrayLike, S: ArrayLike, S_mean: float, level: float = 0.95) -> Interval:
    """Mean of ``random [L]`` with the objective ``S [L]`` of the orders as control variate; ``S_mean`` is that of all orders.

    ybar - b (Sbar - S_mean), b the slope of least squares; its variance is MSE (1 / L + (Sbar - S_mean)^2 / Sxx), with L - 2
    degrees of freedom: "Control Variate Techniques" of Lavenberg and Welch ("A Perspective on the Use of Control Variables to
    Increase the Efficiency of Monte Carlo Simulations", 1981). NaN where S is constant or the mean has no interval.

    Raises:
        ValueError: as many similarities as accuracies are needed.
    """
    y, s = accuracies(random, "accuracies of random orders"), finite(S, "objectives of random orders")
    if len(y) != len(s):
        raise ValueError(f"{len(y)} random orders need as many objectives, not {len(s)}")
    if len(y) < FEWEST or np.ptp(s) < 1e-12:
        return Interval(math.nan)
    off, centred = float(s.mean()) - S_mean, s - s.mean()
    squares = float((centred**2).sum())
    slope = float((centred * y).sum()) / squares
    residual = y - y.mean() - slope * centred
    variance = float((residual**2).sum()) / (len(y) - 2) * (1 / len(y) + off**2 / squares)
    value, reach = float(y.mean()) - slope * off, float(stats.t.isf(tail(level), len(y) - 2)) * math.sqrt(variance)
    return Interval(value, value - reach, value + reach)
