"""The one summary of an MCIL run: from the rows of its files to what is shown everywhere."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from protocols.mcil.reading import McilResults
from seqsearch.core.outcomes import HEAD
from seqsearch.distribution.components import Components, components
from seqsearch.distribution.permutation import holm
from seqsearch.distribution.runs import OverRuns, Pair, over_runs, pairs
from seqsearch.results.rows import Row

SHARES = ("average", "average_pooled", "first", "last", "balanced")
"""Accuracies; all others are differences of these."""
FIGURES = (
    "average", "average_pooled", "first", "last", "pd_printed", "pd_final", "pd_printed_pooled", "pd_final_pooled",
    "forgetting", "backward_transfer",
)  # fmt: skip
COSTS = ("parameters", "params_bytes", "statistics_bytes", "exemplar_bytes", "train_seconds", "judge_seconds")


@dataclass(frozen=True)
class Curve:
    """Accuracy after each experience ``[T]`` of the runs that ended.

    Attributes:
        over: balanced accuracy over class orders (or training seeds), as in `Judged`.
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
class Judged:
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


@dataclass(frozen=True)
class Difference:
    """Avg of the first minus that of the second, over the same runs; ``by_name``: labels of methods, or of classifiers."""

    first: str
    second: str
    pair: Pair


@dataclass(frozen=True)
class Worth:
    """What a method loses judged otherwise: Avg of its head minus that of another classifier, over the same runs; ``p`` is Holm's
    over all of the run's."""

    label: str
    classifier: str
    over: OverRuns
    p: float


@dataclass(frozen=True)
class Noise:
    """Noise of orders and of seeds in a method's Avg; ``p``: that there is none of orders, Holm's over methods."""

    label: str
    of: Components
    p: float

    @property
    def unseeded(self) -> bool:
        """Seeds changed nothing in any order."""
        return not self.of.lacking and self.of.seed.value == 0


@dataclass(frozen=True)
class Summary:
    """What a run found.

    Attributes:
        heads: one for each method that has results, by Avg, highest first; those without a run that ended last.
        others: further classifiers.
        pairs: of methods all whose runs ended, in the order of ``heads``.
        orders, seeds: class orders, and training seeds of each.
    """

    run: McilResults
    heads: tuple[Judged, ...]
    others: tuple[Judged, ...]
    pairs: tuple[Difference, ...]
    worth: tuple[Worth, ...]
    noise: tuple[Noise, ...]
    orders: int
    seeds: int

    @property
    def whole(self) -> tuple[Judged, ...]:
        """Methods all whose runs came to their end."""
        return tuple(h for h in self.heads if h.status == "ok")

    @property
    def absent(self) -> tuple[str, ...]:
        """Methods without any result."""
        return tuple(m for m in self.run.methods if m not in {h.label for h in self.heads})

    @property
    def unit(self) -> str:
        """What intervals are over."""
        return "class orders" if self.orders > 1 else "training seeds"


def summarise(run: McilResults) -> Summary:
    """From rows to figures."""
    orders, seeds = plan_of(run)
    found: dict[tuple[str, str], list[Row]] = {}
    for row in run.figures:
        found.setdefault((row["method_id"], row["classifier"]), []).append(row)
    curves: dict[tuple[str, str], list[Row]] = {}
    for row in run.experiences:
        curves.setdefault((row["method_id"], row["classifier"]), []).append(row)
    judged = [_judged(*key, rows, curves[key], orders, seeds) for key, rows in found.items()]
    heads = sorted((j for j in judged if j.classifier == HEAD), key=lambda j: (-_avg(j), j.label))
    others = [j for j in judged if j.classifier != HEAD]
    whole = [h for h in heads if h.status == "ok"]
    return Summary(
        run, tuple(heads), tuple(others), tuple(_pairs(whole)) if run.finished else (),
        tuple(_worth(whole, others)) if run.finished else (), tuple(_noise(whole)) if run.finished else (), orders, seeds,
    )  # fmt: skip


def plan_of(run: McilResults) -> tuple[int, int]:
    """Class orders, and training seeds of each; by the rows where the settings do not say."""
    orders, seeds = run.setting("orders"), run.setting("seeds")
    if isinstance(orders, int) and isinstance(seeds, int) and orders >= 0 and seeds > 0:
        return (orders, seeds) if orders else (seeds, 1)
    there = {(r["order"], r["seed"]) for r in run.figures}
    number = len({k for k, _ in there})
    return max(1, number), max(1, len(there) // max(1, number))


def _avg(j: Judged) -> float:
    over = j.over.get("average")
    return over.interval.value if over else -math.inf


def _judged(
    label: str, classifier: str, rows: Sequence[Row], experiences: Sequence[Row], orders: int, seeds: int
) -> Judged:
    ok = [r for r in rows if r["status"] == "ok"]
    by_order: dict[int, dict[int, float]] = {}
    for r in ok:
        by_order.setdefault(r["order"], {})[r["seed"]] = r["average"]
    whole = len(by_order) == orders and all(len(of) == seeds for of in by_order.values())
    status = next((r["status"] for r in rows if r["status"] != "ok"), "ok" if whole else "unfinished")
    ended = {(r["order"], r["seed"]) for r in ok}
    of_these = [r for r in experiences if (r["order"], r["seed"]) in ended]
    return Judged(
        label, classifier, status, orders * seeds, len(ok), {f: _over(ok, f) for f in FIGURES} if ok else {},
        {c: _mean([r[c] for r in ok]) for c in COSTS}, _curve(of_these), by_order,
    )  # fmt: skip


def _over(rows: Sequence[Row], figure: str) -> OverRuns:
    return over_runs(_units(rows, figure), (0.0 if figure in SHARES else -1.0, 1.0))


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


# ------------------------------------------------------------------------------------------------ differences


def _table(j: Judged) -> NDArray[np.float64]:
    """Avg ``[K, S]`` by order and seed, each seed at its place among those of its order."""
    return np.array([[of[r] for r in sorted(of)] for _, of in sorted(j.by_order.items())])


def _values(j: Judged) -> NDArray[np.float64]:
    table = _table(j)
    by_order: NDArray[np.float64] = table.mean(axis=1) if len(table) > 1 else table[0]
    return by_order


def _pairs(whole: Sequence[Judged]) -> list[Difference]:
    if len(whole) < 2:
        return []
    return [
        Difference(whole[p.first].label, whole[p.second].label, p) for p in pairs(np.array([_values(h) for h in whole]))
    ]


def _worth(whole: Sequence[Judged], others: Sequence[Judged]) -> list[Worth]:
    """Head minus each other classifier of the same method."""
    heads = {h.label: h for h in whole}
    there = [(heads[o.label], o) for o in others if o.label in heads and o.status == "ok"]
    over = [over_runs(_values(h) - _values(o)) for h, o in there]
    adjusted = iter(holm([o.p for o in over if not o.lacking]))
    return [
        Worth(o.label, o.classifier, d, math.nan if d.lacking else next(adjusted))
        for (_, o), d in zip(there, over, strict=True)
    ]


def _noise(whole: Sequence[Judged]) -> list[Noise]:
    found = [(h.label, components(table)) for h in whole if min((table := _table(h)).shape) > 1]
    adjusted = iter(holm([c.p for _, c in found if not math.isnan(c.p)]))
    return [Noise(label, c, math.nan if math.isnan(c.p) else next(adjusted)) for label, c in found]
