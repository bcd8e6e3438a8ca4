"""Where the spread of accuracies comes from: order, training seed, and what is left.

The model is two-way crossed with random effects and one training per cell, A[l, r] = mu + order_l + seed_r + error_lr, all
normal. All of it is in "Confidence Intervals on Variance Components" (Burdick and Graybill, 1992).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from numpy.typing import ArrayLike
from scipy import stats

from seqsearch.distribution.interval import UNKNOWN, Interval, finite, tail


@dataclass(frozen=True)
class MeanSquares:
    """Mean squares of a table ``[L, R]``; NaN where there are no degrees of freedom.

    Their expectations are R order^2 + error^2, L seed^2 + error^2 and error^2.
    """

    order: float
    seed: float
    error: float
    L: int
    R: int

    @property
    def degrees(self) -> tuple[int, int, int]:
        """Degrees of freedom of order, seed and error."""
        return self.L - 1, self.R - 1, (self.L - 1) * (self.R - 1)


def mean_squares(accuracies: ArrayLike) -> MeanSquares:
    """Two-way analysis of variance of ``[L, R]`` without replication."""
    A = finite(accuracies, "accuracies", dimensions=(2,))
    L, R = A.shape
    order_L, seed_R = A.mean(axis=1) - A.mean(), A.mean(axis=0) - A.mean()
    error_LR = A - A.mean() - order_L[:, None] - seed_R
    squares = R * (order_L**2).sum(), L * (seed_R**2).sum(), (error_LR**2).sum()
    degrees = L - 1, R - 1, (L - 1) * (R - 1)
    order, seed, error = (float(s / d) if d else math.nan for s, d in zip(squares, degrees, strict=True))
    return MeanSquares(order, seed, error, L, R)


@dataclass(frozen=True)
class Components:
    """Standard deviations, each with its interval; all NaN with one seed or one sequence.

    ``order``: of a sequence's accuracy over infinitely many seeds. ``seed``: what a training seed does to all sequences
    alike; it cancels where sequences are compared under the same seeds. ``error``: what else a training differs by.
    ``training``: of one training of a given sequence, sqrt(seed^2 + error^2).
    """

    order: Interval
    seed: Interval
    error: Interval
    training: Interval


def components(accuracies: ArrayLike, level: float = 0.95) -> Components:
    """Square roots of the analysis-of-variance components of ``[L, R]``, clipped at 0.

    Intervals: ``error`` chi-square, exact. ``order`` and ``seed`` Williams-Tukey ("A Confidence Interval for Variance
    Components", Williams, 1962), at least ``level`` at usual levels (Wang, 1990). ``training`` the modified large-sample
    interval of a sum ("Confidence Intervals on Nonnegative Linear Combinations of Variances", Graybill and Wang, 1980); with two
    seeds it is wide, since one degree of freedom says nothing about what seeds share.
    """
    m = mean_squares(accuracies)
    if m.L < 2 or m.R < 2:
        return Components(UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN)
    _, degrees, error_degrees = m.degrees
    low, high = _chi_square(error_degrees, level)
    shared, own = m.seed / m.L, m.error * (m.L - 1) / m.L
    (low_shared, high_shared), (low_own, high_own) = _chi_square(degrees, level), (low, high)
    return Components(
        order=_williams_tukey(m.order, m.L - 1, m.error, error_degrees, m.R, level),
        seed=_williams_tukey(m.seed, m.R - 1, m.error, error_degrees, m.L, level),
        error=Interval(math.sqrt(m.error), math.sqrt(low * m.error), math.sqrt(high * m.error)),
        training=Interval(
            math.sqrt(shared + own),
            _root(shared + own - math.hypot((1 - low_shared) * shared, (1 - low_own) * own)),
            _root(shared + own + math.hypot((high_shared - 1) * shared, (high_own - 1) * own)),
        ),
    )


def sd_interval(sd: float, degrees: int, level: float) -> Interval:
    """A standard deviation of normal values with its exact chi-square interval."""
    if degrees < 1:
        return UNKNOWN
    low, high = _chi_square(degrees, level)
    return Interval(sd, sd * math.sqrt(low), sd * math.sqrt(high))


def satterthwaite(terms: list[tuple[float, int]]) -> float:
    """Degrees of freedom of a sum of (mean square times coefficient, degrees); at least 1, as of a single mean square.

    "An Approximate Distribution of Estimates of Variance Components" (Satterthwaite, 1946).
    """
    spread = sum(value**2 / degrees for value, degrees in terms)
    return max(1.0, sum(value for value, _ in terms) ** 2 / spread) if spread > 0 else math.inf


def _chi_square(degrees: int, level: float) -> tuple[float, float]:
    """What to multiply an estimated variance by for the bounds of the true one."""
    beyond = tail(level)
    return degrees / float(stats.chi2.isf(beyond, degrees)), degrees / float(stats.chi2.ppf(beyond, degrees))


def _williams_tukey(above: float, d_above: int, error: float, d_error: int, times: int, level: float) -> Interval:
    """sqrt of (``above`` - ``error``) / ``times``, a variance component."""
    beyond = tail(level)
    low_F, high_F = (float(q(beyond, d_above, d_error)) for q in (stats.f.ppf, stats.f.isf))
    low, high = _chi_square(d_above, level)
    return Interval(
        _root((above - error) / times),
        _root((above - high_F * error) * low / times),
        _root((above - low_F * error) * high / times),
    )


def _root(variance: float) -> float:
    return math.sqrt(max(0.0, variance))
