"""How many class sequences are there, and how many random ones are needed: by a theorem, or for a target such as ``mean:0.01``?

Theorems are those of "The Lie of the Average: How Class Incremental Learning Evaluation Deceives You?".
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

from seqsearch.core.errors import UserError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


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
      give the mean exactly.
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


FIRST_LOOK = 30
"""Random orders before the width of the mean's interval is first looked at: few that happen to be alike would stop too soon."""
TAILS = {"q05": 0.05, "q10": 0.10, "q25": 0.25}
"""Targets that ask for a bound on the share of orders below the worst of the random ones."""


@dataclass(frozen=True)
class Target:
    """The target of ``--until``: ``mean`` within +- ``half_width`` (in fractions), or a tail (half_width None)."""

    what: str
    half_width: float | None


def parse_target(text: str) -> Target:
    """The target of ``mean:0.01``, ``q05``, ``q10`` or ``q25``.

    Raises:
        UserError: not of that form.
    """
    stripped = text.strip()
    if stripped in TAILS:
        return Target(stripped, None)
    found = re.fullmatch(r"mean\s*:\s*(\d*\.?\d+)", stripped)
    if not found or not 0 < float(found[1]) < 1:
        raise UserError(
            f"--until {text[:80]}: write mean:HALF-WIDTH, e.g. mean:0.01 for +- 1 % of accuracy, or {', '.join(TAILS)}"
        )
    return Target("mean", float(found[1]))


def planned(asked: int, most: int, target: Target) -> int:
    """Random orders that are trained whatever they show, ``most`` at most: what is not of the mean is read from these alone.

    An order with which the looking ends is no random one: tails of all orders miss too often (`benchmarks.coverage.mean`).
    """
    return min(most, max(asked, wanted((), target)))


def wanted(random: ArrayLike, target: Target) -> int:
    """Random orders in all that ``target`` asks for, as far as ``random [n]`` so far show; there are enough from n on.

    Tails: a fixed number (`tails.needed_for`), 59 for ``q05``. The mean: `FIRST_LOOK`, then as many as would make the present
    interval narrow enough, shrinking as 1 / sqrt(n) does; at most n as soon as it is. Deterministic.
    """
    import numpy as np

    from seqsearch.stats.mean import mean_interval
    from seqsearch.stats.quantiles import needed_for

    if target.half_width is None:
        return needed_for(TAILS[target.what])
    n = len(np.asarray(random, dtype=np.float64))
    if n < FIRST_LOOK:
        return FIRST_LOOK
    ratio = mean_interval(random).half_width / target.half_width
    return max(n + 1, math.ceil(n * ratio**2)) if ratio > 1 else n  # no ratio: all agree
