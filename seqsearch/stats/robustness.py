"""Is a method robust to the order of classes? A test of equivalence: an upper bound of the spread over orders, and a margin.

A difference that is not significant shows no robustness: too few orders show none either. So the claim "robust" needs an upper
bound of the standard deviation over orders below a margin that was named before any accuracy was seen.

The model is y_os = mu + a_o + b_s + e_os: accuracy of order o with training seed s, the same S seeds for all K orders. The
standard deviation of a is wanted. V is the variance of the means of orders over seeds, and N = MS_error / S is the training
noise in these means, so that V - N estimates the variance of a without bias, whatever a, b and e are drawn from. With one
seed, N is not known.

The upper bound of V - N combines bounds of both variances by the modified large-sample method ("Confidence Intervals on
Variance Components", Burdick and Graybill, 1992): V - N + sqrt((h V)^2 + (g N)^2). The bound (1 + h) V is df V over the 5 %
quantile of chi-square with df = (K - 1) / (1 + k (K - 1) / 2 K) degrees of freedom, which are those of a variance of draws with
excess kurtosis k ("Non-normality and Tests on Variances", Box, 1953). Burdick and Graybill's bound of a difference has a further
term in the product of V and N. It is negative and small, and left out. Kurtosis is underestimated where the tail was not seen,
so k is twice its estimate, and never below that of an exponential distribution. So the bound is wide for normal orders, and holds
for tails that are no heavier than exponential ones. It fails more often for heavier tails and for rare orders that lie far off:
docs/order_robustness.md has how often.

The ratio of two methods on the same orders and seeds has an upper bound by Fieller's theorem ("Some Problems in Interval
Estimation", 1954) on jackknife pseudo-values of V - N, leaving out an order at a time, or by the jackknife of its logarithm,
whichever is larger. If the spread of the baseline does not exclude zero, there is no bound. Bounds that are given belong to draws
in which this spread looks large, so their level is 2.5 %. At 5 % too many of the bounds that are given would be too low.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from seqsearch.stats.interval import AGREE, Float64, finite

FEWEST_ORDERS, FEWEST_SEEDS = 20, 2
"""Orders and training seeds without which nothing is said."""
LEVEL, RATIO_LEVEL = 0.05, 0.025
LEAST_KURTOSIS, INFLATED = 6.0, 2.0
"""Excess kurtosis of orders at least (exponential: 6, Laplace: 3), and what an estimate is multiplied by."""


@dataclass(frozen=True)
class OrderSpread:
    """The standard deviation over orders, training noise removed, in the units of the accuracies.

    Attributes:
        sd: estimate; 0 where means of orders differ by less than training noise explains.
        upper: one-sided upper bound, 95 %.
        orders, seeds: that it rests on.
        unavailable_because: the reason for NaN; empty if there is none.
    """

    sd: float
    upper: float
    orders: int
    seeds: int
    unavailable_because: str = ""

    def within(self, margin: float) -> bool:
        """Whether the method is shown to be robust: the upper bound lies below the ``margin``."""
        return not math.isnan(self.upper) and self.upper < margin


@dataclass(frozen=True)
class SpreadRatio:
    """The standard deviation over orders of a method over that of a baseline, on the same orders and seeds.

    Attributes:
        ratio: of the estimates; NaN if the baseline's is 0.
        upper: one-sided upper bound, 97.5 %. Infinite if the spread of the baseline does not exclude zero. Of finite bounds 92 %
            or more hold where half of the samples give one (docs/order_robustness.md).
        unavailable_because: the reason for NaN; empty if there is none.
    """

    ratio: float
    upper: float
    unavailable_because: str = ""


def order_spread(values: ArrayLike) -> OrderSpread:
    """Of accuracies ``values [K, S]``, order by seed, the same seeds for all orders.

    Raises:
        ValueError: another shape, or values that are not finite.
    """
    y = finite(values, "accuracies by order and seed", (2,))
    if why := _unavailable(y):
        return OrderSpread(math.nan, math.nan, len(y), y.shape[1], why)
    (K, S), (V, N) = y.shape, _variances(y)
    above = _reach(y.mean(axis=1)) * V
    df = (K - 1) * (S - 1)
    noise = (1 - df / float(stats.chi2.isf(LEVEL, df))) * N
    upper = max(0.0, V - N + math.hypot(above, noise))
    return OrderSpread(math.sqrt(max(0.0, V - N)), math.sqrt(upper), K, S)


def spread_ratio(values: ArrayLike, baseline: ArrayLike) -> SpreadRatio:
    """Of a method's accuracies ``[K, S]`` and a baseline's ``[K, S]``, on the same orders and seeds.

    Raises:
        ValueError: another shape, or values that are not finite.
    """
    y, b = (finite(v, "accuracies by order and seed", (2,)) for v in (values, baseline))
    if y.shape != b.shape:
        raise ValueError(f"a method has {y.shape} orders and seeds, the baseline {b.shape}: they must be the same")
    if why := _unavailable(b):
        return SpreadRatio(math.nan, math.nan, f"of the baseline {why}")
    if why := _unavailable(y):
        return SpreadRatio(math.nan, math.nan, why)
    own, other = _pseudo_values(y), _pseudo_values(b)
    top, bottom = float(own.mean()), float(other.mean())
    ratio = math.sqrt(max(0.0, top) / bottom) if bottom > 0 else math.nan
    return SpreadRatio(ratio, max(_fieller(own, other), _by_logarithm(own, other)))


def _unavailable(y: Float64) -> str:
    K, S = y.shape
    if S < FEWEST_SEEDS:
        return "one training seed for each order cannot separate training noise from the effect of order"
    if K < FEWEST_ORDERS:
        return f"{FEWEST_ORDERS - K} more orders with {S} seeds each are needed"
    return "all orders have the same accuracy with the same seed" if np.ptp(y, axis=0).max() <= AGREE else ""


def _variances(y: Float64) -> tuple[float, float]:
    """V, of the means of orders, and N, the training noise in it."""
    K, S = y.shape
    error = _errors(y)
    return float(y.mean(axis=1).var(ddof=1)), float((error**2).sum()) / ((K - 1) * (S - 1) * S)


def _errors(y: Float64) -> Float64:
    """e_os: neither of an order nor of a seed ``[K, S]``."""
    found: Float64 = y - y.mean(axis=1, keepdims=True) - y.mean(axis=0) + y.mean()
    return found


def _reach(means: Float64) -> float:
    """h: by so much of V its upper bound is above it."""
    K, d = len(means), means - means.mean()
    square = float((d**2).sum())
    if square <= 0:
        return 0.0
    excess = K * float((d**4).sum()) / square**2 - 3
    unbiased = (K - 1) / ((K - 2) * (K - 3)) * ((K + 1) * excess + 6)
    kurtosis = max(LEAST_KURTOSIS, INFLATED * unbiased)
    df = (K - 1) / (1 + kurtosis * (K - 1) / (2 * K))
    return df / float(stats.chi2.ppf(LEVEL, df)) - 1


def _pseudo_values(y: Float64) -> Float64:
    """Of V - N, by leaving out one order at a time ``[K]``; their mean is V - N."""
    K, S = y.shape
    V, N = _variances(y)
    squares = (y.mean(axis=1) - y.mean()) ** 2
    errors = (_errors(y) ** 2).sum(axis=1) / ((S - 1) * S)
    without = ((K - 1) * (V - N) - K / (K - 1) * (squares - errors)) / (K - 2)
    found: Float64 = K * (V - N) - (K - 1) * without
    return found


def _fieller(own: Float64, other: Float64) -> float:
    """Upper bound of the root of the ratio of two means."""
    K = len(own)
    t2 = float(stats.t.isf(RATIO_LEVEL, K - 1)) ** 2 / K
    cov = t2 * np.cov(own, other)
    top, bottom = float(own.mean()), float(other.mean())
    a, b, c = bottom**2 - cov[1, 1], top * bottom - cov[0, 1], top**2 - cov[0, 0]
    if a <= 0 or bottom <= 0:
        return math.inf
    return math.sqrt(max(0.0, (b + math.sqrt(max(0.0, b * b - a * c))) / a))


def _by_logarithm(own: Float64, other: Float64) -> float:
    """As `_fieller`, by the jackknife of the logarithm; 0 where an estimate has none."""
    top, bottom = float(own.mean()), float(other.mean())
    if top <= 0 or bottom <= 0:
        return 0.0
    se = float((own / top - other / bottom).std(ddof=1)) / math.sqrt(len(own))
    reach = float(stats.t.isf(RATIO_LEVEL, len(own) - 1)) * se
    return math.sqrt(top / bottom) * math.exp(min(reach / 2, 300.0))
