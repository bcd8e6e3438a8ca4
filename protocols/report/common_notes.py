"""Notes that several protocols share, with their sentences: chance, means over few draws, cost, provenance."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from protocols.report.notes import Note, Text, note
from protocols.report.text import enumerated
from protocols.running.at_chance import AtChance
from protocols.running.provenance import PoolRecord, Provenance, TuningRecord
from seqsearch.stats.chance import LEVEL
from seqsearch.stats.drop import Drop
from seqsearch.stats.interval import AGREE
from seqsearch.stats.mean import ENOUGH_TO_SEE, FEWEST

HARDLY_MOVED = 0.01
"""Median representation drift below which a method is nearly a classifier on frozen features."""
SAME_SCORES = "with each training seed all its sequences score alike"
OF_ZERO = "its random sequences score 0, which nothing can be relative to"


def unfinished(stats: Mapping[str, Any] | None) -> Note:
    """The headline of a run that has no result yet."""
    return note("run.unfinished", reached=(stats or {}).get("reached") or "an unknown point")


def first_of(names: Sequence[str]) -> dict[str, Any]:
    """The methods with the highest figure, for a headline: all names, and ``first``, which is a number of methods if they are
    three or more."""
    return {"names": names, "first": enumerated(names) if len(names) < 3 else f"{len(names)} methods"}


def by_reason(found: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """From names with a reason each: the names by reason."""
    groups: dict[str, list[str]] = {}
    for name, why in found:
        groups.setdefault(why, []).append(name)
    return groups


def at_chance(found: Sequence[AtChance]) -> Iterator[Note]:
    """A note for each method and kind of sequences; the conditions of the test come once."""
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
    if test.best > LEVEL:  # the smallest p-value that is possible: with all images right
        return Note("chance.too_few", values)
    # "chance.needed" gives a number of right images: impossible where it also matters which images are right
    if test.significant_from is None or abs(a.chance - 1 / a.classes[1]) > AGREE:
        return Note("chance.undecided", {**values, "p": test.p})
    needed = round(test.significant_from * test.images)
    return Note("chance.needed", {**values, "needed": needed, "share": test.significant_from})


def assumption(n: int, what: str) -> Iterator[Note]:
    """The assumption of an interval of a mean over ``n`` draws, named ``what`` in the plural; none without an interval, or with
    enough draws."""
    if FEWEST <= n < ENOUGH_TO_SEE:
        yield note("mean.assumption", enough=ENOUGH_TO_SEE, what=what)


def without_interval(drops: Sequence[tuple[str, Drop]]) -> Iterator[Note]:
    """A note for each reason why a method's drop has no interval, with the methods that it holds for.

    ``drops``: each method with its drop. No note if no method's sequences differ in accuracy: then the headline says so.
    """
    if all(d.nothing_differs for _, d in drops):
        return
    why_not = (
        (method, SAME_SCORES if d.nothing_differs else d.unavailable_because or OF_ZERO)
        for method, d in drops
        if not math.isfinite(d.relative.low)
    )
    for why, methods in by_reason(why_not).items():
        yield note("drop.without_interval", methods=methods, why=why)


# ------------------------------------------------------------------------------------------------ cost


def cost(stats: Mapping[str, Any] | None) -> Iterator[Note]:
    """Methods whose features hardly drift, and the number and time of the trainings, as far as they are known."""
    if stats is None:
        yield note("cost.unknown")
        return
    for method, (median, n) in stats.get("moved", {}).items():
        if median < HARDLY_MOVED:
            yield note("cost.moved", method=method, moved=median, trainings=n)
    trained, naive = int(stats.get("trained") or 0), int(stats.get("naive") or 0)
    yield note("cost.trainings", trainings=trained)
    if trained and naive > trained:  # naive is smaller if the time was up before the rollouts ended
        yield note("cost.naive", naive=naive, ratio=naive / trained)
    if replayed := stats.get("replayed"):
        yield note("cost.replayed", results=int(replayed))
    yield from _time(stats)
    if (busy := stats.get("busy_share")) is not None:
        yield note("cost.busy", share=float(busy))


def _time(stats: Mapping[str, Any]) -> Iterator[Note]:
    """The time of the run; with ``--time-budget`` the time that counted, and the time of starting."""
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
    """Notes on each pool, on the history of an extended run, and on tuning."""
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


# ------------------------------------------------------------------------------------------------ sentences


# `protocols.report.notes.Sentence` explains the forms of values, as ``{classes:to class}`` and ``{images:is/are}``.
TEXTS = {
    "run.unfinished": Text("headline", "Not finished: the run stopped at {reached}. It has no result yet."),
    "run.resume": Text("advice", "Go on with: {command}"),
    # chance
    "chance.too_few": Text(
        "warning",
        "{method}: {figure} {accuracy:percent} % {where}, where chance is {chance:percent} % ({classes:to class}). "
        "{images:n test image} {images:is/are} too few to show that any accuracy is above chance.",
    ),
    "chance.undecided": Text(
        "warning",
        "{method}: {figure} {accuracy:percent} % {where} is not significantly above chance, which is {chance:percent} % for "
        "{classes:to class} (p = {p:p}, Bonferroni over {trainings:n training}).",
    ),
    "chance.needed": Text(
        "warning",
        "{method}: {figure} {accuracy:percent} % {where} is not significantly above chance, which is {chance:percent} % for "
        "{classes:to class}. One of {trainings:n training} would need {needed} of {images:n test image} right "
        "({share:percent} %).",
    ),
    "chance.test": Text(
        "detail",
        "Chance is tested by the images right of each class after the last task, at {level:percent} % over all trainings of a "
        "method (Bonferroni). The test is conditional on these trainings and assumes that test images are drawn independently. "
        "A method that is not significantly above chance may still have learned something.",
    ),
    # means
    "mean.assumption": Text(
        "condition",
        "Intervals of means over fewer than {enough} {what} assume that no rare one lies far off (docs/mean.md).",
    ),
    "mean.looking": Text(
        "condition",
        "After --until mean, the 95 % interval of the mean holds in only 90 to 95 % of cases where accuracies have a long tail "
        "or rare outliers (docs/mean.md).",
    ),
    # cost
    "cost.unknown": Text("detail", "The run folder has no stats.json, so the cost of the run is unknown."),
    "cost.moved": Text(
        "finding",
        "{method}: training changes its features by {moved:percent} % only (median of {trainings:n training}), so it is nearly a "
        "classifier on frozen features.",
    ),
    "cost.trainings": Text("detail", "{trainings:n training} {trainings:was/were} done."),
    "cost.naive": Text(
        "detail", "Training every rollout from scratch would take {naive:n training}, {ratio:.1f} times as many."
    ),
    "cost.replayed": Text("detail", "{results:n result} came from the journal."),
    "cost.time": Text("detail", "The run took {seconds:duration} in {sessions:n session}."),
    "cost.starting": Text("detail", "Starting took {seconds:duration} more, which --time-budget does not count."),
    "cost.killed": Text("detail", "{sessions:n session} {sessions:was/were} killed; their time is unknown."),
    "cost.others": Text("detail", "The other {sessions:n session} took {seconds:duration}."),
    "cost.unclear": Text("detail", "Of {sessions:n session} some were killed, so the time of the run is unknown."),
    "cost.busy": Text("detail", "Workers were busy {share:percent} % of the time."),
    # where images and hyperparameters come from
    "pool.used": Text(
        "detail", "Pool {pool}: {used} of {classes:n class} are used, with {images:n image}, split {split}."
    ),
    "pool.grown": Text("condition", "Pool {pool} is there from task {step} on (--grow)."),
    "pool.left_out": Text("detail", "Pool {pool}: these groups are left out: {groups}."),
    "pool.changeable": Text(
        "detail",
        "Pool {pool} is known by path, size and time of its files, not by their content (seqsearch pool build mends that).",
    ),
    "run.extended": Text(
        "condition",
        "The run was extended from {lengths} tasks: no look-ahead went beyond the length that a task was chosen for.",
    ),
    "tuned.circular": Text(
        "warning",
        "Hyperparameters were tuned on the first tasks of a searched sequence (--tune-on first, the paper's way): the methods "
        "are evaluated on tasks that they were tuned on, and all tasks but the first were chosen to be hard for their defaults.",
    ),
    "tuned.outside": Text(
        "condition", "Hyperparameters were tuned on {tasks:n random task} of classes outside the run."
    ),
    "tuned.chosen": Text("detail", "Chosen for {method}: {values}. All trials are in trials.parquet."),
    # drops
    "drop.without_interval": Text("warning", "The drop of {methods} has no interval: {why}."),
}
