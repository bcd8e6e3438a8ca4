"""Where does a value lie among random draws, and how much lies beyond them? Shares, quantiles and tails of any distribution.

All statements assume independent draws, and nothing of their distribution; ties are on the safe side.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import optimize, special, stats

from seqsearch.stats.interval import AGREE, UNKNOWN, Float64, Interval, accuracies, finite, tail


@dataclass(frozen=True)
class Tails:
    """The worst and the best of ``L`` random orders, one training each, and what lies beyond.

    ``next_beyond``: the largest probability that one more random order, trained with a seed of its own, scores below
    ``lowest``; 1 / (L + 1), since it is as likely as any of the others to be the worst. ``share_beyond``: with 95 % confidence
    at most this share of orders (and seeds) scores below ``lowest``. Both hold for scores above ``highest`` as well, each
    statement by itself. They hold for any distribution, with ties on the safe side, and for the test images that were used.
    """

    lowest: float
    highest: float
    L: int
    next_beyond: float
    share_beyond: float


def tails(random_accuracies: ArrayLike, level: float = 0.95) -> Tails:
    """Tail statements from ``random_accuracies [L]`` of independently drawn orders.

    If a share of p or more of all orders lies below the worst of the L draws, then all L draws fell outside the worst share p of
    the orders. This has probability (1 - p)^L: "Determination of Sample Sizes for Setting Tolerance Limits" (Wilks, 1941),
    one-sided.
    """
    x = accuracies(random_accuracies, "accuracies of random orders")
    return Tails(float(x.min()), float(x.max()), len(x), 1 / (len(x) + 1), share_beyond(len(x), level))


def share_beyond(L: int, level: float = 0.95) -> float:
    """With confidence ``level`` at most this share lies below the worst of ``L`` independent draws: 1 - (1 - level)^(1 / L)."""
    both_sides = 2 * tail(level)  # 1 - level
    return -math.expm1(math.log(both_sides) / L)


def needed_for(p: float, level: float = 0.95) -> int:
    """The fewest random orders after which at most share ``p`` lies below the worst, with confidence ``level``.

    >>> needed_for(0.05)
    59

    Raises:
        ValueError: ``p`` is no share between 0 and 1.
    """
    if not 0 < p < 1:
        raise ValueError(f"a share of orders lies between 0 and 1, not at {p}")
    both_sides = 2 * tail(level)  # 1 - level
    return math.ceil(math.log(both_sides) / math.log1p(-p) - 1e-9)


def share(count: int, n: int, level: float = 0.95) -> Interval:
    """A share of ``n`` independent draws, with the bounds of Clopper and Pearson (1934): at least ``level``."""
    each_side = tail(level)
    low = float(special.betaincinv(count, n - count + 1, each_side)) if count else 0.0
    high = float(special.betainccinv(count + 1, n - count, each_side)) if count < n else 1.0
    return Interval(count / n, low, high)


def quantile(values: Float64, q: float, level: float = 0.95) -> Interval:
    """The ``q`` quantile of ``values [L]``, with order statistics as bounds: for any distribution they hold in at least ``level``
    ("Order Statistics", David and Nagaraja, 2003, section 7.1). NaN where L is too small for one of them.
    """
    value = float(np.quantile(values, q))
    bounds = np.asarray(stats.quantile_test(values, p=q).confidence_interval(level))
    return Interval(value, *bounds.tolist()) if np.isfinite(bounds).all() else Interval(value)


SMALLEST = 1e-12
"""Shares nearer to 0 or 1 count as 0 or 1."""


def running_share(count: int, n: int, level: float = 0.95) -> Interval:
    """``count`` of ``n`` independent draws, with bounds that hold for ALL n together with probability ``level``.

    The lower bound is the share p that the draws speak against by 2 / (1 - ``level``): M_n(p), the mean over all shares above p
    of the likelihood ratio to p, is a supermartingale wherever the true share is at most p. It ever exceeds 2 / (1 - ``level``)
    with probability at most (1 - ``level``) / 2 (Ville's inequality; "Statistical Methods Related to the Law of the Iterated
    Logarithm", Robbins, 1970). The upper bound is 1 minus the lower bound of the complement, ``n - count`` of ``n``. Exact for
    any share; wider than Clopper and Pearson's, which hold for one n that was fixed beforehand.

    Raises:
        ValueError: not 0 to n of n draws, of which there is one at least.
    """
    if not 0 <= count <= n or n < 1:
        raise ValueError(f"{count} of {n} draws")
    each_side = tail(level)
    return Interval(count / n, _lower(count, n, each_side), 1 - _lower(n - count, n, each_side))


def _lower(count: int, n: int, each_side: float) -> float:
    """The lower bound of `running_share` that fails with probability at most ``each_side``."""
    wanted = -math.log(each_side)
    if count == 0 or _log_evidence(SMALLEST, count, n) < wanted:
        return 0.0
    most = min(count / n, 1 - SMALLEST)
    return float(optimize.brentq(lambda p: _log_evidence(p, count, n) - wanted, SMALLEST, most, xtol=1e-9))


def _log_evidence(p: float, count: int, n: int) -> float:
    """Log of M_n(p): of shares above ``p``, uniform, against ``p``."""
    a, b = count + 1, n - count + 1
    above = float(special.betainc(b, a, 1 - p))  # the part of the Beta distribution above p
    if above <= 0:
        return -math.inf
    mean = math.log(above) + float(special.betaln(a, b)) - math.log1p(-p)
    return mean - count * math.log(p) - (n - count) * math.log1p(-p)


@dataclass(frozen=True)
class OrderPercentile:
    """Where one order stands: ``share`` is the share of random orders that are less accurate, from 0 to 1; ties count half."""

    accuracy: float
    share: Interval


@dataclass(frozen=True)
class Percentiles:
    """The given orders one by one, and ``together``: the place of their mean among means of as many random orders.

    ``groups``: number of means of random orders, L // G. ``together`` is unknown if there are fewer than two.
    """

    orders: tuple[OrderPercentile, ...]
    together: Interval
    groups: int


def percentile(own: ArrayLike, random_accuracies: ArrayLike, level: float = 0.95) -> Percentiles:
    """Places of the accuracies ``own [G]`` of given orders among the ``random_accuracies [L]`` of random orders, one training
    each.

    Each accuracy contains the noise of its own training. Assumed: the random orders are independent draws, which the given
    orders did not influence. The given accuracies are taken as they are.
    The bounds are Clopper and Pearson's, the lower for the share strictly below, the upper for the share not above: at least
    ``level`` for any distribution. ``together`` counts the means of the first, second, ... G random orders in the order drawn.

    Raises:
        ValueError: accuracies that are no fractions.
    """
    x, given = (
        accuracies(random_accuracies, "accuracies of random orders"),
        accuracies(own, "accuracies of given orders"),
    )
    orders = tuple(OrderPercentile(float(a), _share_below(float(a), x, level)) for a in given)
    G = len(given)
    groups = len(x) // G
    together = (
        _share_below(float(given.mean()), x[: groups * G].reshape(groups, G).mean(axis=1), level)
        if groups > 1
        else UNKNOWN
    )
    return Percentiles(orders, together, groups)


def _share_below(a: float, among: Float64, level: float) -> Interval:
    n, below, not_above = len(among), int((among < a - AGREE).sum()), int((among <= a + AGREE).sum())
    return Interval((below + not_above) / (2 * n), share(below, n, level).low, share(not_above, n, level).high)


@dataclass(frozen=True)
class Place:
    """Where a value lies among draws from its null distribution.

    Attributes:
        share: share of the draws below the value; ties count half.
        p: two-sided p-value: twice the smaller of (1 + draws as high) and (1 + draws as low), divided by draws + 1, at most 1.
            Exact for any number of independent draws, if under the null hypothesis the value is one more of them.
    """

    value: float
    mean: float
    share: float
    p: float
    draws: int


def place(value: float, draws: ArrayLike) -> Place:
    """The place of ``value`` among ``draws [B]``. Values that differ by rounding are ties, which count against any claim.

    Raises:
        ValueError: there are no draws, or one is not finite.
    """
    x = finite(draws, "draws")
    low, high = int((x <= value + AGREE).sum()), int((x >= value - AGREE).sum())
    return Place(
        value,
        float(x.mean()),
        float(np.mean(x < value - AGREE) + np.mean(np.abs(x - value) <= AGREE) / 2),
        min(1.0, 2 * (1 + min(low, high)) / (len(x) + 1)),
        len(x),
    )
