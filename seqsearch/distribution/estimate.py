"""The performance distribution of one method over class sequences and training seeds, from a few of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from seqsearch.core.errors import UserError
from seqsearch.distribution.interval import UNKNOWN, Float64, Interval, accuracies
from seqsearch.distribution.mean import adjusted_mean, mean_interval
from seqsearch.distribution.normal import normal_fit
from seqsearch.distribution.tails import Tails, tails

Estimator = Literal["random", "paper"]


@dataclass(frozen=True)
class Estimate:
    """What is known of one method's accuracies; NaN (None for ``tails``) where nothing can be said.

    ``mean``: over all orders and all training seeds, with its 95 % interval; conditional on the test images, the classes and
    their split into training and test. ``mean_adjusted``: the same mean with the objective S as control variate.
    ``sd``: of one training of a random order, over orders and seeds. ``order_sd``: of orders, each over infinitely many seeds,
    from the ``C`` random orders that were trained with ``R`` crossed seeds. ``training_sd``: of one training of a given order,
    what its seed does to all orders alike included, from these and ``extremes`` hard and easy orders, ``R`` trainings each. The
    two squares need not sum up to sd^2: each is estimated by itself.
    ``lowest``, ``highest``: accuracy of a single training among all that were given; training noise included, so that the least
    is likely below its order's mean. ``tails``: statements on random orders that were not drawn.
    ``L``: random orders that mean and sd rest on (3 with the paper's estimator: hard, random, easy).
    """

    mean: Interval
    mean_adjusted: Interval
    sd: float
    order_sd: float
    training_sd: float
    lowest: float
    highest: float
    tails: Tails | None
    L: int
    C: int
    extremes: int
    R: int
    estimator: Estimator


def estimate(
    random: ArrayLike,
    crossed: ArrayLike | None = None,
    S: ArrayLike | None = None,
    S_mean: float | None = None,
    hard: ArrayLike | None = None,
    easy: ArrayLike | None = None,
    estimator: Estimator = "random",
) -> Estimate:
    """Estimate the distribution from ``random [L]``, one training of each order, each with a seed of its own.

    ``crossed [C, R]``: few random orders (or all there are), each with the same R seeds, which serve no order of ``random``.
    ``S [L]`` and ``S_mean``: the objective of the random orders and its exact mean over all orders. ``hard``, ``easy [G, R]``:
    accuracies of extremes, with the seeds of ``crossed``; no random orders, so that they tell of training noise alone.

    - ``random``: mean and sd (ddof 1) of the random orders.
    - ``paper``: mean and sd (ddof 0) of three accuracies, those of the first hard, the first random and the first easy
      order, one training each (section 4.2 of "The Lie of the Average: How Class Incremental Learning Evaluation Deceives You?").
      Chosen orders are no sample: there is no interval and no statement on tails.

    Raises:
        UserError: an unknown estimator.
        ValueError: accuracies that are no fractions; tables with different numbers of seeds; the paper's estimator without its
            three orders.
    """
    if estimator not in ("random", "paper"):
        raise UserError(f"unknown estimator {estimator!r}: choose random or paper")
    x = accuracies(random, "accuracies of random orders")
    tables = [_table(t, what) for t, what in ((crossed, "crossed"), (hard, "hard"), (easy, "easy"))]
    shared = [t for t in tables if t is not None]
    seen = np.concatenate([x, *(t.ravel() for t in shared)])
    parts = (
        order_sd(tables[0]),
        training_sd(np.concatenate(shared)) if shared else math.nan,
        float(seen.min()),
        float(seen.max()),
    )
    shape = _rows(*tables[:1]), _rows(*tables[1:]), shared[0].shape[1] if shared else 0
    if estimator == "paper":
        if tables[1] is None or tables[2] is None:
            raise ValueError("the paper's estimator needs a hard, a random and an easy order")
        fit = normal_fit([tables[1][0, 0], x[0], tables[2][0, 0]], ddof=0)
        return Estimate(Interval(fit.mu), UNKNOWN, fit.sigma, *parts, None, 3, *shape, estimator)
    adjusted = UNKNOWN if S is None or S_mean is None else adjusted_mean(x, S, S_mean)
    sd = normal_fit(x).sigma
    return Estimate(mean_interval(x), adjusted, sd, *parts, tails(x), len(x), *shape, estimator)


def training_sd(table: Float64) -> float:
    """Sd of one training of a given order ``[G, R]``; NaN with one seed.

    The variance within an order over seeds, averaged over orders: MS_seed / C + MS_error (C - 1) / C in the two-way analysis of
    variance, which estimates seed^2 + error^2 without bias.
    """
    return math.sqrt(float(table.var(axis=1, ddof=1).mean())) if table.shape[1] > 1 else math.nan


def order_sd(crossed: Float64 | None) -> float:
    """Sd of orders ``[C, R]``, each over infinitely many seeds; NaN with one order or one seed.

    (MS_order - MS_error) / R in the two-way analysis of variance without replication, both random, which estimates order^2
    without bias; at least 0. What a seed does to all orders alike is in neither mean square.
    """
    if crossed is None or min(crossed.shape) < 2:
        return math.nan
    C, R = crossed.shape
    by_order, by_seed = crossed.mean(axis=1, keepdims=True), crossed.mean(axis=0, keepdims=True)
    rest = crossed - by_order - by_seed + crossed.mean()
    between, error = R * float(by_order.var(ddof=1)), float((rest**2).sum()) / ((C - 1) * (R - 1))
    return math.sqrt(max(0.0, between - error) / R)


def _rows(*tables: Float64 | None) -> int:
    return sum(len(t) for t in tables if t is not None)


def _table(table: ArrayLike | None, what: str) -> Float64 | None:
    """``[G, R]``; ``[R]`` is one order. None where there is none."""
    if table is None:
        return None
    return np.atleast_2d(accuracies(table, f"accuracies of {what} orders", dimensions=(1, 2)))
