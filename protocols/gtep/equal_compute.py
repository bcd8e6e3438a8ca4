"""Methods at equal compute: what a search of the same counted work gives each, beside searches of as many settings."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from protocols.gtep.reading import GtepResults
from seqsearch.distribution.interval import AGREE
from seqsearch.results.rows import Row
from seqsearch.selection.at_budget import MOST, AtBudget, at_budget
from seqsearch.selection.best_of import best_of

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Spent:
    """A method in both comparisons; H as settings were chosen by, on reward images.

    Attributes:
        settings: tried, R.
        work: images stepped on for a setting, over all tasks and class orders, on average.
        seconds: training all R took, on the machines of the run; nothing is decided by it.
        at_budget: of a search that ends with the budget.
        at_equal_number: of one of as many settings as every method has.
        elsewhere: both H by pool, of the same choices on reward images of a pool that judges (``--conventional``).
    """

    method: str
    settings: int
    work: float
    seconds: float
    at_budget: AtBudget
    at_equal_number: float
    elsewhere: Mapping[str, tuple[float, float]] = field(default_factory=dict)


@dataclass(frozen=True)
class EqualCompute:
    """Of two methods or more.

    Attributes:
        budget: images stepped on: the work of all settings of the method that needed the least, of those that take steps.
        number: settings at equal number: the least R.
        lacking: why there is no comparison; empty where there is.
    """

    budget: float
    number: int
    methods: tuple[Spent, ...]
    lacking: str = ""


def equal_compute(found: GtepResults) -> EqualCompute | None:
    """None where there is nothing to compare: fewer than two methods were tuned, or the run is not finished."""
    by: dict[tuple[str, str], list[Row]] = {}
    for row in sorted(found.trials, key=lambda r: r["trial"]):
        by.setdefault((row["pool"], row["method_id"]), []).append(row)
    first = {m: by[p, m] for m in found.methods for p in [found.setting("tune_pool")] if (p, m) in by}
    if len(first) < 2 or not found.finished:
        return None
    costs = {m: _column(rows, "passes") for m, rows in first.items()}
    if lacking := _lacking(found, costs):
        return EqualCompute(math.nan, 0, (), lacking)
    budget = min(total for w in costs.values() if (total := float(w.sum())) > 0)
    number = min(map(len, first.values()))
    pools = {m: {p: by[p, m] for p in found.pools if (p, m) in by} for m in first}
    made = (_spent(m, rows, costs[m], budget, number, pools[m]) for m, rows in first.items())
    return EqualCompute(budget, number, tuple(made))


def _lacking(found: GtepResults, costs: Mapping[str, Floats]) -> str:
    if (found.setting("searcher"), found.setting("scheduler")) != ("random", "fifo"):
        return "settings that Optuna proposes, or that were left early, are no independent draws"
    if unknown := [m for m, w in costs.items() if not (np.isfinite(w) & (w >= 0)).all()]:
        return f"trials.parquet does not say how many images were stepped on for {unknown[0]}"
    if not any(w.sum() > 0 for w in costs.values()):
        return "no method steps on images by gradients"
    if max(map(len, costs.values())) > MOST:
        return f"it is worked out for {MOST} settings of a method at most"
    return ""


def _spent(
    method: str, rows: Sequence[Row], work: Floats, budget: float, number: int, pools: Mapping[str, Sequence[Row]]
) -> Spent:
    scores = _fractions(rows)
    elsewhere = {}
    for pool, others in pools.items():
        there = dict(zip((r["trial"] for r in others), _fractions(others).tolist(), strict=True))
        of = np.array([there.get(r["trial"], math.nan) for r in rows])
        elsewhere[pool] = (
            at_budget(scores, work, budget, of).expected,
            float(best_of(scores, of).expected[number - 1]),
        )
    return Spent(
        method, len(rows), float(work.mean()), float(sum(_column(rows, "train_seconds"))), at_budget(scores, work, budget),
        float(best_of(scores).expected[number - 1]), elsewhere,
    )  # fmt: skip


def ranks(values: Sequence[float]) -> list[int | None]:
    """From 1 on; those alike share the better rank, and what is not known has none."""
    known = [v for v in values if math.isfinite(v)]
    return [1 + sum(v > own + AGREE for v in known) if math.isfinite(own) else None for own in values]


def _column(rows: Sequence[Row], name: str) -> Floats:
    return np.array([math.nan if r.get(name) is None else r[name] for r in rows], dtype=np.float64)


def _fractions(rows: Sequence[Row]) -> Floats:
    found = _column(rows, "harmonic_mean")
    return np.where((found >= 0) & (found <= 1), found, np.nan)
