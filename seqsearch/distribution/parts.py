"""A variance that is a sum of parts, each with its own degrees of freedom, and the interval that it gives.

The interval's half-width is the root of the sum of each part times the square of its own Student's quantile ("Approximate
Confidence Interval for Linear Functions of Means of k Populations when the Population Variances are not Equal", Banerjee, 1960):
for independent normal parts it holds in at least 95 % of cases, whatever their ratios.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import lru_cache

import numpy as np
from scipy import stats

from seqsearch.distribution.interval import AGREE, Float64, Interval, tail

Part = tuple[float, float]
"""A part of the variance, and the degrees of freedom behind it."""


def banerjee(value: float, parts: Iterable[Part], level: float) -> Interval:
    """The interval of ``value`` by its ``parts``; NaN bounds without parts, or where something is not finite."""
    known = list(parts)
    total = sum(variance for variance, _ in known)
    if not known or not math.isfinite(value + total):
        return Interval(value)
    reach = math.sqrt(sum(variance * quantile(level, degrees) ** 2 for variance, degrees in known))
    return Interval(value, value - reach, value + reach)


@lru_cache(maxsize=1024)
def quantile(level: float, degrees: float) -> float:
    """Student's, two-sided."""
    return float(stats.t.isf(tail(level), degrees))


def alike(values: Float64) -> bool:
    """They differ by rounding at most."""
    return bool(np.ptp(values) <= AGREE)


def extreme(accuracies: Float64) -> bool:
    """No error at all, or nothing but errors: how rare the others are cannot be seen."""
    return alike(np.append(accuracies, 0.0)) or alike(np.append(accuracies, 1.0))
