"""How well J ranks the candidates of a step, and how well screening (``--screen-to``) predicts J."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import stats

from seqsearch.results.rows import Row
from seqsearch.stats.ranks import without_rounding

EQUAL = 1e-9
"""J that differ by less differ by rounding."""
ERRORS = 2.0
"""J are as good as alike where the largest and the smallest differ by no more standard errors of their difference."""

Why = Literal["equal", "noise"]


@dataclass(frozen=True)
class Steps:
    """How well J separated the candidates at the steps of all searches; those at which one candidate was evaluated do not count.

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


@dataclass(frozen=True)
class Screened:
    """Of the steps of all searches together.

    Attributes:
        steps: all of them; ``predicted`` of these had a prediction, and at ``narrowed`` of those candidates were spared.
        candidates: all of them; ``spared`` of these were not trained.
        correlations: Spearman's of prediction and J among the candidates evaluated, one for each step where three or more were
            and neither is constant. Where some were spared it is of those that were predicted to be hardest.
    """

    steps: int
    predicted: int
    narrowed: int
    candidates: int
    spared: int
    correlations: tuple[float, ...]


def screened_of(trace: Sequence[Row]) -> Screened:
    """From the rows of trace.parquet."""
    steps: dict[tuple[str, int], list[Row]] = defaultdict(list)
    for row in trace:
        steps[row["search_id"], row["step"]].append(row)
    known = [r for r in steps.values() if any(row.get("predicted") is not None for row in r)]
    found = [rho for rows in known if (rho := _correlation(rows)) is not None]
    return Screened(
        steps=len(steps),
        predicted=len(known),
        narrowed=sum(any(row.get("spared") for row in rows) for rows in steps.values()),
        candidates=len(trace),
        spared=sum(bool(row.get("spared")) for row in trace),
        correlations=tuple(found),
    )


def _correlation(rows: Sequence[Row]) -> float | None:
    pairs = [(r["predicted"], r["value"]) for r in rows if r.get("predicted") is not None and r["value"] is not None]
    predicted, values = np.array(pairs, dtype=np.float64).reshape(-1, 2).T
    if len(pairs) < 3 or not np.isfinite(pairs).all() or min(np.ptp(predicted), np.ptp(values)) <= EQUAL:
        return None
    return float(stats.spearmanr(without_rounding(predicted), without_rounding(values)).statistic)
