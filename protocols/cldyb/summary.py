"""Summary of a CLDyB run: final accuracy, retention and learning accuracy on found and on random sequences.

Headline figures come from re-scored sequences only (fresh training seeds, test images). Found and random sequences have
the same seeds. The summary appears at the end of ``seqsearch cldyb`` and in ``seqsearch show RUN``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from protocols.cldyb.compared import Evaluated, Pair, Placed, best_of, chance_of, drop_of, evaluated, pair, placed
from protocols.cldyb.images import Images, images_of
from protocols.cldyb.joint import Gap, gap_of, incomplete, joint_accuracy
from protocols.cldyb.left_out import Searched, left_out
from protocols.cldyb.preflight import measured
from protocols.cldyb.steps import Screened, Steps, screened_of, steps_of
from protocols.cldyb.surrogates import Surrogates, surrogates_of
from protocols.running.at_chance import AtChance
from protocols.running.protocol import Exported, resume_command
from protocols.running.provenance import (
    BASELINES,
    PLACEBO,
    REWARDED_ON_TEST,
    Provenance,
    biases,
    provenance,
    search_of,
)
from seqsearch.results.run import FOUND, Matrix, RunResults, read_results
from seqsearch.stats import accuracy as metrics
from seqsearch.stats.difference import FEWEST_METHODS, HeldOut
from seqsearch.stats.drop import Drop, GapDifference


@dataclass(frozen=True)
class Side:
    """A method on its found, or on the random, sequences: means over ``sequences`` and the ``seeds`` of each, as fractions.

    ``seeds``: of the sequence that has the fewest.
    ``acc_by_step`` and ``masked_by_step`` ``[T]`` are Acc_t with scores over all classes seen, and with scores restricted to the
    classes of the image's own task (empty if that is not known); ``low`` and ``high`` ``[T]`` bound Acc_t over sequences and
    seeds. ``worst`` is the lowest final Acc of a sequence, mean over seeds. ``joint``: Acc of joint training on all
    classes at once, where that was trained (``--joint``); ``gap``: that minus Acc.
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
    gap: float | None = None
    joint: float | None = None


@dataclass(frozen=True)
class MethodSummary:
    """One method, or the mean over all; what could not be computed is None, and ``Summary.troubles`` say why.

    ``footprint_mb``: what is stored beyond the backbone at the end; ``size_mb``: all parameters of the model, backbone included.
    ``elsewhere``: where each method was searched alone, mean final Acc on the sequences found for each, its own included.
    ``searched``: where each was left out of a search in turn, on those found with it; ``found`` are then those without it.
    ``gap``: the gaps to joint training and their difference. ``adjusted_p``: that found sequences are harder (easier) for this
    method by itself, adjusted for all methods.
    """

    method: str
    found: Side | None
    random: Side | None
    drop: Drop | None
    footprint_mb: float | None
    elsewhere: tuple[tuple[str, float], ...] = ()
    searched: Searched | None = None
    gap: GapDifference | None = None
    adjusted_p: float | None = None
    size_mb: float | None = None

    @property
    def robustness(self) -> float | None:
        """The lowest of ``elsewhere``: where a search failed, another method's found sequences are harder."""
        return min((acc for _, acc in self.elsewhere), default=None)


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
    ``steps``: how well searches separated candidates. ``held_out``: what being searched for costs a method (``--leave-one-out``).
    ``same``: why nothing differs, if it does not and that is known. ``placed``: the found sequences among the random ones, with
    the test that the headline rests on. ``at_chance``: methods that do not differ from chance. ``baseline``: where random
    sequences come from. ``placebo``: rewards were shuffled. ``gap``: of the methods that were trained jointly.
    ``best``: methods that may be the best on the found sequences (95 %); empty if that is not known.
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
    steps: Steps = field(default_factory=Steps)
    images: Images | None = None
    screened: Screened | None = None
    surrogates: Surrogates | None = None
    held_out: HeldOut | None = None
    same: str = ""
    placed: Placed | None = None
    at_chance: tuple[AtChance, ...] = ()
    baseline: str = "uniform"
    placebo: bool = False
    gap: Gap | None = None
    best: tuple[str, ...] = ()

    @property
    def overall(self) -> MethodSummary:
        """Return the row that the headline reports: the mean over methods, or the only method."""
        return self.mean or self.methods[0]


def read(run: Path) -> Exported:
    """See `protocols.running.protocol.Protocol.read`."""
    results = read_results(run)
    return Exported(results, summarise(run, results))


def summarise(run: Path, data: RunResults) -> Summary:
    """Compute the summary of the results of a run; of one that was stopped, how far it came.

    Raises:
        UserError: what its ``config.json`` says of pools or tuning is not as it was written.
    """
    name, origin = str(data.config.get("run_id", run.resolve().name)), provenance(data.config)
    if not data.finished:
        return _unfinished(run, name, data, origin)
    troubles = _unevaluated(data)
    one_out = data.setting("leave_one_out") is True and len(data.methods) >= FEWEST_METHODS
    pairs = [pair(data, m, troubles, data.without(m) if one_out else None) for m in data.methods]
    separate = not one_out and len({s.method_ids for m in data.methods for s in data.found(m)}) > 1
    rows = tuple(_method(data, m, p, separate) for m, p in zip(data.methods, pairs, strict=True))
    mean = _mean(rows, pairs) if len(rows) > 1 else None
    search = search_of(data.config)
    if where := placed(pairs, search.end):
        rows = tuple(replace(row, adjusted_p=p) for row, p in zip(rows, where.adjusted_p, strict=True))
    named = list(zip(data.methods, pairs, strict=True))
    troubles += incomplete(data, named)
    costs = left_out(data, pairs, troubles) if one_out else None
    if costs:
        rows = tuple(replace(row, searched=costs.by_method[row.method]) for row in rows)
        mean = replace(mean, searched=costs.mean) if mean else None
    if mean and mean.drop is None and any(p.seeds for p in pairs):
        troubles.append("No drop of the mean over methods: they were not all scored on as many sequences and seeds.")
    if data.setting("reward_split") == "test":
        troubles.append(REWARDED_ON_TEST)
    troubles += [b for b in biases(data.config) if b in (PLACEBO, *BASELINES.values())]
    return Summary(
        name,
        separate,
        rows,
        mean,
        data.stats,
        len(data.random()),
        tuple(troubles),
        origin,
        steps=steps_of(data.trace),
        images=images_of(data),
        surrogates=surrogates_of(data),
        screened=screened_of(data.trace) if any(r.get("predicted") is not None for r in data.trace) else None,
        held_out=costs.held_out if costs else None,
        same=measured(data),
        placed=where,
        at_chance=chance_of(data, pairs),
        baseline=search.baseline,
        placebo=data.setting("reward") == "shuffled",
        gap=gap_of(data, named),
        best=best_of(data.methods, pairs),
    )


def _unevaluated(data: RunResults) -> list[str]:
    """Report in one line the candidates that the search could not evaluate; empty if it evaluated all candidates."""
    lost = [r for r in data.trace if r["value"] is None and r["status"] != "ok"]
    if not lost:
        return []
    return [
        f"{len(lost)} of {len(data.trace)} candidates could not be evaluated: the found tasks are the hardest of the others. "
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


def _method(data: RunResults, method: str, compared: Pair, separate: bool) -> MethodSummary:
    scored = compared.found.flat or compared.random.flat
    stored, size = _megabytes(s.stored for s in scored), _megabytes(s.size for s in scored)
    sides = [side_of(side, joint_accuracy(data, method, side)) for side in (compared.found, compared.random)]
    elsewhere = _elsewhere(data, method) if separate else ()
    gap = gap_of(data, [(method, compared)])
    own = gap.of if gap else None
    return MethodSummary(method, sides[0], sides[1], drop_of([compared]), stored, elsewhere, gap=own, size_mb=size)


def _megabytes(sizes: Iterable[int | None]) -> float | None:
    """The mean of those that are known."""
    known = [s for s in sizes if s is not None]
    return float(np.mean(known)) / 1e6 if known else None


def _elsewhere(data: RunResults, method: str) -> tuple[tuple[str, float], ...]:
    """Mean final Acc on the sequences found for each method, where it was evaluated on all of them."""
    found = []
    for other in data.methods:
        sequences = data.found(other)
        side = evaluated(data, method, sequences, data.complete(method, sequences))
        if side.rollouts:
            found.append((other, float(side.final.mean())))
    return tuple(found)


def side_of(side: Evaluated, joint: float | None = None) -> Side | None:
    """The figures of a side, ``joint`` being the Acc of joint training; None without rollouts."""
    if not side.rollouts:
        return None
    flat = side.flat
    acc_RT = np.array([_by_step(s.accuracy) for s in flat])
    acc = np.average(acc_RT, axis=0, weights=side.weights).tolist()
    return Side(
        sequences=len(side.sequences),
        seeds=min(len(row) for row in side.rollouts),
        acc=acc[-1],
        ar=float(np.average([metrics.ar(s.accuracy) for s in flat], weights=side.weights)),
        ala=float(np.average([metrics.ala(s.accuracy) for s in flat], weights=side.weights)),
        worst=float(side.by_sequence.min()),
        acc_by_step=tuple(acc),
        masked_by_step=_masked_by_step(side),
        low=tuple(acc_RT.min(axis=0).tolist()),
        high=tuple(acc_RT.max(axis=0).tolist()),
        gap=None if joint is None else joint - acc[-1],
        joint=joint,
    )


def _mean(rows: Sequence[MethodSummary], pairs: Sequence[Pair]) -> MethodSummary:
    """The last row; its drop needs as many sequences and the same seeds of every method."""
    found, random = _mean_side([r.found for r in rows]), _mean_side([r.random for r in rows])
    return MethodSummary("mean", found, random, drop_of(pairs), None)


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
        masked_by_step=tuple(stacked("masked_by_step").mean(axis=0).tolist())
        if all(s.masked_by_step for s in there)
        else (),
        low=tuple(stacked("low").min(axis=0).tolist()),
        high=tuple(stacked("high").max(axis=0).tolist()),
        gap=None if any(s.gap is None for s in there) else float(stacked("gap").mean()),
        joint=None if any(s.joint is None for s in there) else float(stacked("joint").mean()),
    )


def _masked_by_step(side: Evaluated) -> tuple[float, ...]:
    """Mean over sequences and seeds ``[T]``; empty where a rollout has none: commands do not say it."""
    found = np.average([_by_step(s.masked) for s in side.flat], axis=0, weights=side.weights)
    return tuple(found.tolist()) if np.isfinite(found).all() else ()


def _by_step(accuracy: Matrix) -> list[float]:
    """Acc_t ``[T]``."""
    return [metrics.acc(accuracy, t) for t in range(1, len(accuracy) + 1)]
