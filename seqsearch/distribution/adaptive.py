"""How many random orders a target such as ``mean:0.01`` or ``q05`` asks for."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from seqsearch.core.errors import UserError

if TYPE_CHECKING:  # a target is read before scipy is needed
    from numpy.typing import ArrayLike

FIRST_LOOK = 30
"""Random orders before the width of the mean's interval is first looked at: few that happen to be alike would stop too soon."""
TAILS = {"q05": 0.05, "q10": 0.10, "q25": 0.25}
"""Targets that ask for a bound on the share of orders below the worst of the random ones."""


@dataclass(frozen=True)
class Target:
    """What ``--until`` asks for: ``mean`` within +- ``half_width`` (in fractions), or a tail (half_width None)."""

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
    """Random orders in all that ``target`` asks for, as far as ``random [n]`` so far tell; there are enough from n on.

    Tails: a fixed number (`tails.needed_for`), 59 for ``q05``. The mean: `FIRST_LOOK`, then as many as would make the present
    interval narrow enough, shrinking as 1 / sqrt(n) does; at most n as soon as it is. Deterministic.
    """
    import numpy as np

    from seqsearch.distribution.mean import mean_interval
    from seqsearch.distribution.tails import needed_for

    if target.half_width is None:
        return needed_for(TAILS[target.what])
    n = len(np.asarray(random, dtype=np.float64))
    if n < FIRST_LOOK:
        return FIRST_LOOK
    ratio = mean_interval(random).half_width / target.half_width
    return max(n + 1, math.ceil(n * ratio**2)) if ratio > 1 else n  # no ratio: all agree
