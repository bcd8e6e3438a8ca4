"""What screening (``--screen-to``) spared, and how well it told candidates apart where both are known."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from protocols.cldyb.steps import EQUAL
from seqsearch.metrics.ranks import without_rounding
from seqsearch.results.rows import Row


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
