"""The performance distribution of one method over class sequences, from a few of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from seqsearch.core.errors import UserError
from seqsearch.distribution.components import components, mean_squares, satterthwaite, sd_interval
from seqsearch.distribution.interval import QUANTILES, UNKNOWN, Float64, Interval, accuracy_table, tail
from seqsearch.distribution.normal import NormalFit, empirical_quantile, normal_fit, normal_quantile

Estimator = Literal["random", "paper"]


@dataclass(frozen=True)
class Estimate:
    """What is known of one method's accuracies, each with its interval at ``level``; NaN where nothing can be said.

    ``mean``, ``sd``: of the fitted normal. It describes the accuracy of a random sequence, averaged over these R seeds.
    ``mean_any_seed``: the same mean with the interval for other seeds, too: seeds that move all sequences alike make it wide.
    ``order_sd``: of sequences, each over infinitely many seeds. ``training_sd``: of a single training of a sequence, apart from
    what its seed does to all sequences alike, which is ``seed_sd``. `components.Components` has the three as order, error and
    seed. Under common seeds the spread is made of the first two, sd^2 = order_sd^2 + training_sd^2 / R.
    ``quantiles``: of the fitted normal; ``empirical``: of the random sequences themselves.
    ``low``, ``high``: the least and the greatest accuracy of all sequences trained, over infinitely many seeds. They are bounds:
    the minimum over all sequences is at most ``low``, the maximum at least ``high``.
    ``L``: random sequences that mean and sd rest on (3 with the paper's estimator: hard, random, easy); ``R``: seeds.
    """

    mean: Interval
    mean_any_seed: Interval
    sd: Interval
    order_sd: Interval
    training_sd: Interval
    quantiles: dict[float, Interval]
    low: Interval
    high: Interval
    L: int
    R: int
    empirical: dict[float, Interval]
    seed_sd: Interval
    estimator: Estimator
    level: float


def estimate(
    random: ArrayLike,
    hard: ArrayLike | None = None,
    easy: ArrayLike | None = None,
    estimator: Estimator = "random",
    level: float = 0.95,
    total: int | None = None,
) -> Estimate:
    """Estimate the distribution from ``random [L, R]`` and, for the bounds, ``hard`` and ``easy [G, R]``, same seeds.

    - ``random``: mean and sd (ddof 1) of the random sequences; extremes are bounds and nothing else.
    - ``paper``: mean and sd (ddof 0) of three accuracies, those of the first hard, the first random and the first easy
      sequence (section 4.2). Chosen sequences are no sample: mean, sd and quantiles have no interval.

    ``total``: the number of all sequences, if the random ones were drawn from it without replacement; it narrows the interval of
    ``mean_any_seed``, and of nothing else. Intervals are named in docs/distribution.md.

    Raises:
        UserError: an unknown estimator.
        ValueError: tables that are no fractions or have different seeds; the paper's estimator without its three sequences;
            more sequences than there are.
    """
    if estimator not in ("random", "paper"):
        raise UserError(f"unknown estimator {estimator!r}: choose random or paper")
    A = accuracy_table(random, "accuracies of random sequences")
    extremes = [_same_seeds(x, A, what) for x, what in ((hard, "hard"), (easy, "easy")) if x is not None]
    L, R = A.shape
    if total is not None and total < L:
        raise ValueError(f"{L} different sequences cannot be drawn from {total}")
    everything = np.concatenate([A, *extremes])
    low, high = _bounds(everything, level)
    if estimator == "paper":
        fit, n = _published(A, extremes), None
        mean = any_seed = Interval(fit.mu)
        sd, parts = Interval(fit.sigma), replace(components(everything, level), order=UNKNOWN)
    else:
        fit, n = normal_fit(A), L
        mean = normal_quantile(fit, 0.5, L, level) if L > 1 else Interval(fit.mu)
        any_seed = mean_interval(A, level, total)
        sd, parts = sd_interval(fit.sigma, L - 1, level), components(A, level)
    quantiles = {p: normal_quantile(fit, p, n, level) for p in QUANTILES}
    empirical = {p: empirical_quantile(A.mean(axis=1), p, level) for p in QUANTILES}
    return Estimate(
        mean, any_seed, sd, parts.order, parts.error, quantiles, low, high, L=L if n else 3, R=R, empirical=empirical,
        seed_sd=parts.seed, estimator=estimator, level=level,
    )  # fmt: skip


def _published(A: Float64, extremes: Sequence[Float64]) -> NormalFit:
    """The normal of three accuracies: the first hard, the first random and the first easy sequence.

    Raises:
        ValueError: one of them is lacking.
    """
    if len(extremes) < 2:
        raise ValueError("the paper's estimator needs a hard, a random and an easy sequence")
    return normal_fit([extremes[0][0].mean(), A[0].mean(), extremes[1][0].mean()], ddof=0)


def mean_interval(accuracies: ArrayLike, level: float = 0.95, total: int | None = None) -> Interval:
    """Mean accuracy over all sequences and all seeds, from ``[L, R]``, with a t-interval.

    Two-way random effects: its variance is estimated by (MS_order + MS_seed - MS_error) / (L R), with Satterthwaite's degrees of
    freedom. Where MS_seed is below MS_error, the seed effect is estimated as 0 and dropped: MS_order / (L R), L - 1 degrees.
    With one seed it is that too, and the interval speaks of that seed. ``total`` multiplies the order's part by 1 - L / total
    (with two seeds or more: with one, order and training noise cannot be told apart).
    """
    A = accuracy_table(accuracies)
    m = mean_squares(A)
    mean = normal_fit(A.mean(axis=1), ddof=0).mu
    if m.L < 2:
        return Interval(mean)
    terms, (order_degrees, seed_degrees, error_degrees) = [(m.order, m.L - 1)], m.degrees
    if m.R > 1:
        unseen = 1 - m.L / total if total else 1.0
        terms = [(unseen * m.order, order_degrees)]
        if m.seed > m.error:
            terms += [(m.seed, seed_degrees), (-unseen * m.error, error_degrees)]
        else:
            terms += [((1 - unseen) * m.error, error_degrees)]
    variance = sum(value for value, _ in terms) / (m.L * m.R)
    return _t_interval(mean, variance, satterthwaite(terms), tail(level))


def _bounds(A: Float64, level: float) -> tuple[Interval, Interval]:
    """The least and the greatest of the sequences' true accuracies, with intervals from the pooled training noise.

    The least of the measured means errs low: it is the unluckiest as well. Some sequence attains the true minimum, and its
    measured mean is hardly above; so the lower bound needs no correction, the upper one Bonferroni's, over all sequences.
    """
    means, m = A.mean(axis=1), mean_squares(A)
    least, greatest = float(means.min()), float(means.max())
    if m.L < 2 or m.R < 2:
        return Interval(least), Interval(greatest)
    terms = [(m.seed / m.L, m.R - 1), (m.error * (m.L - 1) / m.L, (m.L - 1) * (m.R - 1))]
    variance, degrees = sum(value for value, _ in terms) / m.R, satterthwaite(terms)
    one, all_of_them = (_t_interval(0.0, variance, degrees, tail(level) / n).high for n in (1, m.L))
    return Interval(least, least - one, least + all_of_them), Interval(greatest, greatest - all_of_them, greatest + one)


def _t_interval(value: float, variance: float, degrees: float, beyond: float) -> Interval:
    reach = float(stats.t.isf(beyond, degrees)) * math.sqrt(max(0.0, variance))
    return Interval(value, value - reach, value + reach)


def _same_seeds(accuracies: ArrayLike, random: Float64, what: str) -> Float64:
    """``[G, R]``, also of one sequence ``[R]``."""
    found = accuracy_table(np.atleast_2d(np.asarray(accuracies, dtype=np.float64)), f"accuracies of {what} sequences")
    if found.shape[1] != random.shape[1]:
        raise ValueError(f"{what} sequences have {found.shape[1]} seeds, random ones {random.shape[1]}")
    return found
