"""Steps of a search at which its candidates could not be told apart."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import stats

from seqsearch.results.rows import Row

EQUAL = 1e-9
"""J that differ by less differ by rounding."""


@dataclass(frozen=True)
class FlatStep:
    """A step whose candidates have the same J, or J that differ by no more than their noise."""

    search: str
    step: int
    why: Literal["equal", "noise"]


def flat_steps(trace: Sequence[Row]) -> tuple[FlatStep, ...]:
    """The steps of all searches, in order, at which more than one candidate was judged and none stands out.

    Noise is the standard error of each J (column ``noise`` of trace.parquet). The sum of squares of (J - weighted mean) / noise
    is compared with its chi-square distribution at 5 %: candidates that are equally hard are called so in 95 % of cases. Where
    the noise of some is not known, or is none, equal J alone are found.
    """
    steps: dict[tuple[str, int], list[Row]] = defaultdict(list)
    for row in trace:
        if row["value"] is not None and row["status"] == "ok":
            steps[row["search_id"], row["step"]].append(row)
    found = [(search, step, _why_flat(rows)) for (search, step), rows in steps.items() if len(rows) > 1]
    return tuple(FlatStep(search, step, why) for search, step, why in found if why)


def _why_flat(rows: Sequence[Row]) -> Literal["equal", "noise"] | None:
    values = np.array([r["value"] for r in rows], dtype=np.float64)
    if np.ptp(values) <= EQUAL:
        return "equal"
    noise = np.array([np.nan if r.get("noise") is None else r["noise"] for r in rows], dtype=np.float64)
    if not (np.isfinite(noise).all() and (noise > 0).all()):
        return None
    weights = 1 / noise**2
    squares = float((weights * (values - np.average(values, weights=weights)) ** 2).sum())
    return "noise" if stats.chi2.sf(squares, len(values) - 1) > 0.05 else None
