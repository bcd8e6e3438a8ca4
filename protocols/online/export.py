"""From the results of an online run to its files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from protocols.online.blind import baseline, swept
from protocols.online.choice import described
from protocols.online.counted import Counts, block_length, by_view, figures, held_out
from protocols.online.known import known_runs
from protocols.online.reading import OnlineResults
from protocols.online.study import OnlineStudy
from protocols.online.summary import HELD_OUT, summarise
from protocols.running.export import RunFiles, Searched
from protocols.running.protocol import Exported
from protocols.running.session import Session
from seqsearch.core.outcomes import EdgeResult
from seqsearch.core.types import MethodSpec
from seqsearch.engine.evaluator import Ledger
from seqsearch.results.rows import Row
from seqsearch.results.stream_schema import BLIND, CURVES, FIGURES, SHIFT
from seqsearch.storage.files import write_json
from seqsearch.streams.playing import Played

POINTS = 200
"""Of a curve, at most."""


def export(session: Session, study: OnlineStudy, searched: Searched | None, reached: str | None) -> Exported:
    """Write ``figures``, ``curves``, ``blind`` and ``trainings.parquet``, ``shift.json`` and ``stats.json``.

    Of a run that was stopped, having ``reached`` so and so far, it is what is known so far.
    """
    folder, journal = session.folder, session.journal
    files = RunFiles(session, {})
    found = [*_of_learners(study, journal), *_of_the_baseline(study)]
    rows = files.write(FIGURES, found)
    curves = files.write(CURVES, [*_curves(rows, len(study.played.main)), *_traces(study, journal)])
    blind = files.write(BLIND, swept(study))
    by_rule = {"by_rule": described(study.by_rule)} if study.by_rule else {}
    said = {
        **(described(study.choice) if study.choice else by_rule),
        "shift": study.shift,
        "named": study.choice is None,
    }
    write_json(folder.file(SHIFT), said)
    stats = files.costs(searched, reached)
    results = OnlineResults(folder.saved(), stats, tuple(rows), tuple(curves), tuple(blind), said)
    return Exported(results, summarise(results))


def _of_learners(study: OnlineStudy, ledger: Ledger) -> Iterator[Row]:
    for m, window, replicate, results in known_runs(study, ledger):
        ok = [r for r in results if r.status == "ok"]
        status = next((r.status for r in results if r.status != "ok"), "ok")
        if status == "ok" and len(ok) < len(study.segments(window)):
            status = "unfinished"
        if not ok:
            continue
        shared = {**_run(m, replicate, window), **_costs(study, ok), "status": status}
        evaluated = by_view(study.played, window, study.checkpoint_every, ok)
        for view, samples, unseen_by, counts in figures(study.played, window, evaluated):
            where: Row = {"judged_window": view.window, "shift": view.shift, "samples": samples, "unseen_by": unseen_by}
            yield {**shared, **where, **_counts(counts, block_length(study.played))}
        if status == "ok" and (last := list(held_out(study.played, window, study.checkpoint_every, ok))):
            where = {"judged_window": 0, "shift": HELD_OUT, "samples": "holdout", "unseen_by": 0}
            yield {**shared, **where, **_held_out(study.played, last[-1][1])}


def _run(m: MethodSpec, replicate: int, window: int) -> Row:
    return {"method_id": m.label, "config_digest": m.digest, "seed": replicate, "learned_window": window}


def _costs(study: OnlineStudy, results: Sequence[EdgeResult]) -> Row:
    counters, notes = dict(results[-1].counters), [dict(r.notes) for r in results]
    steps = min(len(results) * study.checkpoint_every, study.played.steps)
    seconds = {
        f"{name}_seconds": sum(n[f"{name}_seconds"] for n in notes)
        if all(f"{name}_seconds" in n for n in notes)
        else None
        for name in ("learning", "judging")
    }
    size = dict(results[-1].footprint).get("params")
    return {
        "steps": steps,
        "updates": counters.get("updates"),
        "spent": counters.get("spent"),
        "state_bytes": size,
        **seconds,
    }


def _counts(counts: Counts, block: int) -> Row:
    return {
        "n": int(counts.n.sum()),
        "correct": int(counts.right.sum()),
        "accuracy": counts.accuracy,
        "block": block,
        "block_n": counts.n.tolist(),
        "block_correct": counts.right.tolist(),
    }


def _held_out(played: Played, right: np.ndarray[Any, np.dtype[np.bool_]]) -> Row:
    """Blocks of the holdout have as many samples each, in order of time."""
    block = max(1, -(-len(right) // POINTS))
    of = np.arange(len(right)) // block
    return _counts(Counts(np.bincount(of), np.bincount(of, weights=right).astype(np.int64)), block)


def _of_the_baseline(study: OnlineStudy) -> Iterator[Row]:
    """The blind classifier, at each shift with the k that did best on the search part."""
    played = study.played
    for label, shift, evaluated in baseline(study):
        shared = {
            "method_id": label,
            "config_digest": "",
            "seed": 0,
            "learned_window": 0,
            "status": "ok",
            "steps": played.steps,
        }
        where = {"judged_window": 0, "shift": shift, "unseen_by": 0}
        for samples, counts in evaluated:
            yield {**shared, **where, "samples": samples, **_counts(counts, block_length(played))}


# ------------------------------------------------------------------------------------------------ curves


def _curves(rows: Sequence[Row], length: int) -> Iterator[Row]:
    """Accuracy along the stream, of all samples that were evaluated; retention along the holdout."""
    for row in rows:
        if row["samples"] not in ("all", "holdout"):
            continue
        n, right = np.array(row["block_n"]), np.array(row["block_correct"])
        ends = np.unique(np.linspace(0, len(n), min(POINTS, len(n)) + 1).round().astype(int))
        total_n, total = np.concatenate([[0], np.cumsum(n)]), np.concatenate([[0], np.cumsum(right)])
        key = {name: row[name] for name in ("method_id", "seed", "learned_window", "judged_window", "shift")}
        measure = "retention" if row["shift"] == HELD_OUT else "accuracy"
        last = length if row["shift"] != HELD_OUT else row["n"]
        for first, end in pairwise(ends.tolist()):
            if total_n[end] > total_n[first]:
                yield {
                    **key,
                    "measure": measure,
                    "position": min(int(end * row["block"]), last),
                    "accuracy": total[end] / total_n[end],
                    "window_accuracy": (total[end] - total[first]) / (total_n[end] - total_n[first]),
                }


def _traces(study: OnlineStudy, ledger: Ledger) -> Iterator[Row]:
    """Retention of the models on the way, where it was asked for."""
    if not study.settings.trace:
        return
    for m, window, replicate, results in known_runs(study, ledger):
        for steps, right in held_out(study.played, window, study.checkpoint_every, results):
            key = {
                "method_id": m.label,
                "seed": replicate,
                "learned_window": window,
                "judged_window": 0,
                "shift": HELD_OUT,
            }
            accuracy = float(right.mean())
            position = min(steps * study.played.playing.batch, len(study.played.main))
            yield {**key, "measure": "trace", "position": position, "accuracy": accuracy, "window_accuracy": None}
