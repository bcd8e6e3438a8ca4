"""Summary of a score run: each method on found sequences, against random ones.

It also reports whether found sequences are hard for methods that they were not searched for. It compares the ranking of
methods with that on sequences of a pool that no search used.

The figures are those of Figs. 2 and 8 and Table 1 of "CLDyB: Towards Dynamic Benchmarking for Continual Learning with
Pre-trained Models".
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from protocols.cldyb.compared import Pair, Placed, best_of, drop_of, enough, pair, placed
from protocols.cldyb.joint import Gap, gap_of, incomplete
from protocols.cldyb.preflight import SHARED
from protocols.cldyb.summary import Side, side_of
from protocols.evaluate.score.agreement import Agreement, agreements
from protocols.evaluate.score.compared import Compared, compared_on_found, evaluated_on
from protocols.evaluate.score.origin import Origin
from protocols.running.at_chance import AtChance, at_chance
from protocols.running.protocol import Exported, resume_command
from protocols.running.provenance import search_of
from seqsearch.core.text import counted
from seqsearch.planners.replicates import ORDERS, SCORING
from seqsearch.results.joint import joint_rollout
from seqsearch.results.rows import TaskSequence
from seqsearch.results.run import FOUND, RunResults, read_results
from seqsearch.stats.accuracy import acc
from seqsearch.stats.drop import Drop, GapDifference

IN_WORDS = {"searched": "found sequences", "heldout": "sequences of the held-out pool"}
"""Kinds of sequences that are not called by their names."""


@dataclass(frozen=True)
class MethodScore:
    """A method's figures; None where it was not evaluated, or not to its end.

    Attributes:
        taken_over: its results are those of the source.
        searched, unseen: on the found sequences that were, and were not, searched with it.
        searched_drop, unseen_drop: from random sequences to these; None where they were searched with different methods.
        searched_gap, unseen_gap: the gaps to joint training on both.
        given: on sequences of a file, or hard and easy ones, by kind.
        bound: accuracy of joint training (one training, the best of three learners), by kind of sequence.
        searched_adjusted_p, unseen_adjusted_p: that both are harder (easier) for it by itself, adjusted for all methods.
        over_mean: what it has more than the nearest class mean of frozen features, by kind of sequence.
    """

    method: str
    taken_over: bool
    searched: Side | None
    unseen: Side | None
    searched_drop: Drop | None
    unseen_drop: Drop | None
    sides: Mapping[str, Side]
    bound: Mapping[str, float]
    over_mean: Mapping[str, float]
    searched_gap: GapDifference | None = None
    unseen_gap: GapDifference | None = None
    searched_adjusted_p: float | None = None
    unseen_adjusted_p: float | None = None


@dataclass(frozen=True)
class TaskScore:
    """A task of a found or given sequence: final accuracy of each method (mean over seeds), of joint training, and of the nearest
    class mean of frozen features."""

    sequence: str
    step: int
    classes: int
    accuracy: Mapping[str, float]
    bound: Mapping[str, float]
    mean: Mapping[str, float]


@dataclass(frozen=True)
class ScoreSummary:
    """``transfer``: drops by (methods that a sequence was searched with, method evaluated), where there are several such groups.

    ``searched_drop``, ``unseen_drop``: of the mean over the methods that have one; ``searched_placed``, ``unseen_placed``: the
    found sequences among the random ones, with the test of the headline; ``searched_gap``, ``unseen_gap``: of the methods that
    were trained jointly; ``searched_best``, ``unseen_best``: methods that may be the best (95 %); ``searched_groups``,
    ``unseen_groups``: groups of methods whose sequences they speak of. ``shared_first``: found and random sequences begin with
    one task. ``known``: rollouts that the source had, by method. ``reached`` is empty of a finished run. ``same``: why found
    and random sequences do not differ, if all are one and the same task. ``baseline``: where random sequences come from.
    ``at_chance``: methods that are at chance, by kind of sequence.
    """

    run: str
    source: str
    methods: tuple[MethodScore, ...]
    searched_drop: Drop | None
    unseen_drop: Drop | None
    transfer: Mapping[tuple[str, str], Drop | None]
    tasks: tuple[TaskScore, ...]
    agreement: tuple[Agreement, ...]
    troubles: tuple[str, ...]
    stats: dict[str, Any] | None
    reached: str = ""
    resume: str = ""
    searched_groups: int = 0
    unseen_groups: int = 0
    shared_first: bool = True
    known: Mapping[str, int] = field(default_factory=dict)
    same: str = ""
    at_chance: tuple[AtChance, ...] = ()
    searched_placed: Placed | None = None
    unseen_placed: Placed | None = None
    baseline: str = "uniform"
    searched_gap: Gap | None = None
    unseen_gap: Gap | None = None
    searched_best: tuple[str, ...] = ()
    unseen_best: tuple[str, ...] = ()


def read(run: Path) -> Exported:
    """See `protocols.running.protocol.Protocol.read`."""
    results = read_results(run)
    return Exported(results, summarise(run, results))


def summarise(run: Path, data: RunResults) -> ScoreSummary:
    """Compute the summary of the results of a run; of one that was stopped, how far it came.

    Raises:
        UserError: what its ``config.json`` says of references is not as it was written.
    """
    name, source = str(data.config.get("run_id", run.resolve().name)), str(data.setting("source") or "")
    if not data.finished:
        reached = str((data.stats or {}).get("reached") or "unknown")
        resume = resume_command(run, data.config.get("protocol"))
        return ScoreSummary(name, source, (), None, None, {}, (), (), (), data.stats, reached, resume)
    origin, whole, data = Origin.of(run, data.config), data, _scoring(data)
    there, one = {m for _, m, _ in whole.rollouts}, _one_task(data)
    labels = [m for m in data.methods if m in there and m not in origin.references]
    troubles = _fewer_random(whole, data)
    compared = {m: tuple(compared_on_found(data, m, troubles, own) for own in (True, False)) for m in labels}
    scored = tuple(_method(whole, m, compared[m], origin, troubles) for m in labels)
    named = [_paired(compared, i) for i in (0, 1)]
    pairs = [[p for _, p in of] for of in named]
    drops = [_of_mean(of, troubles) for of in pairs]
    search = search_of(data.config)
    places = [placed(of, search.end) if of else None for of in pairs]
    troubles += incomplete(data, [*named[0], *named[1]])
    return ScoreSummary(
        name,
        source,
        _adjusted(scored, named, places),
        drops[0],
        drops[1],
        {} if one else _transfer(data, labels),
        _tasks(whole, labels, origin),
        agreements(data, labels),
        tuple(dict.fromkeys((*troubles, *origin.remarks))),
        data.stats,
        unseen_groups=len({c.group for _, c in compared.values() if c}),
        searched_groups=len({c.group for c, _ in compared.values() if c}),
        shared_first=len({s.tasks[0] for s in data.sequences if s.kind in (*FOUND, "random")}) < 2,
        known=origin.known,
        same=SHARED if one else "",
        at_chance=_at_chance(whole, labels),
        searched_placed=places[0],
        unseen_placed=places[1],
        baseline=search.baseline,
        searched_gap=gap_of(data, named[0]),
        unseen_gap=gap_of(data, named[1]),
        searched_best=best_of([m for m, _ in named[0]], pairs[0]),
        unseen_best=best_of([m for m, _ in named[1]], pairs[1]),
    )


def _fewer_random(whole: RunResults, data: RunResults) -> list[str]:
    """That drops are from some of the random sequences, if they are."""
    there, used = len(whole.random()), len(data.random())
    if not there > used > 0:
        return []
    return [f"Drops are from {used} of {there} random sequences: those that were trained with the found ones' seeds."]


def _paired(compared: Mapping[str, tuple[Compared | None, ...]], i: int) -> list[tuple[str, Pair]]:
    """Methods with a comparison on the sequences that were searched with them (0), or on the others (1)."""
    return [(m, c.pair) for m, both in compared.items() if (c := both[i]) and c.pair and c.pair.seeds]


def _adjusted(
    rows: Sequence[MethodScore], named: Sequence[Sequence[tuple[str, Pair]]], places: Sequence[Placed | None]
) -> tuple[MethodScore, ...]:
    """The rows with their adjusted p on the sequences that were searched with them, and on the others."""
    searched, unseen = (
        {m: p for (m, _), p in zip(of, where.adjusted_p, strict=True)} if where else {}
        for of, where in zip(named, places, strict=True)
    )
    return tuple(
        replace(r, searched_adjusted_p=searched.get(r.method), unseen_adjusted_p=unseen.get(r.method)) for r in rows
    )


def _at_chance(data: RunResults, labels: Sequence[str]) -> tuple[AtChance, ...]:
    """By kind of sequence, on those that a method was evaluated on to the end."""
    kinds: dict[str, list[TaskSequence]] = {}
    for s in data.sequences:
        if s.kind != "joint":
            kinds.setdefault(IN_WORDS.get(s.kind, f"{s.kind} sequences"), []).append(s)
    asked = [(m, words, evaluated_on(data, m, some).flat) for m in labels for words, some in kinds.items()]
    return tuple(a for m, words, ended in asked if (a := at_chance(m, f"on {words}", ended)))


def _one_task(data: RunResults) -> bool:
    """Whether found and random sequences are one task, the same in all."""
    held = {s.tasks for s in data.sequences if s.kind in (*FOUND, "random")}
    return len(held) == 1 and len(held.pop()) == 1


def _of_mean(pairs: Sequence[Pair], troubles: list[str]) -> Drop | None:
    """The drop of the mean over methods."""
    found = drop_of(pairs) if pairs else None
    if pairs and found is None:
        troubles.append("No drop of the mean over methods: they were not all evaluated on as many sequences and seeds.")
    return found


def _scoring(data: RunResults) -> RunResults:
    """The results with seeds that several sequences share; random orders with a seed of their own alone cannot be paired."""
    rollouts = {key: r for key, r in data.rollouts.items() if key[2] < ORDERS}
    evaluated = {name for name, _, _ in rollouts}
    sequences = tuple(s for s in data.sequences if s.kind != "random" or s.sequence_id in evaluated)
    return replace(data, rollouts=rollouts, seeds=tuple(r for r in data.seeds if r < ORDERS), sequences=sequences)


def _method(
    data: RunResults, method: str, compared: tuple[Compared | None, ...], origin: Origin, troubles: list[str]
) -> MethodScore:
    sides: dict[str, Side] = {}
    bounds: dict[str, float] = {}
    over: dict[str, float] = {}
    mean, bound = origin.by_backbone.get(origin.backbones.get(method, ""), ("", ""))
    for kind in dict.fromkeys(s.kind for s in data.sequences if s.kind != "joint"):
        sequences = [s for s in data.sequences if s.kind == kind]
        side = evaluated_on(data, method, sequences)
        rest = {s.sequence_id for s in sequences if s not in side.sequences}
        begun = {name for name, label, _ in data.rollouts if label == method and name in rest}
        given = enough(len(side.sequences), len(side.sequences) + len(begun))
        if begun:
            troubles.append(_left_out(data, method, kind, begun, given))
        if (figures := side_of(side)) is None or not given:
            continue
        sides[kind] = figures
        joint = [joint_rollout(data, s, bound, SCORING) for s in side.sequences]
        if all(j is not None for j in joint):
            bounds[kind] = float(np.mean([acc(j.accuracy) for j in joint if j is not None]))
        elif bound:
            troubles.append(f"{bound} was not evaluated on all {kind} sequences: no bound for them.")
        frozen = [data.rollouts.get((s.sequence_id, mean, SCORING)) for s in side.sequences]
        if all(f is not None and f.complete for f in frozen):
            over[kind] = figures.acc - float(np.mean([acc(f.accuracy) for f in frozen if f is not None]))
    both = [(side_of(c.found), c.drop, c.gap(data, method)) if c else (None, None, None) for c in compared]
    searched, unseen = both
    return MethodScore(
        method,
        method in origin.taken_over,
        searched[0],
        unseen[0],
        searched[1],
        unseen[1],
        sides,
        bounds,
        over,
        searched[2],
        unseen[2],
    )


def _left_out(data: RunResults, method: str, kind: str, begun: Collection[str], given: bool) -> str:
    """Report the sequences that a method began and did not complete, with the statuses at which it stopped.

    ``given``: whether the mean over the others is given.
    """
    ends = {r.status for (name, label, _), r in data.rollouts.items() if label == method and name in begun}
    how = ", ".join(sorted(ends - {"ok"}) or ["not finished"])
    said = f"{method}: {counted(len(begun), f'{kind} sequence')} left out, not evaluated to their end ({how})"
    return f"{said}." if given else f"{said}, so no mean is given."


def _transfer(data: RunResults, labels: Sequence[str]) -> dict[tuple[str, str], Drop | None]:
    found = [s for s in data.sequences if s.kind in FOUND]
    groups = list(dict.fromkeys(s.method_ids for s in found))
    if len(groups) < 2:
        return {}
    return {
        (", ".join(group), m): drop_of([pair(data, m, [], [s for s in found if s.method_ids == group])])
        for group in groups
        for m in labels
    }


def _tasks(data: RunResults, labels: Sequence[str], origin: Origin) -> tuple[TaskScore, ...]:
    scores = []
    for s in data.sequences:
        if s.kind not in (*FOUND, "given"):
            continue
        sides = {m: evaluated_on(data, m, [s]) for m in labels}
        final = {m: np.mean([r.accuracy[-1] for r in side.flat], axis=0) for m, side in sides.items() if side.rollouts}
        bounds = {b: joint_rollout(data, s, bound, SCORING) for b, (_, bound) in origin.by_backbone.items()}
        means = {b: data.rollouts.get((s.sequence_id, mean, SCORING)) for b, (mean, _) in origin.by_backbone.items()}
        for i, task in enumerate(s.tasks):
            scores.append(
                TaskScore(
                    s.sequence_id,
                    i + 1,
                    len(task.classes),
                    {m: float(a[i]) for m, a in final.items()},
                    {b: float(j.accuracy[-1, i]) for b, j in bounds.items() if j is not None},
                    {b: float(r.accuracy[-1, i]) for b, r in means.items() if r is not None and r.complete},
                )
            )
    return tuple(scores)
