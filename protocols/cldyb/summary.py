"""What a run found, in figures: final accuracy, retention and learning accuracy on found and on random sequences.

Headline figures come from re-scored sequences only (fresh training seeds, test images), with the same seeds for found
and random ones. Shown at the end of ``seqsearch cldyb`` and by ``seqsearch show RUN``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from protocols.running.protocol import resume_command
from protocols.running.provenance import Provenance, provenance
from seqsearch.metrics import accuracy as metrics
from seqsearch.metrics.drop import Drop, bootstrap_drop
from seqsearch.results.rows import TaskSequence
from seqsearch.results.run import FOUND, Matrix, RunResults, Scored


@dataclass(frozen=True)
class Side:
    """A method on its found, or on the random, sequences: means over ``sequences`` and ``seeds``, as fractions.

    ``acc_by_step`` and ``masked_by_step`` ``[T]`` are Acc_t with scores over all classes seen, and with scores
    restricted to the classes of the image's own task; ``low`` and ``high`` ``[T]`` bound Acc_t over sequences and
    seeds. ``worst`` is the lowest final Acc of a sequence, mean over seeds.
    """

    sequences: int
    seeds: int
    acc: float
    ar: float
    ala: float
    worst: float
    acc_by_step: tuple[float, ...]
    masked_by_step: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]


@dataclass(frozen=True)
class MethodSummary:
    """One method, or the mean over all; what could not be computed is None, and ``Summary.troubles`` say why."""

    method: str
    found: Side | None
    random: Side | None
    drop: Drop | None
    footprint_mb: float | None


@dataclass(frozen=True)
class Progress:
    """How far an unfinished run came: tasks decided of each search, of ``tasks``, rollouts scored; ``resume`` continues it."""

    reached: str
    decided: tuple[tuple[str, int], ...]
    tasks: int
    scored: int
    resume: str


@dataclass(frozen=True)
class Summary:
    """A run in figures.

    ``separate``: each method was searched alone, so that ``found.acc`` is its robustness. ``mean`` is the mean over
    methods, None if there is one only. ``stats`` are the counts of ``stats.json``. ``troubles`` say what is missing, or biased.
    Nothing is claimed of a run that is not finished, so that its methods have no figures: ``unfinished`` says how far it came.
    """

    run: str
    separate: bool
    methods: tuple[MethodSummary, ...]
    mean: MethodSummary | None
    stats: dict[str, Any] | None
    random_sequences: int
    troubles: tuple[str, ...]
    provenance: Provenance
    unfinished: Progress | None = None

    @property
    def overall(self) -> MethodSummary:
        """What the headline speaks of."""
        return self.mean or self.methods[0]


def summarise(run: Path, data: RunResults) -> Summary:
    """Compute the summary of the results of a run; of one that was stopped, how far it came.

    Raises:
        UserError: what its ``config.json`` says of pools or tuning is not as it was written.
    """
    name, origin = str(data.config.get("run_id", run.resolve().name)), provenance(data.config)
    if not data.finished:
        return _unfinished(run, name, data, origin)
    troubles = _unjudged(data)
    pairs = [_pair(data, m, troubles) for m in data.methods]
    rows = tuple(_method(m, pair) for m, pair in zip(data.methods, pairs, strict=True))
    mean = _mean(rows, pairs) if len(rows) > 1 else None
    if mean and mean.drop is None and any(p.seeds for p in pairs):
        troubles.append("No drop of the mean over methods: they were not all scored on as many sequences and seeds.")
    if data.setting("reward_split") == "test":
        troubles.append(
            "The search was rewarded on the test images that it is scored on (--reward-split test): biased."
        )
    separate = len({s.method_ids for m in data.methods for s in data.found(m)}) > 1
    return Summary(name, separate, rows, mean, data.stats, len(data.random()), tuple(troubles), origin)


def _unjudged(data: RunResults) -> list[str]:
    """What the search could not judge, in a line; none if it judged all that it looked at."""
    lost = [r for r in data.trace if r["value"] is None and r["status"] != "ok"]
    if not lost:
        return []
    return [
        f"{len(lost)} of {len(data.trace)} candidates could not be judged: the found tasks are the hardest of the others. "
        f"The first, of step {lost[0]['step']}: {lost[0]['status']}."
    ]


def _unfinished(run: Path, name: str, data: RunResults, origin: Provenance) -> Summary:
    searched = [s for s in data.sequences if s.kind in FOUND]
    steps = data.setting("tasks")
    progress = Progress(
        reached=str((data.stats or {}).get("reached") or "unknown"),
        decided=tuple((s.sequence_id, len(s.tasks)) for s in searched),
        tasks=steps,
        scored=sum(r.complete and len(r.accuracy) == steps for r in data.rollouts.values()),
        resume=resume_command(run, data.config.get("protocol")),
    )
    rows = tuple(MethodSummary(m, None, None, None, None) for m in data.methods)
    separate = len({s.method_ids for s in searched}) > 1
    return Summary(name, separate, rows, None, data.stats, len(data.random()), (), origin, progress)


# ------------------------------------------------------------------------------------------------ figures


FEWEST = 3
"""Random sequences below which none is left out; training seeds are, instead."""


@dataclass(frozen=True, eq=False)
class _Pair:
    """Complete rollouts ``[sequences][seeds]`` of one method, on the same ``seeds`` wherever both sides have some."""

    found: list[list[Scored]]
    random: list[list[Scored]]
    seeds: tuple[int, ...]
    """Training seeds that both sides have in full; empty when they cannot be compared."""


def _pair(data: RunResults, method: str, troubles: list[str]) -> _Pair:
    found, random = data.found(method), data.random()
    whole = [s for s in random if data.complete(method, [s]) == set(data.seeds)]
    if len(whole) < len(random) and len(whole) >= FEWEST:
        troubles.append(f"{method}: {len(random) - len(whole)} random sequence(s) left out, not judged to their end.")
        random = whole
    seeds_found, seeds_random = data.complete(method, found), data.complete(method, random)
    both = seeds_found & seeds_random
    lost = _lost(data, method, [*found, *random]) if found else "no sequence was found for it"
    if lost:
        rest = f"compared on the {len(both)} training seed(s) that are complete" if both else "so no drop is given"
        troubles.append(f"{method}: {lost}; {rest}.")

    def pick(sequences: list[TaskSequence], seeds: set[int]) -> list[list[Scored]]:
        chosen = sorted(both or seeds)
        return [[data.rollouts[s.sequence_id, method, r] for r in chosen] for s in sequences] if chosen else []

    return _Pair(pick(found, seeds_found), pick(random, seeds_random), tuple(sorted(both)))


def _lost(data: RunResults, method: str, sequences: Sequence[TaskSequence]) -> str:
    """What is missing of a method's re-scoring, in words; empty if nothing is."""
    if not data.seeds:
        return "nothing was re-scored (interrupted?)"
    got = [data.rollouts.get((s.sequence_id, method, r)) for s in sequences for r in data.seeds]
    missing, bad = sum(g is None for g in got), [g.status for g in got if g is not None and not g.complete]
    parts = [f"{missing} of {len(got)} re-scored rollouts are missing (interrupted?)"] if missing else []
    if bad:
        parts.append(f"{len(bad)} of {len(got)} re-scored rollouts did not end well ({', '.join(sorted(set(bad)))})")
    return " and ".join(parts)


def _method(method: str, pair: _Pair) -> MethodSummary:
    sizes = [s.footprint for row in (pair.found or pair.random) for s in row if s.footprint is not None]
    drop = bootstrap_drop(_final(pair.found), _final(pair.random)) if pair.seeds else None
    footprint = float(np.mean(sizes)) / 1e6 if sizes else None
    return MethodSummary(method, _side(pair.found), _side(pair.random), drop, footprint)


def _side(rollouts: list[list[Scored]]) -> Side | None:
    if not rollouts:
        return None
    flat = [s for row in rollouts for s in row]
    acc_RT = np.array([_by_step(s.accuracy) for s in flat])
    acc = acc_RT.mean(axis=0).tolist()
    return Side(
        sequences=len(rollouts),
        seeds=len(rollouts[0]),
        acc=acc[-1],
        ar=float(np.mean([metrics.ar(s.accuracy) for s in flat])),
        ala=float(np.mean([metrics.ala(s.accuracy) for s in flat])),
        worst=float(_final(rollouts).mean(axis=1).min()),
        acc_by_step=tuple(acc),
        masked_by_step=tuple(np.mean([_by_step(s.masked) for s in flat], axis=0).tolist()),
        low=tuple(acc_RT.min(axis=0).tolist()),
        high=tuple(acc_RT.max(axis=0).tolist()),
    )


def _mean(rows: Sequence[MethodSummary], pairs: Sequence[_Pair]) -> MethodSummary:
    """The last row; its drop needs as many sequences and the same seeds of every method (joint bootstrap)."""
    shapes = {(len(p.found), len(p.random), p.seeds) for p in pairs}
    drop = None
    if len(shapes) == 1 and pairs[0].seeds:
        drop = bootstrap_drop([_final(p.found) for p in pairs], [_final(p.random) for p in pairs])
    found, random = _mean_side([r.found for r in rows]), _mean_side([r.random for r in rows])
    return MethodSummary("mean", found, random, drop, None)


def _mean_side(sides: Sequence[Side | None]) -> Side | None:
    """Mean over methods; None unless every method has its figures. ``low`` to ``high`` span all methods."""
    there = [s for s in sides if s is not None]
    if len(there) < len(sides):
        return None

    def stacked(name: str) -> Matrix:
        return np.array([getattr(s, name) for s in there])

    return Side(
        sequences=min(s.sequences for s in there),
        seeds=min(s.seeds for s in there),
        acc=float(stacked("acc").mean()),
        ar=float(stacked("ar").mean()),
        ala=float(stacked("ala").mean()),
        worst=float(stacked("worst").min()),
        acc_by_step=tuple(stacked("acc_by_step").mean(axis=0).tolist()),
        masked_by_step=tuple(stacked("masked_by_step").mean(axis=0).tolist()),
        low=tuple(stacked("low").min(axis=0).tolist()),
        high=tuple(stacked("high").max(axis=0).tolist()),
    )


def _final(rollouts: list[list[Scored]]) -> Matrix:
    """Final Acc ``[sequences, seeds]``."""
    return np.array([[metrics.acc(s.accuracy) for s in row] for row in rollouts])


def _by_step(accuracy: Matrix) -> list[float]:
    """Acc_t ``[T]``."""
    return [metrics.acc(accuracy, t) for t in range(1, len(accuracy) + 1)]
