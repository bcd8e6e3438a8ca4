"""When there are sequences enough: a target such as ``mean:0.01`` or ``q05:0.02``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from seqsearch.core.errors import UserError
from seqsearch.distribution.interval import QUANTILES, Interval

if TYPE_CHECKING:  # a target is read before scipy is needed
    from seqsearch.distribution.estimate import Estimate

TARGETS = ("mean", "sd", *(f"q{round(100 * p):02d}" for p in QUANTILES))


def parse_target(text: str) -> tuple[str, float]:
    """What is to be known and the half-width of its interval, in fractions, of ``mean:0.01``, ``sd:0.005``, ``q05:0.02``.

    Raises:
        UserError: not of that form.
    """
    found = re.fullmatch(r"\s*(\w+)\s*:\s*(\d*\.?\d+)\s*", text)
    if not found or found[1] not in TARGETS or not 0 < float(found[2]) < 1:
        raise UserError(
            f"--until {text[:80]}: write WHAT:HALF-WIDTH, e.g. mean:0.01 for +- 1 % of accuracy; WHAT is {', '.join(TARGETS)}"
        )
    return found[1], float(found[2])


def interval_of(estimate: Estimate, target: str) -> Interval:
    """The interval that ``target`` (mean, sd, q05, ...) names."""
    if target == "mean":
        return estimate.mean
    if target == "sd":
        return estimate.sd
    if target in TARGETS:
        return estimate.quantiles[int(target[1:]) / 100]
    raise UserError(f"unknown target {target!r}: choose {', '.join(TARGETS)}")


def narrow_enough(estimate: Estimate, target: str, width: float) -> bool:
    """Is the interval of ``target`` at most +- ``width``? Never while it has no bounds.

    Looking after every sequence and stopping when it is narrow covers less than an interval of a fixed L; docs/distribution.md
    has by how much. Begin with ten sequences or more.
    """
    return interval_of(estimate, target).half_width <= width
