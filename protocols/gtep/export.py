"""From the trials of a GTEP run to its files."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from protocols.gtep.cells import cells, table_rows
from protocols.gtep.near_duplicates import near_duplicate_rows
from protocols.gtep.plans import Plans
from protocols.gtep.reading import GtepResults
from protocols.gtep.scenario import Phase, sequence_id
from protocols.gtep.spaces import SCHEMA
from protocols.gtep.summary import summarise
from protocols.gtep.sweep import Sweep, Tried, curves, passes
from protocols.running.export import RunFiles, classes_of
from protocols.running.protocol import Exported
from protocols.running.session import Session
from seqsearch.core.outcomes import EdgeResult
from seqsearch.core.text import shortened
from seqsearch.core.types import ClassId, Rollout
from seqsearch.engine.search import outcome
from seqsearch.engine.trials import LONGEST_MESSAGE
from seqsearch.results.rows import EvaluatedRollout, Row, TaskSequence, finite
from seqsearch.results.schema import CHOSEN, NEAR_DUPLICATES, TABLE, TRIALS
from seqsearch.storage.files import atomic_file
from seqsearch.storage.inside import Inside


def export(session: Session, run: Plans, reached: str | None) -> Exported:
    """Write ``sequences``, ``results``, ``trials``, ``table`` and ``trainings.parquet``, ``chosen.yaml`` and ``stats.json``.

    Of a run that was stopped, having ``reached`` so and so far, it is what is known so far.
    """
    folder, files = session.folder, RunFiles(session, classes_of(run.study.world))
    sequences = files.sequences(list(_sequences(run)))
    results = files.results(_rollouts(run))
    trials = files.write(TRIALS, list(_trial_rows(run)))
    _write_chosen(run, folder.path)
    near_duplicates = files.write(NEAR_DUPLICATES, near_duplicate_rows(run)) if run.near_duplicates else []
    stats = files.costs(run, reached)
    found = GtepResults(
        folder.saved(), stats, tuple(sequences), tuple(results), tuple(trials), near_duplicates=tuple(near_duplicates)
    )
    files.write(TABLE, table_rows(cells(found)))
    return Exported(found, summarise(found))


def _sequences(run: Plans) -> Iterator[TaskSequence]:
    study, labels = run.study, tuple(m.label for m in run.study.methods)
    asked: list[tuple[Phase, int | None, int]] = []
    for number in dict.fromkeys(n for _, n in run.sweeps):
        asked.append(("tune", number, study.gtep.orders))
    for j in run.evaluated:
        asked.append(("judge" if j.side is not None else "fresh", j.side, study.gtep.evaluated_orders))
    for phase, side, count in dict.fromkeys(asked):
        pool = study.tuned_on if side is None else study.evaluated_on[side]
        for n in range(count):
            tasks = study.scenario.order(study.world, pool, phase, study.world.seed, n)
            name, values = sequence_id(phase, side, n), (None,) * len(tasks)
            yield TaskSequence(name, "random", labels, study.world.seed, tasks, values, _shared(run, phase, side))


def _shared(run: Plans, phase: Phase, side: int | None) -> frozenset[ClassId] | None:
    """Classes that a pool which evaluates shares with the one tuned on; None if there are none."""
    found = run.study.shared[side] if phase == "judge" and side is not None else frozenset[int]()
    return frozenset(run.study.world.class_ids(sorted(found))) if found else None


def _rollouts(run: Plans) -> Iterator[EvaluatedRollout]:
    for (_, side), sweep in run.sweeps.items():
        for tried in sweep.tried.values():
            for n, rollout in enumerate(tried.rollouts):
                yield from _evaluated(run, rollout, sequence_id("tune", side, n), tried.setting.spec.label, "search")
    for j in run.evaluated:
        for n, rollout in enumerate(j.rollouts):
            name = sequence_id("fresh" if j.side is None else "judge", j.side, n)
            yield from _evaluated(run, rollout, name, j.label, "rescore")


def _evaluated(run: Plans, rollout: Rollout, name: str, label: str, role: Any) -> Iterator[EvaluatedRollout]:
    results = run.known.results(rollout)
    if not results:
        return
    spec, whole = rollout.key.method, Rollout(rollout.key.after(len(results)), rollout.judged)
    yield EvaluatedRollout(
        name,
        "random",
        role,
        label,
        spec.digest,
        run.study.weight_tags[spec.backbone],
        rollout.key.replicate,
        rollout.judged,
        outcome(whole, results),
        role == "rescore",
    )


def _trial_rows(run: Plans) -> Iterator[Row]:
    for (label, side), sweep in run.sweeps.items():
        chosen = run.chosen.get((label, side))
        pool = run.study.tuned_on if side is None else run.study.evaluated_on[side]
        begun = {n: t for n, t in sweep.tried.items() if any(run.known.results(r) for r in t.rollouts)}
        for number, tried in sorted(begun.items()):
            won = chosen is not None and chosen.setting is not None and chosen.setting.number == number
            yield {
                **_of_trial(run, sweep, tried),
                "pool": pool.text,
                "method_id": label,
                "trial": number,
                "chosen": won,
            }


def _of_trial(run: Plans, sweep: Sweep, tried: Tried) -> Row:
    known, statuses = [run.known.results(r) for r in tried.rollouts], run.statuses(tried.rollouts)
    found = curves(run.known, tried.rollouts)
    whole = found.shape[1] == len(run.study.scenario.sizes)
    return {
        "config_digest": tried.setting.spec.digest,
        "params": json.dumps(dict(tried.setting.added), sort_keys=True),
        "accuracy": finite(float(found[:, -1].mean())) if whole else None,
        "average_accuracy": finite(float(found.mean())),
        "harmonic_mean": finite(sweep.score(tried)),
        "status": next((s for s in statuses if s != "ok"), "ok"),
        "message": _why(tried, known),
        "train_seconds": float(sum(r.train_seconds for results in known for r in results)),
        "trainings": sum(map(len, known)),
        "tasks": min((sum(r.status == "ok" for r in results) for results in known), default=0),
        "passes": passes(run.known, tried.rollouts),
    }


def _why(tried: Tried, known: Sequence[Sequence[EdgeResult]]) -> str | None:
    """Where the first order that did not end well stopped, and why; None if all did."""
    for name, found in zip(tried.orders, known, strict=True):
        if found and found[-1].status != "ok":
            return f"order {name}, task {len(found)}: {shortened(found[-1].message, LONGEST_MESSAGE)}"
    return None


def _write_chosen(run: Plans, folder: Path) -> None:
    """Parameters that were chosen, as ``--params`` reads them."""
    params: dict[str, Mapping[str, Any]] = {
        label: {**dict(chosen.setting.method.params), **chosen.setting.added}
        for (label, side), chosen in run.chosen.items()
        if side is None and chosen.setting is not None
    }
    content = {"schema": SCHEMA, "methods": {label: dict(p) for label, p in params.items()}}
    with atomic_file(Inside(folder), CHOSEN) as file:
        file.write(yaml.safe_dump(content, sort_keys=False).encode())
