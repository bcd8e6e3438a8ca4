"""The cells of the table of a GTEP run: a method on a pool with one of its settings, over class orders."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from protocols.gtep.reading import GtepResults
from protocols.gtep.unshared import Marks, Unshared, by_class, marks, unshared
from protocols.running.at_chance import Ended
from seqsearch.results.rows import Row, finite, model_bytes, stored_bytes
from seqsearch.stats.choice import Difference, mean_over_orders, shares_of_orders
from seqsearch.stats.interval import AGREE, Interval

Matrix = NDArray[np.float64]
USES = ("tuned", "original", "conventional")
FRESH = "fresh"
OF_TUNING: dict[str, str] = {"tuned": FRESH, "original": "fresh original"}
"""Names of uses on further class orders of the tuning pool."""


@dataclass(frozen=True)
class Cell:
    """A method on a pool, with one of its settings.

    Attributes:
        curve: Acc_t ``[orders, T]`` on the orders that ended well.
        harmonic: H of the means, with bounds over class orders alone where there are enough.
        params_bytes: of parameters beyond the backbone, the largest; stored_bytes and model_bytes: see `seqsearch.results.rows`.
        seconds: of training one order.
        asked: class orders that it was to be evaluated on.
        failures: what became of those that did not end well, each once.
        ended: images of each class on these orders after the last task; empty where that is not known.
        unshared: without the classes that the pool shares with the one tuned on; None if it shares none, or it is not known.
    """

    pool: str
    method: str
    use: str
    params: Mapping[str, Any]
    curve: Matrix
    diverged: int
    harmonic: Difference
    params_bytes: int | None
    stored_bytes: int | None
    model_bytes: int | None
    seconds: float
    asked: int
    failures: tuple[str, ...] = ()
    ended: tuple[Ended, ...] = ()
    unshared: Unshared | None = None

    @property
    def acc(self) -> NDArray[np.float64]:
        """Of each order."""
        return self.curve[:, -1]

    @property
    def avg(self) -> NDArray[np.float64]:
        """Of each order."""
        found: NDArray[np.float64] = self.curve.mean(axis=1)
        return found

    @property
    def valid(self) -> bool:
        """All orders that were asked for ended well."""
        return len(self.curve) == self.asked > 0 and not self.diverged


def cells(found: GtepResults) -> list[Cell]:
    """A cell for each method, pool and use that anything is known of."""
    by: dict[tuple[str, str], list[Row]] = {}
    for row in found.results:
        if row["role"] == "rescore":
            by.setdefault((str(row["sequence_id"]).rsplit("-", 1)[0], row["method_id"]), []).append(row)
    named = {f"judge-{n}": pool for n, pool in enumerate(found.pools)}
    orders, marked, made = found.setting("eval_orders") or found.setting("orders"), marks(found.sequences), []
    for method in found.methods:
        for use in USES:
            label = method if use == "tuned" else f"{method} ({use})"
            for group, pool in named.items():
                if rows := by.get((group, label)):
                    made.append(_cell(found, pool, method, use, rows, orders, marked))
        for use, fresh in OF_TUNING.items():
            if rows := by.get((FRESH, method if use == "tuned" else f"{method} ({use})")):
                made.append(_cell(found, str(found.setting("tune_pool")), method, fresh, rows, orders, {}))
    return made


def _cell(
    found: GtepResults, pool: str, method: str, use: str, rows: Sequence[Row], orders: int, marked: Marks
) -> Cell:
    by_order: dict[str, list[Row]] = {}
    for row in rows:
        by_order.setdefault(row["sequence_id"], []).append(row)
    tasks = int(found.setting("tasks"))
    curves = {name: pooled(part, tasks) for name, part in by_order.items()}
    good = [c for c in curves.values() if np.isfinite(c).all()]
    failures = [part[0]["status"] for part in by_order.values() if part[0]["status"] != "ok"]
    curve = np.array(good).reshape(len(good), tasks)
    seconds = [part[0]["train_seconds"] for part in by_order.values()]
    whole = not failures and len(good) == orders
    shares = shares_of_orders(curve[:, -1], curve.mean(axis=1)) if good else np.array([np.nan])
    over = mean_over_orders(shares) if whole else Difference(Interval(np.nan), len(good), "not all orders ended well")
    params = (
        found.fixed(method)
        if use.endswith("original")
        else _params(found, pool if use == "conventional" else None, method)
    )
    return Cell(
        pool,
        method,
        use,
        params,
        curve,
        len(failures),
        over,
        _largest(rows, itemgetter("params_bytes")),
        _largest(rows, stored_bytes),
        _largest(rows, model_bytes),
        float(np.mean(seconds)),
        orders,
        tuple(sorted(set(failures))),
        _ended(by_order, tasks) if whole else (),
        unshared(by_order, marked, tasks) if whole else None,
    )


def _largest(rows: Sequence[Row], bytes_of: Callable[[Row], int | None]) -> int | None:
    """Of those that are known."""
    return max((size for r in rows if (size := bytes_of(r)) is not None), default=None)


def _ended(by_order: Mapping[str, Sequence[Row]], tasks: int) -> tuple[Ended, ...]:
    """Chance is the share of the class that has most images: Acc pools all."""
    found = []
    for rows in by_order.values():
        last = [by_class(r) for r in sorted(rows, key=lambda r: int(r["evaluated_step"])) if r["trained_step"] == tasks]
        if None in last:
            return ()
        right, n = (tuple(k for task in last if task for k in task[i]) for i in (0, 1))
        if not n:
            return ()
        found.append(Ended(right, n, sum(right) / sum(n), max(n) / sum(n)))
    return tuple(found)


def pooled(rows: Iterable[Row], tasks: int) -> NDArray[np.float64]:
    """Acc_t ``[tasks]`` of one rollout: images right of all that are evaluated after task t; NaN where that is not known."""
    right, evaluated = np.zeros(tasks), np.zeros(tasks)
    seen = np.zeros(tasks)
    for row in rows:
        t = row["trained_step"] - 1
        if 0 <= t < tasks and row["n"] and row["correct"] is not None and 0 <= row["correct"] <= row["n"]:
            right[t] += row["correct"]
            evaluated[t] += row["n"]
            seen[t] += 1
    whole = seen == np.arange(1, tasks + 1)
    return np.where(whole, right / np.where(whole, evaluated, 1), np.nan)


def _params(found: GtepResults, pool: str | None, method: str) -> dict[str, Any]:
    where = found.setting("tune_pool") if pool is None else pool
    for row in found.trials:
        if row["chosen"] and (row["pool"], row["method_id"]) == (where, method):
            return {**found.fixed(method), **mapping(row["params"])}
    given = found.identity("given").get(method)
    return {**found.fixed(method), **(given if isinstance(given, dict) else {})}


def mapping(text: str) -> dict[str, Any]:
    """Parameters of a setting as a row has them; nothing if they are no mapping."""
    try:
        made = json.loads(text)
    except ValueError:
        return {}
    return made if isinstance(made, dict) else {}


def table_rows(found: Sequence[Cell]) -> list[Row]:
    """Rows of ``table.parquet``."""
    rows = []
    for c in found:
        peers = [x.harmonic.value.value for x in found if (x.pool, x.use) == (c.pool, c.use) and x.valid]
        own = c.harmonic.value
        rows.append(
            {
                "pool": c.pool,
                "method_id": c.method,
                "use": c.use,
                "params": json.dumps(dict(c.params), sort_keys=True),
                "orders": len(c.curve),
                "diverged": c.diverged,
                **{name: finite(v) for name, v in _means(c).items()},
                "harmonic_mean": finite(own.value),
                "low": finite(own.low),
                "high": finite(own.high),
                "rank": 1 + sum(p > own.value + AGREE for p in peers) if c.valid else None,
                "params_bytes": c.params_bytes,
                "stored_bytes": c.stored_bytes,
                "model_bytes": c.model_bytes,
                "train_seconds": c.seconds,
                **_unshared(c, found),
            }
        )
    return rows


def _unshared(c: Cell, found: Sequence[Cell]) -> Row:
    """The same without the shared classes."""
    u = c.unshared
    if u is None:
        return {}
    value = u.harmonic.value
    peers = [x.unshared.harmonic.value.value for x in found if (x.pool, x.use) == (c.pool, c.use) and x.unshared]
    means = {"accuracy": u.acc.mean(), "average_accuracy": u.avg.mean(), "harmonic_mean": value.value}
    figures = {**means, "low": value.low, "high": value.high}
    return {
        "shared_classes": u.shared,
        **{f"unshared_{name}": finite(float(v)) for name, v in figures.items()},
        "unshared_rank": 1 + sum(p > value.value + AGREE for p in peers) if u.known else None,
    }


def _means(c: Cell) -> dict[str, float]:
    if not c.valid:
        return {}
    sds = {"accuracy_sd": c.acc, "average_accuracy_sd": c.avg}
    return {
        "accuracy": float(c.acc.mean()),
        "average_accuracy": float(c.avg.mean()),
        **{name: float(v.std(ddof=1)) if len(v) > 1 else np.nan for name, v in sds.items()},
    }
