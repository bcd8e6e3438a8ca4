"""From planners and journal to the files of a finished run."""

from __future__ import annotations

import itertools
import json
from collections import defaultdict
from collections.abc import Sequence

from protocols.plans import Plans
from protocols.report import write_report
from protocols.runs import RunFolder
from protocols.study import Study
from seqsearch.digests import digest_of
from seqsearch.files import atomic_path
from seqsearch.journal import Journal
from seqsearch.planners.given import GivenPlanner
from seqsearch.planners.mcts import CldybPlanner
from seqsearch.search import Search
from seqsearch.sequences import (
    Judged,
    Kind,
    Row,
    RunInfo,
    TaskSequence,
    TraceRow,
    Training,
    write_results,
    write_sequences,
    write_trace,
    write_trainings,
    write_trials,
)


def export(
    folder: RunFolder,
    study: Study,
    plans: Plans,
    trials: list[Row],
    journal: Journal,
    search: Search,
    busy_share: float | None,
) -> None:
    """Write ``sequences``, ``results``, ``trace`` and ``trainings.parquet``, ``stats.json`` and ``report.html``.

    ``trials``, if there were any, go to ``trials.parquet``.
    """
    searches, scorers, baseline = plans.searches, plans.scorers, plans.baseline
    classes = study.world.images.classes
    ids = study.world.class_ids(range(len(classes)))
    info = RunInfo(
        folder.config["run_id"],
        digest_of(folder.config["settings"]),
        {i: (c.name, c.group) for i, c in zip(ids, classes, strict=True)},
    )
    write_sequences(folder.path / "sequences.parquet", info, _sequences(study, searches, baseline))
    write_results(folder.path / "results.parquet", info, _judged(study, searches, scorers, baseline))
    write_trace(folder.path / "trace.parquet", info, [row for p in searches for row in _traced(p)])
    if trials:
        write_trials(folder.path / "trials.parquet", info, trials)
    trainings = _trainings(journal, search)
    write_trainings(folder.path / "trainings.parquet", info, trainings)
    _write_stats(folder, journal, search, len(trainings), busy_share)
    write_report(folder.path, *study.world.images.parts)


def _sequences(study: Study, searches: Sequence[CldybPlanner], baseline: Sequence[GivenPlanner]) -> list[TaskSequence]:
    seed = study.settings.seed
    found = [
        TaskSequence(p.name, "searched", tuple(m.label for m in p.methods), seed, tuple(p.sequence), _values(p))
        for p in searches
    ]
    labels = tuple(m.label for m in study.methods)
    drawn = [
        TaskSequence(f"random-{i}", "random", labels, seed, tasks, (None,) * len(tasks))
        for p in baseline
        for i, tasks in enumerate(p.sequences)
    ]
    return found + drawn


def _traced(planner: CldybPlanner) -> list[TraceRow]:
    numbers: dict[int, itertools.count[int]] = defaultdict(itertools.count)
    return [TraceRow(planner.name, next(numbers[j.step]), j) for j in planner.trace]


def _values(planner: CldybPlanner) -> tuple[float | None, ...]:
    """J of each chosen task; the first task was not chosen."""
    return (None, *(j.value for j in planner.trace if j.chosen))


def _judged(
    study: Study, searches: Sequence[CldybPlanner], scorers: Sequence[GivenPlanner], baseline: Sequence[GivenPlanner]
) -> list[Judged]:
    rows = []
    tags = study.weight_tags
    for p in searches:
        rows += [
            Judged(
                p.name, "searched", "search", m.label, m.digest, tags[m.backbone], p.replicate,
                study.settings.reward_split, outcome,
            )
            for m, outcome in zip(p.methods, p.outcomes, strict=True)
        ]  # fmt: skip
    names: list[tuple[GivenPlanner, list[str], Kind]] = [
        (s, [p.name for p in searches if set(p.methods) == set(s.methods)], "searched") for s in scorers
    ]
    names += [(b, [f"random-{i}" for i in range(len(b.sequences))], "random") for b in baseline]
    for scorer, sequence_ids, kind in names:
        for m in scorer.methods:
            for sequence_id, outcomes in zip(sequence_ids, scorer.outcomes[m.label], strict=True):
                rows += [
                    Judged(
                        sequence_id, kind, "rescore", m.label, m.digest, tags[m.backbone], replicate, "test", outcome
                    )
                    for replicate, outcome in zip(scorer.replicates, outcomes, strict=True)
                ]
    return rows


def _trainings(journal: Journal, search: Search) -> list[Training]:
    """One row per training that was done, in any session; a state trained twice (it had been lost) has two."""
    rows, session = [], 0
    for entry in journal.entries:
        session += entry.get("note", {}).get("session") == "begin"
        result = entry.get("edge") or entry.get("probe") or {}
        for state in result.get("trained", ()):
            edge, own = search.edges.get(state), state == result.get("state")
            if edge is None:  # of a method that has been mended since: its states are others now
                continue
            rows.append(
                Training(
                    state, edge.method.label, edge.replicate, len(edge.prefix),
                    result["train_seconds"] if own else 0.0, result["peak_memory"] if own else None,
                    json.dumps(dict(result["notes"]) if own else {}), result["worker"], session,
                )
            )  # fmt: skip
    return rows


def _write_stats(folder: RunFolder, journal: Journal, search: Search, trained: int, busy_share: float | None) -> None:
    notes = [e["note"] for e in journal.entries if "note" in e]
    ends = [n["wall_seconds"] for n in notes if n.get("session") == "end"]
    sessions = sum(n.get("session") == "begin" for n in notes)
    stats = {
        "trained": trained,
        "naive": search.counts.naive,
        "replayed": journal.replayed,
        "wall_seconds": sum(ends) if len(ends) == sessions else None,  # a killed session did not say
        "busy_share": busy_share if sessions == 1 else None,
        "sessions": sessions,
    }
    with atomic_path(folder.path / "stats.json") as temporary:
        temporary.write_text(json.dumps(stats, indent=2) + "\n")
