"""Results of ``--fit``: fitted orders against the worst and best random orders, all trained with fresh seeds.

The worst of many random orders owe their rank partly to luck: trained again, they score higher. So both sides are
trained with seeds that were used for nothing before, the same for all orders. The difference of these orders has an
interval over these seeds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from protocols.edge.fit import Fit
from protocols.edge.groups import DIGITS, OF_FITS, Group, LeftOut, Table
from seqsearch.planners.replicates import FITTED, TUNING
from seqsearch.results.run import RunResults
from seqsearch.stats.accuracy import acc
from seqsearch.stats.difference import paired_difference
from seqsearch.stats.interval import Interval
from seqsearch.stats.quantiles import OrderPercentile, percentile
from seqsearch.stats.rank_test import rank_test

SideName = Literal["hard", "easy"]
Found = Literal["more", "less", "open"]
"""Whether fitted orders are more extreme than random ones trained again, less, or undecided."""


@dataclass(frozen=True)
class Side:
    """One end: accuracies ``[orders, fresh seeds]`` of fitted orders, of the worst (best) random ones, of the objective's.

    Attributes:
        predicted: mean accuracy that the fit predicts of the fitted ones.
        chosen_at: mean accuracy at which the random ones were the worst (best) of all.
        minus_random, minus_objective: fitted minus these; None where one side is missing.
        place: of the first fitted order, one training, among the random ones; ``p``: of its being more extreme, by rank.
    """

    side: SideName
    fitted: Table
    random: Table
    objective: Table
    predicted: float
    chosen_at: float
    minus_random: Interval | None
    minus_objective: Interval | None
    place: OrderPercentile | None
    p: float | None

    @property
    def found(self) -> Found:
        """By the interval of ``minus_random``."""
        i = self.minus_random
        if i is None or not i.sign:
            return "open"
        return "more" if (i.sign < 0) == (self.side == "hard") else "less"


@dataclass(frozen=True)
class MethodFit:
    """A fit, and its two ends; none where the gate is shut or nothing was evaluated.

    ``points``: (predicted, measured) accuracy by kind of order; of ``random`` ones predicted by the fit to all others, measured
    by one training; of the others measured over the fresh seeds, of which there are ``seeds``.
    """

    fit: Fit
    sides: tuple[Side, ...]
    points: dict[str, tuple[tuple[float, float], ...]]
    seeds: int


def method_fit(data: RunResults, fit: Fit, random: Group, troubles: list[LeftOut]) -> MethodFit:
    """Of the method that ``fit`` is of; ``random`` are its random orders."""
    seeds = tuple(r for r in data.seeds if FITTED <= r < TUNING)
    measured = dict(zip(random.names, random.first, strict=True))
    predicted = {f"random-{i}": a for i, a in zip(fit.orders, fit.left_out, strict=False)}
    pairs = tuple((a, float(measured[name])) for name, a in predicted.items() if name in measured)
    if not fit.trained:
        return MethodFit(fit, (), {"random": pairs}, 0)
    tables = _tables(data, fit.method, seeds, troubles)
    sides = [_side("hard", fit, tables, random), _side("easy", fit, tables, random)]
    points = {"random": pairs} | {str(s.side): _points(fit, s.side, tables) for s in sides}
    return MethodFit(fit, tuple(s for s in sides if len(s.fitted)), points, len(seeds))


Tables = dict[str, dict[int, list[float]]]
"""Accuracies by seed of each order: kind, number."""


def _tables(data: RunResults, method: str, seeds: Sequence[int], troubles: list[LeftOut]) -> Tables:
    """Of orders that were evaluated to their end with all seeds; others are named."""
    found: Tables = {}
    lost = 0
    for s in data.sequences:
        if s.kind not in OF_FITS or method not in s.method_ids:
            continue
        kind, _, number = s.sequence_id.partition("@")[0].rpartition("-")
        rollouts = [data.rollouts.get((s.sequence_id, method, r)) for r in seeds]
        evaluated = [round(acc(r.accuracy), DIGITS) for r in rollouts if r and r.complete]
        if len(evaluated) < len(seeds) or not seeds:
            lost += 1
        else:
            found.setdefault(kind, {})[int(number)] = evaluated
    if lost:
        troubles.append(LeftOut(method, lost, 0, "fit"))
    return found


def _points(fit: Fit, side: SideName, tables: Tables) -> tuple[tuple[float, float], ...]:
    of = fit.hard if side == "hard" else fit.easy
    return tuple((of[i].predicted, float(np.mean(a))) for i, a in tables.get(f"fitted-{side}", {}).items())


def _side(side: SideName, fit: Fit, tables: Tables, random: Group) -> Side:
    own, numbers = (fit.hard, fit.worst) if side == "hard" else (fit.easy, fit.best)
    again_name = "worst" if side == "hard" else "best"
    fitted, again, objective = (_table(tables, n) for n in (f"fitted-{side}", again_name, f"retrained-{side}"))
    measured = dict(zip(random.names, random.first, strict=True))
    chosen_at = [float(measured[f"random-{i}"]) for i in numbers if f"random-{i}" in measured]
    place, p = None, None
    if len(fitted) and len(random):
        first = float(fitted[0, 0])
        place = percentile([first], random.first).orders[0]
        p = rank_test([first], random.first, "harder" if side == "hard" else "easier").p
    return Side(
        side,
        fitted,
        again,
        objective,
        float(np.mean([c.predicted for c in own])) if own else float("nan"),
        float(np.mean(chosen_at)) if chosen_at else float("nan"),
        _difference(fitted, again),
        _difference(fitted, objective),
        place,
        p,
    )


def _table(tables: Tables, kind: str) -> Table:
    rows = tables.get(kind, {})
    found: Table = np.array([rows[i] for i in sorted(rows)], dtype=np.float64)
    return found.reshape(len(rows), -1) if rows else np.zeros((0, 0))


def _difference(ours: Table, theirs: Table) -> Interval | None:
    return paired_difference(ours, theirs) if len(ours) and len(theirs) else None
