"""From journal to the files of a run, whatever its protocol."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from protocols.running.folder import RunFolder, write_json
from seqsearch.core.digests import digest_of
from seqsearch.core.types import Outcome, Prefix, Rollout
from seqsearch.engine.journal import Journal
from seqsearch.engine.search import Search, outcome
from seqsearch.planners.given import GivenPlanner
from seqsearch.results.tables import JudgedRollout, RunInfo, SequenceKind, Training, write_trainings
from seqsearch.study.study import Study


def run_info(folder: RunFolder, study: Study) -> RunInfo:
    """What every file of a run says of it."""
    classes = study.world.images.classes
    ids = study.world.class_ids(range(len(classes)))
    return RunInfo(
        folder.config["run_id"],
        digest_of(folder.config["settings"]),
        {i: (c.name, c.group) for i, c in zip(ids, classes, strict=True)},
    )


def exported(folder: Path) -> list[Path]:
    """The files of a run that are worth taking along; its journal, states and locks stay."""
    return sorted(
        p
        for p in folder.iterdir()
        if p.suffix in (".parquet", ".html") or p.name in ("config.json", "stats.json", "plan.json")
    )


def rescored(
    study: Study, journal: Journal, scorer: GivenPlanner, sequences: Iterable[tuple[str, SequenceKind, Prefix]]
) -> Iterator[JudgedRollout]:
    """What is known of the sequences that a planner had trained: id, kind and tasks of each."""
    for m, (sequence_id, kind, tasks), r in itertools.product(scorer.methods, sequences, scorer.replicates):
        if judged := known(journal, Rollout(m, study.settings.seed, r, tasks, "test")):
            tag = study.weight_tags[m.backbone]
            yield JudgedRollout(sequence_id, kind, "rescore", m.label, m.digest, tag, r, "test", judged)


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


def trainings(journal: Journal, search: Search) -> list[Training]:
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


def write_costs(
    folder: RunFolder, info: RunInfo, journal: Journal, search: Search, busy_share: float | None, reached: str | None
) -> None:
    """``trainings.parquet`` and ``stats.json``; ``reached`` says how far it came if it is not finished."""
    rows = trainings(journal, search)
    write_trainings(folder.path / "trainings.parquet", info, rows)
    notes = [e["note"] for e in journal.entries if "note" in e]
    ends = [n["wall_seconds"] for n in notes if n.get("session") == "end"]
    sessions = sum(n.get("session") == "begin" for n in notes)
    stats = {
        "complete": reached is None,
        "reached": reached,
        "trained": len(rows),
        "naive": search.counts.naive,
        "replayed": journal.replayed,
        "wall_seconds": sum(ends) if len(ends) == sessions else None,  # a killed session did not say
        "busy_share": busy_share if sessions == 1 else None,
        "sessions": sessions,
    }
    write_json(folder.path / "stats.json", stats)
