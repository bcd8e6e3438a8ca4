"""How many class sequences there are, and how many random ones tell the mean accuracy.

Theorems are those of "The Lie of the Average: How Class Incremental Learning Evaluation Deceives You?".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Literal

from seqsearch.core.errors import UserError

Theorem = Literal["serfling", "1", "2"]


def number_of_sequences(sizes: Sequence[int]) -> int:
    """|Omega| = N! / (m_1! ... m_K!), exactly: ordered partitions of N classes into tasks of these sizes (Lemma 1).

    >>> number_of_sequences([2, 2, 2])
    90

    Raises:
        UserError: no task, or a task without classes.
    """
    if not len(sizes) or min(sizes) < 1:
        raise UserError(f"every task needs at least one class, not sizes {list(sizes)}")
    found, classes = 1, 0
    for size in sizes:
        classes += size
        found *= math.comb(classes, size)
    return found


def required_sequences(
    total: int, epsilon: float, delta: float, theorem: Theorem = "serfling", R: float = 1.0
) -> int | None:
    """Smallest L so that the mean accuracy of L random sequences is within ``epsilon`` with probability 1 - ``delta``.

    The sequences are drawn without replacement from ``total``, their accuracies lie in a range of width ``R`` (1: known to be
    fractions, no more).

    - ``serfling``: L / (1 - (L - 1) / total) >= R^2 ln(2 / delta) / (2 epsilon^2), "Probability Inequalities for the Sum in
      Sampling without Replacement" (Serfling, 1974, Corollary 1.1), on both sides. Never above ``total``: all sequences
      tell the mean exactly.
    - ``1``, ``2``: Theorems 1 and 2 as printed, which have the finite-population factor on the wrong side; None where no L
      satisfies them. ``R`` is the distance of the two extremes in Theorem 2; Theorem 1 has none. L counts the random sequences
      without the two extremes.

    Any size of ``total`` is exact: nothing but the logarithm is rounded.

    Raises:
        UserError: a tolerance, probability, range or total that makes no sense, or an unknown theorem.
    """
    if total < 1:
        raise UserError(f"there is at least one sequence, not {total}")
    if not (epsilon > 0 and math.isfinite(epsilon)) or not 0 < delta < 1 or not 0 < R <= 1:
        raise UserError(
            f"epsilon must be above 0, delta between 0 and 1, R above 0 and at most 1, not {epsilon}, {delta}, {R}"
        )
    if theorem == "serfling":
        needed = Fraction(R**2 * math.log(2 / delta) / (2 * epsilon**2))
        return min(total, math.ceil(needed * (total + 1) / (total + needed)))
    if theorem == "1":
        return _as_printed(total, 1.0, epsilon, delta)
    if theorem == "2":
        return _as_printed(total - 2, R, epsilon, delta)
    raise UserError(f"unknown theorem {theorem!r}: choose serfling, 1 or 2")


def _as_printed(drawn_from: int, R: float, epsilon: float, delta: float) -> int | None:
    """Smallest L with L (n - L) / (n - 1) >= R^2 ln(2 n / delta) / (2 epsilon^2), n = ``drawn_from``."""
    if drawn_from < 2:
        return None
    # The logarithm of a huge integer, of a ratio of a huge integer and a float it could not take.
    right = Fraction(R**2 * (math.log(2 * drawn_from) - math.log(delta)) / (2 * epsilon**2)) * (drawn_from - 1)
    low, high = 1, drawn_from // 2  # the left side rises up to the half
    if high * (drawn_from - high) < right:
        return None
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if middle * (drawn_from - middle) >= right else (middle + 1, high)
    return low
