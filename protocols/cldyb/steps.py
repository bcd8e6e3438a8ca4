"""How well the steps of searches told their candidates apart."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from seqsearch.results.rows import Row

EQUAL = 1e-9
"""J that differ by less differ by rounding."""
ERRORS = 2.0
"""J are as good as alike where the largest and the smallest differ by no more standard errors of their difference."""

Why = Literal["equal", "noise"]


@dataclass(frozen=True)
class Steps:
    """How well the steps of all searches told their candidates apart; those at which one candidate was evaluated do not count.

    ``equal``: all J are the same. ``noise``: the largest and the smallest are within `ERRORS` standard errors of their
    difference, taken for independent. ``told``: they are not. ``unknown``: the noise of some J is not known. ``alone``: steps at
    which one candidate was evaluated, in none of these.
    """

    equal: int = 0
    noise: int = 0
    told: int = 0
    unknown: int = 0
    alone: int = 0

    @property
    def number(self) -> int:
        """Those at which two candidates or more were evaluated."""
        return self.equal + self.noise + self.told + self.unknown


def steps_of(trace: Sequence[Row]) -> Steps:
    """From the rows of trace.parquet, whose column ``noise`` is the standard error of each J.

    It is no test: candidates share images and draws of look-ahead, and noise of training is in none of the standard errors.
    """
    steps: dict[tuple[str, int], list[Row]] = defaultdict(list)
    for row in trace:
        if row["value"] is not None and row["status"] == "ok":
            steps[row["search_id"], row["step"]].append(row)
    kinds = [_kind(rows) for rows in steps.values()]
    return Steps(*(kinds.count(kind) for kind in ("equal", "noise", "told", "unknown", "alone")))


def _kind(rows: Sequence[Row]) -> str:
    if len(rows) == 1:
        return "alone"
    values = np.array([r["value"] for r in rows], dtype=np.float64)
    if np.ptp(values) <= EQUAL:
        return "equal"
    noise = np.array([np.nan if r.get("noise") is None else r["noise"] for r in rows], dtype=np.float64)
    if not np.isfinite(noise).all():
        return "unknown"
    error = np.hypot(noise[values.argmax()], noise[values.argmin()])
    return "noise" if np.ptp(values) <= ERRORS * error else "told"
