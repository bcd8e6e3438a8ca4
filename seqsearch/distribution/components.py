"""Noise of class orders and noise of training seeds, told apart: one-way analysis of variance, both random.

Each of K orders is trained with S seeds of its own: y_ks = mu + o_k + e_ks. Seeds of their own, since what a seed shared by all
orders does to all alike would be in the spread within orders and not in that between them, and order noise come out too low.

Intervals assume that orders and seeds vary normally: a variance cannot be bounded otherwise from so few. Of skewed runs they hold
more rarely (`benchmarks.coverage_runs`). Whether orders differ at all is asked by permuting runs, which assumes nothing of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from seqsearch.core.digests import seeded_numpy
from seqsearch.distribution.interval import AGREE, Float64, Interval, finite, tail

DRAWS = 9_999
"""Permutations of runs."""


@dataclass(frozen=True)
class Components:
    """Standard deviations, in the units of what was measured, of ``orders`` orders with ``seeds`` seeds each.

    Attributes:
        order: of orders, each over infinitely many seeds; 0 where means of orders differ by no more than seeds explain.
        seed: of one training of a given order.
        p: that orders differ by no more than seeds explain, over permutations of the runs; NaN where nothing varies,
            or seeds change nothing.
        lacking: what there is too little of; then nothing else is said.
    """

    order: Interval
    seed: Interval
    p: float
    orders: int
    seeds: int
    lacking: str = ""


def components(values: ArrayLike, level: float = 0.95, draws: int = DRAWS) -> Components:
    """Of ``values [K, S]``, order by seed; ``draws`` permutations of the runs.

    ``seed``: the root of the mean square within orders; its interval is that of chi squared, exact for normal runs. ``order``:
    the root of (MS_between - MS_within) / S, at least 0; its interval is that of Tukey and Williams ("A confidence interval for
    variance components", Williams, 1962), cut at 0; none where seeds change nothing.

    Raises:
        ValueError: another shape, or what is not finite.
    """
    y = finite(values, "figures by order and seed", (2,))
    K, S = y.shape
    unknown = Interval(math.nan)
    if K < 2 or S < 2:
        return Components(unknown, unknown, math.nan, K, S, "2 or more orders with 2 or more seeds each are needed")
    if np.ptp(y) <= AGREE:
        return Components(unknown, unknown, math.nan, K, S, "all runs agree: how they vary is not known")
    between, within = _squares(y)
    seed = _within(within, K * (S - 1), level) if within > AGREE**2 else Interval(0.0)
    order = _between(between, within, K, S, level) if within > AGREE**2 else Interval(math.sqrt(between / S))
    return Components(order, seed, _p(y, draws) if seed.value > 0 else math.nan, K, S)


def _squares(y: Float64) -> tuple[float, float]:
    """Mean squares between and within orders."""
    return y.shape[1] * float(y.mean(axis=1).var(ddof=1)), float(y.var(axis=1, ddof=1).mean())


def _within(mean_square: float, degrees: int, level: float) -> Interval:
    beyond, total = tail(level), mean_square * degrees
    low, high = (total / float(q(beyond, degrees)) for q in (stats.chi2.isf, stats.chi2.ppf))
    return Interval(*(math.sqrt(v) for v in (mean_square, low, high)))


def _between(between: float, within: float, K: int, S: int, level: float) -> Interval:
    """Bounds of (MS_between (K - 1)) (1 - F_q / F) / (S chi2_q), at both tails q; F = MS_between / MS_within."""
    beyond, degrees = tail(level), (K - 1, K * (S - 1))
    value = max(0.0, between - within) / S
    bounds = [
        between * (K - 1) * max(0.0, 1 - float(f(beyond, *degrees)) * within / between) / (S * float(chi(beyond, K - 1)))
        if between > 0 else 0.0
        for f, chi in ((stats.f.isf, stats.chi2.isf), (stats.f.ppf, stats.chi2.ppf))
    ]  # fmt: skip
    return Interval(*(math.sqrt(v) for v in (value, *bounds)))


def _p(y: Float64, draws: int) -> float:
    """One-sided: (1 + permutations with means of orders as far apart) / (permutations + 1)."""
    K, S = y.shape
    rng = seeded_numpy("components", K, S)
    flat = (y - y.mean()).ravel()
    drawn = rng.permuted(np.tile(flat, (draws, 1)), axis=1).reshape(draws, K, S)
    spread = (drawn.mean(axis=2) ** 2).sum(axis=1)
    own = float((flat.reshape(K, S).mean(axis=1) ** 2).sum())
    return (1 + int((spread >= own - AGREE * own).sum())) / (draws + 1)
