"""A figure with its interval, and the accuracies that figures are made of."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Float64 = NDArray[np.float64]

AGREE = 1e-9
"""Accuracies that differ by less are the same: they are shares of some thousand images."""


@dataclass(frozen=True)
class Interval:
    """A value with the bounds of its confidence interval; NaN where nothing can be said."""

    value: float
    low: float = math.nan
    high: float = math.nan

    @property
    def sign(self) -> int:
        """Which way a difference of accuracies may be said to go: 1 up, -1 down, else 0.

        A direction takes an interval that 0 is outside of by more than rounding, and a value that does not show as 0.0 points.
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
