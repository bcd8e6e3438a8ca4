"""One classifier of one method over its runs: figures with their intervals, the curve, costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqsearch.results.rows import Row
from seqsearch.stats.mean import ACCURACY, DIFFERENCE, OverRuns, over_runs

SHARES = ("average", "average_pooled", "first", "last", "balanced")
"""Accuracies; all others are differences of these."""
FIGURES = (
    "average", "average_pooled", "first", "last", "pd_printed", "pd_final", "pd_printed_pooled", "pd_final_pooled",
    "forgetting", "backward_transfer",
)  # fmt: skip
COSTS = ("backbone_bytes", "params_bytes", "statistics_bytes", "exemplar_bytes", "train_seconds", "judge_seconds")


@dataclass(frozen=True)
class Curve:
    """Accuracy after each experience ``[T]`` of the runs that ended.

    Attributes:
        over: balanced accuracy over class orders (or training seeds), as in `Evaluated`.
        low, high: the lowest and the highest of single runs.
        pooled: mean over runs.
    """

    over: tuple[OverRuns, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    pooled: tuple[float, ...]

    @property
    def mean(self) -> tuple[float, ...]:
        """Of balanced accuracy."""
        return tuple(o.interval.value for o in self.over)


@dataclass(frozen=True)
class Evaluated:
    """One classifier of one method, over its runs.

    Attributes:
        status: ``ok``, or how the first of its runs that did not come to its end ended.
        ended: runs that came to their end; figures are of these alone.
        over: each of `FIGURES` over class orders (over training seeds where there is a single order), by name.
        costs: means over runs of `COSTS`; None where one of them is not known.
        curve: None where no run ended.
        by_order: Avg of each run that ended ``{order: {seed: Avg}}``.
    """

    label: str
    classifier: str
    status: str
    runs: int
    ended: int
    over: Mapping[str, OverRuns]
    costs: Mapping[str, float | None]
    curve: Curve | None
    by_order: Mapping[int, Mapping[int, float]]

    @property
    def table(self) -> NDArray[np.float64]:
        """Avg ``[K, S]`` by order and seed, each seed at its place among those of its order; all runs ended."""
        return np.array([[of[r] for r in sorted(of)] for _, of in sorted(self.by_order.items())])

    @property
    def values(self) -> NDArray[np.float64]:
        """Avg of each class order, the mean over its seeds; with a single order that of each seed."""
        table = self.table
        found: NDArray[np.float64] = table.mean(axis=1) if len(table) > 1 else table[0]
        return found


def evaluated_of(
    label: str, classifier: str, rows: Sequence[Row], experiences: Sequence[Row], orders: int, seeds: int
) -> Evaluated:
    """From the rows of both files of one method and classifier; ``orders``, and ``seeds`` of each, were to be run."""
    ok = [r for r in rows if r["status"] == "ok"]
    by_order: dict[int, dict[int, float]] = {}
    for r in ok:
        by_order.setdefault(r["order"], {})[r["seed"]] = r["average"]
    whole = len(by_order) == orders and all(len(of) == seeds for of in by_order.values())
    status = next((r["status"] for r in rows if r["status"] != "ok"), "ok" if whole else "unfinished")
    ended = {(r["order"], r["seed"]) for r in ok}
    of_these = [r for r in experiences if (r["order"], r["seed"]) in ended]
    return Evaluated(
        label,
        classifier,
        status,
        orders * seeds,
        len(ok),
        {f: _over(ok, f) for f in FIGURES} if ok else {},
        {c: _mean([r[c] for r in ok]) for c in COSTS},
        _curve(of_these),
        by_order,
    )


def _over(rows: Sequence[Row], figure: str) -> OverRuns:
    return over_runs(_units(rows, figure), ACCURACY if figure in SHARES else DIFFERENCE)


def _units(rows: Sequence[Row], figure: str) -> list[float]:
    """One value of each class order, the mean over its seeds; with a single order one of each seed."""
    by_order: dict[int, list[float]] = {}
    for r in rows:
        by_order.setdefault(r["order"], []).append(r[figure])
    if len(by_order) == 1:
        return next(iter(by_order.values()))
    return [float(np.mean(by_order[k])) for k in sorted(by_order)]


def _mean(values: Sequence[Any]) -> float | None:
    return float(np.mean(values)) if values and None not in values else None


def _curve(rows: Sequence[Row]) -> Curve | None:
    at: dict[int, list[Row]] = {}
    for r in rows:
        at.setdefault(r["experience"], []).append(r)
    if not at:
        return None
    there = [at[t] for t in sorted(at)]
    A = [[r["balanced"] for r in rows_t] for rows_t in there]
    pooled = tuple(float(np.mean([r["pooled"] for r in rows_t])) for rows_t in there)
    return Curve(tuple(_over(rows_t, "balanced") for rows_t in there), tuple(map(min, A)), tuple(map(max, A)), pooled)
