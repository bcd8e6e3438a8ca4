"""The first phase of a GTEP run, read from its rows: settings tried and chosen, and the certainty of the choice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from protocols.gtep.cells import Matrix, mapping, pooled
from protocols.gtep.reading import GtepResults
from seqsearch.results.rows import Row
from seqsearch.stats.choice import WithTheBest, shares_of_orders, with_the_best
from seqsearch.stats.interval import AGREE
from seqsearch.stats.trials import BestOf, Enough, best_of, enough

FEWEST = 5
"""Class orders below which no setting, method or ranking is said to differ from another."""


@dataclass(frozen=True)
class Search:
    """The first phase of a method on a pool.

    Attributes:
        scores: H of each setting ``[R]``, NaN where an order diverged or it was left early.
        shares: what each order adds to them ``[R, S]``.
        chosen: number of the chosen setting; None where all diverged.
        by_acc, by_avg: what Acc alone and AvgAcc alone would have chosen.
        best_of: expected best of r = 1 .. R settings; None if no setting counts, or they are no independent draws.
        candidates: which settings do not differ from the best.
        work: images stepped on for a setting, over all tasks and class orders, on average; NaN where the run does not say it.
        seconds: training time of all settings, on the machines of the run.
        troubles: settings that did not end well: number, status, and where and why as far as the run says.
    """

    pool: str
    method: str
    scores: NDArray[np.float64]
    shares: Matrix
    acc: NDArray[np.float64]
    avg: NDArray[np.float64]
    params: tuple[Mapping[str, Any], ...]
    chosen: int | None
    diverged: int
    left_early: int
    best_of: BestOf | None
    candidates: WithTheBest | None
    enough: Enough | None
    work: float
    seconds: float
    troubles: tuple[tuple[int, str, str], ...] = ()

    @property
    def hyperparameters(self) -> int:
        """How many were tuned: of the setting that has the most, since some are asked of some schedules only."""
        return max((len(p) for p in self.params), default=0)

    @property
    def by_acc(self) -> int | None:
        return _best(self.acc, self.scores, self.chosen)

    @property
    def by_avg(self) -> int | None:
        return _best(self.avg, self.scores, self.chosen)


def searches(found: GtepResults) -> Iterator[Search]:
    """Of each method and pool that settings were tried on."""
    independent = (found.setting("searcher"), found.setting("scheduler")) == ("random", "fifo")
    by: dict[tuple[str, str], list[Row]] = {}
    for row in found.trials:
        by.setdefault((row["pool"], row["method_id"]), []).append(row)
    for (pool, method), rows in by.items():
        rows.sort(key=lambda r: r["trial"])
        scores = _column(rows, "harmonic_mean")
        shares = _shares(found, pool, method, rows)
        some = bool(np.isfinite(scores).any()) and found.finished
        yield Search(
            pool,
            method,
            scores,
            shares,
            _column(rows, "accuracy"),
            _column(rows, "average_accuracy"),
            tuple(mapping(r["params"]) for r in rows),
            next((n for n, r in enumerate(rows) if r["chosen"]), None),
            sum(r["status"] != "ok" for r in rows),
            sum(r["status"] == "ok" and r["harmonic_mean"] is None for r in rows),
            best_of(scores) if some and independent else None,
            best_set(shares) if some else None,
            enough(shares) if some and independent else None,
            float(_numbers(rows, "passes").mean()),
            float(_numbers(rows, "train_seconds").sum()),
            tuple((r["trial"], r["status"], r["message"] or "not known") for r in rows if r["status"] != "ok"),
        )


def best_set(shares: ArrayLike) -> WithTheBest:
    """Which rows of ``shares [R, S]`` do not differ from the best; none does below `FEWEST` class orders.

    Two orders that agree by chance, as shares of a few dozen images do, would else differ significantly.
    """
    found, orders = with_the_best(shares), np.shape(shares)[1]
    if orders >= FEWEST or found.unavailable_because:
        return found
    return replace(
        found, unavailable_because=f"{FEWEST} class orders are needed to compare others with the best, {orders} there"
    )


def _column(rows: Sequence[Row], name: str) -> NDArray[np.float64]:
    found = _numbers(rows, name)
    return np.where(found <= 1, found, np.nan)


def _numbers(rows: Sequence[Row], name: str) -> NDArray[np.float64]:
    """Finite ones from 0 on; NaN for all others."""
    found = np.array([np.nan if r.get(name) is None else r[name] for r in rows], dtype=np.float64)
    return np.where((found >= 0) & np.isfinite(found), found, np.nan)


def _best(values: NDArray[np.float64], scores: NDArray[np.float64], chosen: int | None) -> int | None:
    """The setting with the highest of ``values`` among those that have a score; of as high ones the one that was ``chosen``."""
    there = np.where(np.isfinite(scores), values, np.nan)
    if not np.isfinite(there).any():
        return None
    highest = there >= np.nanmax(there) - AGREE
    return chosen if chosen is not None and highest[chosen] else int(np.argmax(highest))


def _shares(found: GtepResults, pool: str, method: str, rows: Sequence[Row]) -> Matrix:
    """Return the share of each order in H of each setting ``[R, S]``; NaN for a setting that does not count."""
    orders, tasks = int(found.setting("orders")), int(found.setting("tasks"))
    group = "tune" if pool == found.setting("tune_pool") else f"tune-on-{found.pools.index(pool)}"
    curves: dict[tuple[str, int], list[Row]] = {}
    names = {f"{group}-{n}": n for n in range(orders)}
    for row in found.results:
        if row["role"] == "search" and row["sequence_id"] in names:
            curves.setdefault((row["method_id"], names[row["sequence_id"]]), []).append(row)
    shares = np.full((len(rows), orders), np.nan)
    for i, r in enumerate(rows):
        known = np.array([pooled(curves.get((f"{method} [{r['trial']}]", n), ()), tasks) for n in range(orders)])
        if r["harmonic_mean"] is not None and np.isfinite(known).all():
            shares[i] = shares_of_orders(known[:, -1], known.mean(axis=1))
    return shares
