"""Where given orders stand among random ones: "were my three seeds lucky?"."""

from __future__ import annotations

import math
from dataclasses import dataclass

from numpy.typing import ArrayLike
from scipy import optimize, stats

from seqsearch.distribution.interval import AGREE, UNKNOWN, Interval, accuracy_table, tail
from seqsearch.distribution.normal import NormalFit, normal_fit

_FAR = 40.0
"""Standard deviations beyond which a distance makes no difference."""


@dataclass(frozen=True)
class OrderPercentile:
    """Where one order stands: the share of random sequences that are less accurate, 0 to 1.

    ``accuracy``: its mean over the seeds. ``share``: counted, ties half. ``normal``: under the fitted normal.
    """

    accuracy: float
    share: Interval
    normal: Interval


@dataclass(frozen=True)
class Percentiles:
    """The given orders one by one, and ``together``: their mean among the means of as many random orders (normal model)."""

    orders: tuple[OrderPercentile, ...]
    together: Interval
    level: float


def percentile(own: ArrayLike, random: ArrayLike, level: float = 0.95) -> Percentiles:
    """Percentiles of ``own [G, R]`` among ``random [L, R]``, same R seeds.

    Every row is averaged over the seeds; it is that average that is placed, with the luck its trainings had, among averages
    with theirs. Assumed: the random sequences are independent draws, which the given orders did not influence; the normal model
    for ``normal`` and ``together``. The given accuracies are taken as they are: their own noise is not in the intervals.

    - ``share``: mid-rank, with Clopper-Pearson bounds, the lower for the share strictly below, the upper for the share not above.
    - ``normal``: Phi((a - mean) / sd); its bounds invert the noncentral t distribution of sqrt(L) (a - mean) / sd, exactly.
    - ``together``: Phi(sqrt(G) (a - mean) / sd), a the mean of the G orders; likewise.

    With one random sequence, or where all random ones agree, the normal model has no interval.

    Raises:
        ValueError: tables that are no fractions or have different seeds.
    """
    A, B = accuracy_table(random, "accuracies of random sequences"), accuracy_table(own, "accuracies of given orders")
    if A.shape[1] != B.shape[1]:
        raise ValueError(f"given orders have {B.shape[1]} seeds, random ones {A.shape[1]}")
    means, own_means, fit = A.mean(axis=1), B.mean(axis=1), normal_fit(A)
    orders = [
        OrderPercentile(
            float(a),
            _share(int((means < a - AGREE).sum()), int((means <= a + AGREE).sum()), len(means), level),
            _normal_percentile(float(a), fit, len(means), 1, level),
        )
        for a in own_means
    ]
    together = _normal_percentile(normal_fit(B, ddof=0).mu, fit, len(means), len(own_means), level)
    return Percentiles(tuple(orders), together, level)


def _share(below: int, not_above: int, n: int, level: float) -> Interval:
    beyond = tail(level)
    low = float(stats.beta.ppf(beyond, below, n - below + 1)) if below else 0.0
    high = float(stats.beta.isf(beyond, not_above + 1, n - not_above)) if not_above < n else 1.0
    return Interval((below + not_above) / (2 * n), low, high)


def _normal_percentile(a: float, fit: NormalFit, n: int, orders: int, level: float) -> Interval:
    """Of the mean ``a`` of ``orders`` orders, with a normal fitted to ``n`` sequences."""
    if math.isnan(fit.sigma):
        return UNKNOWN
    if fit.sigma == 0:
        return Interval(0.5 if abs(a - fit.mu) <= AGREE else float(a > fit.mu))
    distance = (a - fit.mu) / fit.sigma
    t = min(max(distance, -_FAR), _FAR) * math.sqrt(n)
    bounds = (_noncentrality(t, n - 1, probability) for probability in (1 - tail(level), tail(level)))
    low, high = (float(stats.norm.cdf(bound * math.sqrt(orders / n))) for bound in bounds)
    return Interval(float(stats.norm.cdf(distance * math.sqrt(orders))), low, high)


def _noncentrality(t: float, degrees: int, probability: float) -> float:
    """Of the noncentral t distribution that has ``probability`` up to ``t``."""

    def excess(shift: float) -> float:
        up_to = float(stats.nct.cdf(t, degrees, shift))
        if math.isnan(up_to):  # so small, or so near 1, that its series ends
            up_to = float(shift < t)
        return up_to - probability

    reach = 2 * (1 + abs(float(stats.norm.ppf(probability)))) * (1 + abs(t))
    return float(optimize.brentq(excess, t - reach, t + reach, xtol=1e-10))
