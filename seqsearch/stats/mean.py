"""Means over independent draws, with intervals and p-values: one rule for all protocols.

A draw is a class order with its training seed: an accuracy, or a difference of two that share order and seed. Few draws do not
show whether they are skewed. So the interval is the union of two: Student's with the degrees of freedom of `degrees_of`, and
Hall's, which reaches further on the side of the long tail. `benchmarks.coverage.mean` and `benchmarks.coverage.runs` measure
the coverage: normal, skewed and tied draws.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from seqsearch.stats.interval import AGREE, UNKNOWN, Float64, Interval, Pivot, accuracies, degrees_of, finite, skewness

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
    return replace(Pivot.of_mean(values), student=degrees_of(len(values)))


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
    centred, off = s - s.mean(), float(s.mean()) - S_mean
    squares = float((centred**2).sum())
    slope = float((centred * y).sum()) / squares
    residual = y - y.mean() - slope * centred
    value = min(1.0, max(0.0, float(y.mean()) - slope * off))
    if np.ptp(residual) <= AGREE:
        return Interval(value)
    variance = float((residual**2).sum()) / (len(y) - 2) * (1 / len(y) + off**2 / squares)
    n = len(y)
    pivot = Pivot(value, math.sqrt(variance), skewness(residual), n, n - 2, degrees_of(n - 1))
    return _bounded(pivot, ACCURACY, level)


def _bounded(pivot: Pivot, limits: Limits, level: float, shared: float = 0.0) -> Interval:
    low, high = (math.hypot(bound - pivot.value, shared) for bound in pivot.bounds(level))
    return Interval(pivot.value, max(limits[0], pivot.value - low), min(limits[1], pivot.value + high))


@dataclass(frozen=True)
class OverRuns:
    """A mean over ``runs`` runs.

    Attributes:
        interval: 95 %, by itself.
        p: two-sided, of the mean being 0; NaN without an interval.
        unavailable_because: what there is too little of for an interval; empty where there is one.
    """

    interval: Interval
    p: float
    runs: int
    unavailable_because: str = ""


def over_runs(values: ArrayLike, limits: Limits = DIFFERENCE, level: float = 0.95) -> OverRuns:
    """The mean of ``values [n]``, one of each run; no bounds below `FEWEST` runs, and where all agree but for rounding.

    Raises:
        ValueError: nothing at all, or what is not finite.
    """
    x = finite(values, "figures of runs")
    n, interval = len(x), mean_interval(x, limits, level)
    if n < FEWEST:
        return OverRuns(interval, math.nan, n, f"{n} of {FEWEST} runs that an interval needs")
    if np.ptp(x) <= AGREE:
        return OverRuns(interval, math.nan, n, "all runs agree, so that how they vary is not known")
    return OverRuns(interval, of_draws(x).p(0.0), n)
