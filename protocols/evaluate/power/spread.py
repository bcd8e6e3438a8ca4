"""Variance of accuracies in a finished run, and the cost of more of its sequences, searches or class orders."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from protocols.cldyb.compared import evaluated
from protocols.cldyb.costs import estimate
from protocols.cldyb.settings import CldybSettings
from protocols.running.protocol import protocols
from protocols.running.status import check_not_running
from seqsearch.core.errors import UserError
from seqsearch.core.typed import brief
from seqsearch.results.run import RunResults, read_config
from seqsearch.stats.components import training_sd

Values = NDArray[np.float64]


@dataclass(frozen=True)
class FoundSpread:
    """Found and random sequences, on the mean over methods.

    Attributes:
        searches, random, seeds: how many the run has.
        accuracy: mean over the random sequences.
        random_sd: of one training of a random sequence.
        training_sd: of one training of a given sequence; None with a single training seed.
        trainings: what a run with so many searches, random sequences and training seeds takes at most.
    """

    searches: int
    random: int
    seeds: int
    accuracy: float
    random_sd: float
    training_sd: float | None
    trainings: Callable[[int, int, int], int]


@dataclass(frozen=True)
class PairSpread:
    """The difference of two methods over class orders (random sequences).

    Attributes:
        first, second: methods, of all pairs the one whose difference varies most; ``second`` is empty with one method.
        pool: that they were evaluated on; empty if the run has one.
        unit: over which the difference varies, in the plural.
        draws: how many of these the run has.
        value: first minus second, mean over them; the accuracy itself with one method.
        sd: of one of them.
        trainings: what one of them takes, all methods of the run.
    """

    first: str
    second: str
    pool: str
    unit: str
    draws: int
    value: float
    sd: float
    trainings: int


def spreads(run: Path) -> tuple[FoundSpread | PairSpread, ...]:
    """Of a finished run of cldyb, edge, gtep, mcil or duel.

    Raises:
        UserError: another run, one that is running or not finished, or one with too few sequences or orders to see how they vary.
    """
    name = read_config(run).get("protocol")
    if name not in READ:
        raise UserError(f"run {run} is of {brief(name)}: power reads runs of {', '.join(READ)}")
    check_not_running(run)
    exported = protocols()[str(name)].read(run)
    results: Any = exported.results
    if not getattr(results, "run", results).finished:
        raise UserError(f"run {run} is not finished: resume it first (seqsearch show {run} says how)")
    found = READ[str(name)](exported.summary, exported.results)
    if not found:
        raise UserError(
            f"run {run} does not show how accuracies vary: it needs 2 random sequences or class orders of different accuracy"
        )
    return tuple(found)


def _cldyb(summary: Any, data: Any) -> list[FoundSpread | PairSpread]:
    if summary.placed is None or len(summary.placed.random) < 2:
        return []
    try:
        settings = CldybSettings(**{**CldybSettings.before, **data.config["settings"]})
    except (KeyError, TypeError, UserError) as error:
        raise UserError(f"config.json does not say how the run was made ({error}): restore it") from None
    random = np.array(summary.placed.random)
    jointly = {m for s in data.sequences if s.kind == "joint" for m in s.method_ids}

    def trainings(searches: int, sequences: int, seeds: int) -> int:
        asked = replace(settings, searches=searches, random_sequences=sequences, score_seeds=seeds)
        return estimate(asked, len(data.methods), jointly=len(jointly)).trainings

    trained = _trainings_of_found(data)
    return [
        FoundSpread(
            searches=len(summary.placed.found),
            random=len(random),
            seeds=trained.shape[1],
            accuracy=float(random.mean()),
            random_sd=float(random.std(ddof=1)),
            training_sd=training_sd(trained) if trained.shape[1] > 1 else None,
            trainings=trainings,
        )
    ]


def _trainings_of_found(data: RunResults) -> Values:
    """Final accuracy ``[F, R]`` of the found sequences, mean over methods."""
    sequences = data.found(data.methods[0])
    seeds = set.intersection(*(data.complete(m, sequences) for m in data.methods))
    values: Values = np.mean([evaluated(data, m, sequences, seeds).final for m in data.methods], axis=0)
    return values


def _edge(summary: Any, data: Any) -> list[FoundSpread | PairSpread]:
    values = {
        m.method: dict(zip(g.names, g.first, strict=True)) for m in summary.methods if len(g := m.groups["random"])
    }
    return _widest(values, "random sequences", len(values) * _tasks(data.run))


def _tasks(data: RunResults) -> int:
    """Of each sequence of a run."""
    return max((len(s.tasks) for s in data.sequences), default=0)


def _gtep(summary: Any, data: Any) -> list[FoundSpread | PairSpread]:
    found: list[FoundSpread | PairSpread] = []
    tuned = [c for c in summary.cells if c.use == "tuned" and c.valid]
    for pool in dict.fromkeys(c.pool for c in tuned):
        values = {c.method: dict(enumerate(c.acc)) for c in tuned if c.pool == pool}
        cost = sum(c.curve.shape[1] for c in tuned if c.pool == pool)
        found += _widest(values, "class orders", cost, pool)
    return found


def _mcil(summary: Any, data: Any) -> list[FoundSpread | PairSpread]:
    values = {h.label: dict(enumerate(h.values)) for h in summary.whole}
    cost = sum(len(h.curve.over) for h in summary.whole) * (summary.seeds if summary.orders > 1 else 1)
    return _widest(values, summary.unit, cost)


def _duel(summary: Any, data: Any) -> list[FoundSpread | PairSpread]:
    of = [dict(zip(summary.pairs.names, side, strict=True)) for side in (summary.pairs.a, summary.pairs.b)]
    return _widest(dict(zip(summary.methods, of, strict=True)), "random sequences", 2 * _tasks(data))


READ: Mapping[str, Callable[[Any, Any], list[FoundSpread | PairSpread]]] = {
    "cldyb": _cldyb,
    "edge": _edge,
    "gtep": _gtep,
    "mcil": _mcil,
    "duel": _duel,
}


def _widest(
    values: Mapping[str, Mapping[Any, float]], unit: str, trainings: int, pool: str = ""
) -> list[FoundSpread | PairSpread]:
    """Of each method its accuracy by sequence or order; empty if nothing varies."""
    pairs = []
    for first, second in itertools.combinations(values, 2):
        shared = [k for k in values[first] if k in values[second]]
        pairs.append((first, second, np.array([values[first][k] - values[second][k] for k in shared])))
    if not pairs:
        pairs = [(m, "", np.array(list(of.values()))) for m, of in values.items()]
    known = [(float(d.std(ddof=1)), first, second, d) for first, second, d in pairs if len(d) > 1 and np.ptp(d) > 0]
    if not known:
        return []
    sd, first, second, d = max(known, key=lambda k: k[0])
    return [PairSpread(first, second, pool, unit, len(d), float(d.mean()), sd, trainings)]
