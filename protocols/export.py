"""From planners and journal to the files of a run."""

from __future__ import annotations

import itertools
import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from protocols.plans import Plans
from protocols.report import write_report
from protocols.runs import RunFolder, write_json
from protocols.study import Study
from seqsearch.digests import digest_of
from seqsearch.journal import Journal
from seqsearch.planners.given import GivenPlanner
from seqsearch.planners.mcts import CldybPlanner
from seqsearch.search import Search, outcome
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
from seqsearch.types import Outcome, Prefix, Rollout


def export(
    folder: RunFolder,
    study: Study,
    plans: Plans,
    trials: list[Row],
    journal: Journal,
    search: Search,
    busy_share: float | None,
    reached: str | None = None,
) -> None:
    """Write ``sequences``, ``results``, ``trace`` and ``trainings.parquet``, ``stats.json`` and ``report.html``.

    ``trials``, if there were any, go to ``trials.parquet``. Of a run that was stopped, having ``reached`` so and so far, it is
    what is known so far, and there is no report: that is what marks a finished run.
    """
    searches, baseline = plans.searches, plans.baseline
    classes = study.world.images.classes
    ids = study.world.class_ids(range(len(classes)))
    info = RunInfo(
        folder.config["run_id"],
        digest_of(folder.config["settings"]),
        {i: (c.name, c.group) for i, c in zip(ids, classes, strict=True)},
    )
    write_sequences(folder.path / "sequences.parquet", info, _sequences(study, searches, baseline))
    write_results(folder.path / "results.parquet", info, _judged(study, plans, journal))
    write_trace(folder.path / "trace.parquet", info, [row for p in searches for row in _traced(p)])
    if trials:
        write_trials(folder.path / "trials.parquet", info, trials)
    trainings = _trainings(journal, search)
    write_trainings(folder.path / "trainings.parquet", info, trainings)
    _write_stats(folder, journal, search, len(trainings), busy_share, reached)
    if reached is None:
        write_report(folder.path, *study.world.images.parts)


def exported(folder: Path) -> list[Path]:
    """The files of a run that are worth taking along; its journal, states and locks stay."""
    return sorted(
        p for p in folder.iterdir() if p.suffix in (".parquet", ".html") or p.name in ("config.json", "stats.json")
    )


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


def _judged(study: Study, plans: Plans, journal: Journal) -> list[Judged]:
    tags = study.weight_tags
    rows = [
        Judged(
            p.name, "searched", "search", m.label, m.digest, tags[m.backbone], p.replicate, study.settings.reward_split,
            found,
        )
        for p in plans.searches
        for m, found in zip(p.methods, p.outcomes, strict=False)  # none yet if it was stopped at its first task
    ]  # fmt: skip
    scored: list[tuple[GivenPlanner, Kind, list[tuple[str, Prefix]]]] = [
        (s, "searched", [(p.name, tuple(p.sequence)) for p in plans.searches if set(p.methods) == set(s.methods)])
        for s in plans.scorers
    ]
    scored += [(b, "random", [(f"random-{i}", tasks) for i, tasks in enumerate(b.sequences)]) for b in plans.baseline]
    for scorer, kind, sequences in scored:
        for m, (sequence_id, tasks), r in itertools.product(scorer.methods, sequences, scorer.replicates):
            if judged := known(journal, Rollout(m, study.settings.seed, r, tasks, "test")):
                rows.append(
                    Judged(sequence_id, kind, "rescore", m.label, m.digest, tags[m.backbone], r, "test", judged)
                )
    return rows


def known(journal: Journal, rollout: Rollout) -> Outcome | None:
    """A rollout as far as it has been judged; None if not even its first task has been."""
    results = []
    for edge in rollout.edges():
        result = journal.edge(edge.digest)
        if result is None:
            break
        results.append(result)
        if result.status != "ok":
            return outcome(rollout, results)
    return outcome(replace(rollout, tasks=rollout.tasks[: len(results)]), results) if results else None


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
                    result.get("origin", "") if own else "",
                )
            )  # fmt: skip
    return rows


def _write_stats(
    folder: RunFolder, journal: Journal, search: Search, trained: int, busy_share: float | None, reached: str | None
) -> None:
    notes = [e["note"] for e in journal.entries if "note" in e]
    ends = [n["wall_seconds"] for n in notes if n.get("session") == "end"]
    sessions = sum(n.get("session") == "begin" for n in notes)
    stats = {
        "complete": reached is None,
        "reached": reached,
        "trained": trained,
        "naive": search.counts.naive,
        "replayed": journal.replayed,
        "wall_seconds": sum(ends) if len(ends) == sessions else None,  # a killed session did not say
        "busy_share": busy_share if sessions == 1 else None,
        "sessions": sessions,
    }
    write_json(folder.path / "stats.json", stats)
