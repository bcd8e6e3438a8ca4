"""Notes that several protocols share: chance, means over few draws, cost, where images and hyperparameters come from."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from protocols.report.notes import Note, note
from protocols.running.at_chance import AtChance
from protocols.running.provenance import PoolRecord, Provenance, TuningRecord
from seqsearch.distribution.chance import LEVEL
from seqsearch.distribution.drop import Drop
from seqsearch.distribution.interval import AGREE
from seqsearch.distribution.mean import ENOUGH_TO_SEE, FEWEST

HARDLY = 0.01
"""A median movement of features below which a method is nearly its head on frozen features."""
SAME_SCORES = "with each training seed all its sequences score alike"
OF_ZERO = "its random sequences score 0, which nothing can be relative to"


def at_chance(found: Sequence[AtChance]) -> Iterator[Note]:
    """A note for each method and kind of sequences; what the test rests on comes once."""
    yield from map(_one, found)
    if found:
        yield note("chance.test", level=LEVEL)


def _one(a: AtChance) -> Note:
    test = a.test
    values: dict[str, Any] = {
        "method": a.method,
        "figure": a.figure,
        "accuracy": a.accuracy,
        "where": a.where,
        "chance": a.chance,
        "classes": a.classes,
        "images": test.images,
        "trainings": test.trainings,
    }
    if test.best > LEVEL:
        return Note("chance.too_few", values)
    if test.significant_from is None or abs(a.chance - 1 / a.classes[1]) > AGREE:
        return Note("chance.undecided", {**values, "p": test.p})  # which images are right counts, not only how many
    needed = round(test.significant_from * test.images)
    return Note("chance.needed", {**values, "needed": needed, "share": test.significant_from})


def assumption(n: int, what: str) -> Iterator[Note]:
    """What the interval of a mean over ``n`` draws assumes, ``what`` they are in the plural; none without an interval, or from
    enough draws on."""
    if FEWEST <= n < ENOUGH_TO_SEE:
        yield note("mean.assumption", enough=ENOUGH_TO_SEE, what=what)


def without_interval(drops: Sequence[tuple[str, Drop]]) -> Iterator[Note]:
    """A note for each reason, with the methods that it holds for; of ``drops`` by method those without interval count.

    None where nothing differs for any: then the headline says so.
    """
    if all(d.nothing_differs for _, d in drops):
        return
    by_reason: dict[str, list[str]] = {}
    for method, d in drops:
        if not math.isfinite(d.relative.low):
            why = SAME_SCORES if d.nothing_differs else d.unavailable_because or OF_ZERO
            by_reason.setdefault(why, []).append(method)
    for why, methods in by_reason.items():
        yield note("drop.without_interval", methods=methods, why=why)


# ------------------------------------------------------------------------------------------------ cost


def cost(stats: Mapping[str, Any] | None) -> Iterator[Note]:
    """What the trainings of the run did not do, and what they took, as far as it is known."""
    if stats is None:
        yield note("cost.unknown")
        return
    for method, (median, n) in stats.get("moved", {}).items():
        if median < HARDLY:
            yield note("cost.moved", method=method, moved=median, trainings=n)
    trained, naive = int(stats.get("trained") or 0), int(stats.get("naive") or 0)
    yield note("cost.trainings", trainings=trained)
    if trained and naive > trained:  # fewer where the time was up before rollouts had come to their end
        yield note("cost.naive", naive=naive, ratio=naive / trained)
    if replayed := stats.get("replayed"):
        yield note("cost.replayed", results=int(replayed))
    yield from _time(stats)
    if (busy := stats.get("busy_share")) is not None:
        yield note("cost.busy", share=float(busy))


def _time(stats: Mapping[str, Any]) -> Iterator[Note]:
    """With ``--time-budget`` what counted, and what did not; of killed sessions what is known."""
    seconds, sessions, killed = stats.get("wall_seconds"), int(stats.get("sessions") or 0), stats.get("killed_sessions")
    starting, budget = stats.get("starting_seconds"), stats.get("budget_seconds")
    if seconds is not None:
        if starting is None or budget is None:
            yield note("cost.time", seconds=float(seconds), sessions=sessions or 1)
        else:
            yield note("cost.time", seconds=float(budget), sessions=sessions or 1)
            yield note("cost.starting", seconds=float(starting))
    elif killed:
        yield note("cost.killed", sessions=int(killed))
        if sessions > killed:
            yield note("cost.others", sessions=sessions - int(killed), seconds=float(stats.get("others_seconds") or 0))
    elif sessions > 1:  # of an older version, which did not say how many were killed
        yield note("cost.unclear", sessions=sessions)


# ------------------------------------------------------------------------------------------------ provenance


def provenance(p: Provenance) -> Iterator[Note]:
    """Of each pool, of the history of an extended run, and of tuning."""
    for pool in p.pools:
        yield from _pool(pool)
    if p.lengths:
        yield note("run.extended", lengths=" to ".join(map(str, p.lengths)))
    if p.tuning:
        yield from _tuning(p.tuning)


def _pool(p: PoolRecord) -> Iterator[Note]:
    yield note("pool.used", pool=p.pool, used=p.in_play, classes=p.classes, images=p.images, split=p.split)
    if p.from_step > 1:
        yield note("pool.grown", pool=p.pool, step=p.from_step)
    if p.excluded_groups:
        yield note("pool.left_out", pool=p.pool, groups=p.excluded_groups)
    if not p.by_content:
        yield note("pool.changeable", pool=p.pool)


def _tuning(t: TuningRecord) -> Iterator[Note]:
    yield note("tuned.circular") if t.on_first else note("tuned.outside", tasks=t.tasks)
    for label, params in t.chosen.items():
        values = ", ".join(f"{k}={v}" for k, v in params.items()) or "defaults"
        yield note("tuned.chosen", method=label, values=values)
