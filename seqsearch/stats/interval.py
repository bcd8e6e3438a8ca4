"""A value with its confidence interval, and the two ways in which an interval is made.

- `Pivot`, from a mean of values that may be skewed: Student's t and Hall's transformation of it together. Student's t of a
  skewed sample misses on the side of the long tail. Hall's transformation removes the skewness from t, but covers less for few
  symmetric values. Together they hold where either does; docs/mean.md has the coverage.
- `banerjee`, from a variance that is a sum of parts, each with its own degrees of freedom. The half-width is the root of the
  sum of each part times the square of its own Student's quantile ("Approximate Confidence Interval for Linear Functions of
  Means of k Populations when the Population Variances are not Equal", Banerjee, 1960). It holds in at least 95 % of cases for
  independent normal parts of any ratio.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

Float64 = NDArray[np.float64]

LACKING = {"json": "lacking"}
"""Metadata of a field ``unavailable_because``: its key in JSON, which scripts of users read."""
AGREE = 1e-9
"""Accuracies that differ by less are the same: they are shares of some thousand images."""


@dataclass(frozen=True)
class Interval:
    """A value with the bounds of its confidence interval; NaN where they are unknown."""

    value: float
    low: float = math.nan
    high: float = math.nan

    @property
    def sign(self) -> int:
        """The direction of a difference of accuracies: 1 up, -1 down, 0 undecided.

        A direction takes an interval that excludes 0 by more than rounding, and a value that does not show as 0.0 points.
        """
        if not shows(self.value):
            return 0
        return 1 if self.low > AGREE else -1 if self.high < -AGREE else 0  # NaN says nothing

    @property
    def half_width(self) -> float:
        """Half the distance of the bounds; NaN without bounds."""
        return (self.high - self.low) / 2


UNKNOWN = Interval(math.nan)


def shows(difference: float) -> bool:
    """Whether a difference of accuracies is more than 0.0 in points with the one digit that tables have, so beyond rounding."""
    return math.isfinite(difference) and round(100 * abs(difference), 1) > 0


def accuracies(values: ArrayLike, what: str = "accuracies", dimensions: tuple[int, ...] = (1,)) -> Float64:
    """Float64, checked to be fractions.

    Raises:
        ValueError: another shape, nothing at all, missing values, or percent instead of fractions.
    """
    found = finite(values, what, dimensions)
    if found.min() < 0 or found.max() > 1:
        raise ValueError(f"{what} are fractions between 0 and 1, not {found.min():g} to {found.max():g}")
    return found


def finite(values: ArrayLike, what: str, dimensions: tuple[int, ...] = (1,)) -> Float64:
    """Float64, checked for shape and missing values (ValueError)."""
    found = np.asarray(values, dtype=np.float64)
    if found.ndim not in dimensions or not found.size or not np.isfinite(found).all():
        raise ValueError(f"{what} must be finite numbers of {dimensions[-1]} dimensions, not of shape {found.shape}")
    return found


def tail(level: float) -> float:
    """The probability beyond each bound of a two-sided interval at ``level``."""
    if not 0 < level < 1:
        raise ValueError(f"a confidence level lies between 0 and 1, not at {level}")
    return (1 - level) / 2


Part = tuple[float, float]
"""A part of the variance, and the degrees of freedom behind it."""


def banerjee(value: float, parts: Iterable[Part], level: float) -> Interval:
    """The interval of ``value`` by its ``parts``; NaN bounds without parts, or where something is not finite."""
    known = list(parts)
    total = sum(variance for variance, _ in known)
    if not known or not math.isfinite(value + total):
        return Interval(value)
    reach = math.sqrt(sum(variance * t_quantile(level, degrees) ** 2 for variance, degrees in known))
    return Interval(value, value - reach, value + reach)


@lru_cache(maxsize=1024)
def t_quantile(level: float, degrees: float) -> float:
    """Student's, two-sided."""
    from scipy import stats

    return float(stats.t.isf(tail(level), degrees))


def all_equal(values: Float64) -> bool:
    """Whether the values differ by rounding at most."""
    return bool(np.ptp(values) <= AGREE)


@dataclass(frozen=True)
class Pivot:
    """An estimate and its standard error, with the skewness of the ``n`` values it is made of and its degrees of freedom.

    ``student``: degrees of freedom of Student's t alone; None: ``degrees``.
    """

    value: float
    error: float
    skewness: float
    n: int
    degrees: float
    student: float | None = None

    @staticmethod
    def of_mean(values: Float64) -> Pivot:
        """Of the mean of ``[n]`` independent values that are not all equal; n is 3 or more."""
        n = len(values)
        return Pivot(float(values.mean()), float(values.std(ddof=1)) / math.sqrt(n), skewness(values), n, n - 1)

    def bounds(self, level: float) -> tuple[float, float]:
        """The interval at ``level``: the lower of both lower bounds, the higher of both upper ones."""
        student, t = (t_quantile(level, degrees) for degrees in (self.student or self.degrees, self.degrees))
        low, high = max(student, self._undone(t)), min(-student, self._undone(-t))
        return self.value - low * self.error, self.value - high * self.error

    def p(self, true: float) -> float:
        """Two-sided p-value of ``true``: below 1 - level if and only if it is outside `bounds` at that level."""
        from scipy.special import stdtr

        t = (self.value - true) / self.error
        both = (t, self.student or self.degrees), (self._transformed(t), self.degrees)
        above, below = (max(float(stdtr(degrees, sign * x)) for x, degrees in both) for sign in (-1, 1))
        return min(1.0, 2 * min(above, below))

    @property
    def _g(self) -> float:
        return self.skewness / math.sqrt(self.n)

    def _transformed(self, t: float) -> float:
        """t + g t^2 / 3 + g^2 t^3 / 27 + g / 6, g the skewness over sqrt(n).

        "On the Removal of Skewness by Transformation" (Hall, 1992); monotone in t.
        """
        g = self._g
        return t + g * t**2 / 3 + g**2 * t**3 / 27 + g / 6

    def _undone(self, t: float) -> float:
        g = self._g
        return 3 / g * (float(np.cbrt(1 + g * (t - g / 6))) - 1) if abs(g) > 1e-6 else t


def skewness(values: Float64) -> float:
    """Of ``[n]`` values, adjusted for n: sqrt(n (n - 1)) / (n - 2) times that of the sample; NaN where all are equal."""
    from scipy.stats import skew

    return float(skew(values, bias=False))


def degrees_of(n: int) -> float:
    """Degrees of freedom of Student's t for ``n`` draws that may be skewed: those of a normal sample are n - 1.

    Chosen so that the interval of exponential draws holds in 94 to 97 %; `benchmarks.coverage.mean` measures it on others.
    """
    return min((n - 1) / 2, 1 + (n - 1) / 4)
