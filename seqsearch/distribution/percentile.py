"""Where given orders stand among random ones: "were my three seeds lucky?"."""

from __future__ import annotations

from dataclasses import dataclass

from numpy.typing import ArrayLike

from seqsearch.distribution.interval import AGREE, UNKNOWN, Float64, Interval, accuracies
from seqsearch.distribution.paired import share


@dataclass(frozen=True)
class OrderPercentile:
    """Where one order stands: ``share``, that of random orders that are less accurate, 0 to 1, counted, ties half."""

    accuracy: float
    share: Interval


@dataclass(frozen=True)
class Percentiles:
    """The given orders one by one, and ``together``: the place of their mean among means of as many random orders.

    ``groups``: such means there are. ``together`` is unknown below two.
    """

    orders: tuple[OrderPercentile, ...]
    together: Interval
    groups: int


def percentile(own: ArrayLike, random: ArrayLike, level: float = 0.95) -> Percentiles:
    """Places of ``own [G]`` among ``random [L]``, one training each.

    An accuracy is placed with the luck that its training had, among random ones with theirs. Assumed: the random orders are
    independent draws, which the given orders did not influence. The given accuracies are taken as they are.
    The bounds are Clopper and Pearson's, the lower for the share strictly below, the upper for the share not above: at least
    ``level`` for any distribution. ``together`` counts the means of the first, second, ... G random orders in the order drawn.

    Raises:
        ValueError: accuracies that are no fractions.
    """
    x, given = accuracies(random, "accuracies of random orders"), accuracies(own, "accuracies of given orders")
    orders = tuple(OrderPercentile(float(a), _share(float(a), x, level)) for a in given)
    G = len(given)
    groups = len(x) // G
    together = (
        _share(float(given.mean()), x[: groups * G].reshape(groups, G).mean(axis=1), level) if groups > 1 else UNKNOWN
    )
    return Percentiles(orders, together, groups)


def _share(a: float, among: Float64, level: float) -> Interval:
    n, below, not_above = len(among), int((among < a - AGREE).sum()), int((among <= a + AGREE).sum())
    return Interval((below + not_above) / (2 * n), share(below, n, level).low, share(not_above, n, level).high)
