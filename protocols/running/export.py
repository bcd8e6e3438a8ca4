"""Export of a run of any protocol: from the journal to its files."""

from __future__ import annotations

import itertools
import json
import os
import statistics
import typing
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from protocols.running.folder import CONFIG, RunFolder
from protocols.running.protocol import MARK, Protocol
from protocols.running.session import Session
from seqsearch.core.digests import digest_of
from seqsearch.core.errors import UserError
from seqsearch.core.outcomes import REPRESENTATION_DRIFT, EdgeResult, Outcome
from seqsearch.core.types import ClassId, Edge, MethodSpec, Rollout, StateKey, Tasks, reported
from seqsearch.engine.journal import Journal
from seqsearch.engine.search import Counts, outcome
from seqsearch.results.rows import (
    EvaluatedRollout,
    Row,
    RunInfo,
    SequenceKind,
    TaskSequence,
    Training,
    result_rows,
    sequence_rows,
)
from seqsearch.results.schema import RESULTS, SEQUENCES, STATS, TRAININGS, Layout
from seqsearch.results.stats import BUDGETED
from seqsearch.results.tables import write_rows, write_trainings
from seqsearch.storage.files import write_json
from seqsearch.storage.inside import Inside
from seqsearch.storage.parquet_file import BadParquet, ParquetFile
from seqsearch.storage.reading import json_object
from seqsearch.storage.store import copied
from seqsearch.study.study import Study
from seqsearch.training.world import World

LARGEST = 1 << 28
"""Bytes of a JSON file that is looked at."""


def run_info(folder: RunFolder, classes: Mapping[ClassId, tuple[str, str]]) -> RunInfo:
    """Return the run's identity, which every file of a run stores; ``classes``: name and group of each."""
    return RunInfo(folder.config["run_id"], digest_of(folder.config["settings"]), classes)


def classes_of(world: World, indices: Iterable[int] | None = None) -> dict[ClassId, tuple[str, str]]:
    """Name and group of classes of a world, by their indices; None: all."""
    classes = world.images.classes
    chosen = list(range(len(classes)) if indices is None else indices)
    return {i: (classes[n].name, classes[n].group) for i, n in zip(world.class_ids(chosen), chosen, strict=True)}


class RunFiles:
    """The files of a run that its export writes, and what every one of them says of the run.

    Args:
        classes: name and group of each class; see `classes_of`.
    """

    def __init__(self, session: Session, classes: Mapping[ClassId, tuple[str, str]]) -> None:
        self._session = session
        self.info = run_info(session.folder, classes)

    def write(self, layout: Layout, rows: Iterable[Row]) -> list[Row]:
        """Write a file; see `write_rows`."""
        return write_rows(self._session.folder.file(layout.file), layout, self.info, rows)

    def sequences(self, sequences: Iterable[TaskSequence]) -> list[Row]:
        """Write ``sequences.parquet``."""
        return self.write(SEQUENCES, sequence_rows(self.info, sequences))

    def results(self, evaluated: Iterable[EvaluatedRollout]) -> list[Row]:
        """Write ``results.parquet``."""
        return self.write(RESULTS, result_rows(evaluated))

    def costs(
        self, searched: Searched | None, reached: str | None, failures: Mapping[str, str] | None = None
    ) -> dict[str, Any]:
        """See `write_costs`."""
        s = self._session
        return write_costs(s.folder, self.info, s.journal, searched, s.busy_share, reached, failures)


def copy_files(protocol: Protocol, folder: Path, target: str) -> None:
    """Copy the files of a run that are worth taking along to ``--export``, if it is given; journal, states and locks stay."""
    if target:
        names = (*protocol.exports, CONFIG, MARK)
        copied([folder / name for name in names if os.path.lexists(folder / name)], target, "--export")


def torn(protocol: Protocol, run: Path) -> str:
    """Describe the first damaged file of a finished run; empty if all files can be read."""
    here = Inside(run)
    try:
        for name in filter(here.has, protocol.exports):
            if name.endswith(".json"):
                json_object(run / name, LARGEST)
                continue
            try:
                ParquetFile(here.checked(name))
            except BadParquet as error:
                return f"{run}/{name} is torn ({error})"
        if here.has(MARK) and b"</html>" not in _end(here, MARK):
            return f"{run}/{MARK} is torn"
        protocol.read(run)
    except (OSError, UserError) as error:
        return str(error)
    return ""


def _end(folder: Inside, name: str) -> bytes:
    """The last bytes of a file, which may be of any size."""
    with folder.reader(name) as file:
        file.seek(max(0, os.fstat(file.fileno()).st_size - 64))
        return file.read(64)


def rescored(
    study: Study,
    journal: Journal,
    methods: Iterable[MethodSpec],
    sequences: Iterable[tuple[str, SequenceKind, Tasks, Iterable[int]]],
) -> Iterator[EvaluatedRollout]:
    """Yield the known re-scored rollouts of ``methods`` on ``sequences``.

    ``sequences`` hold id, kind, tasks, and the training seeds of the evaluation.
    """
    for m, (sequence_id, kind, tasks, replicates) in itertools.product(methods, list(sequences)):
        for r in replicates:
            if evaluated := known(journal, Rollout(StateKey(m, study.settings.seed, r, reported(tasks)), "test")):
                tag = "" if m.command else study.weight_tags[m.backbone]
                yield EvaluatedRollout(sequence_id, kind, "rescore", m.label, m.digest, tag, r, "test", evaluated)


def known(journal: Journal, rollout: Rollout) -> Outcome | None:
    """A rollout as far as it has been evaluated; None if not even its first task has been."""
    results: list[EdgeResult] = []
    for edge in rollout.edges():
        result = journal.edge(edge.digest)
        if result is None:
            break
        results += result.each_step()
        if result.status != "ok":
            return outcome(rollout, results)
    return outcome(replace(rollout, key=rollout.key.after(len(results))), results) if results else None


def trainings(journal: Journal, edges: Mapping[str, Edge]) -> list[Training]:
    """One row per training that was done, in any session; a state trained twice (it had been lost) has two.

    ``edges``: by the state that they train.
    """
    rows, session = [], 0
    for entry in journal.entries:
        session += entry.get("note", {}).get("session") == "begin"
        result = entry.get("edge") or entry.get("probe") or {}
        for state in result.get("trained", ()):
            edge, own = edges.get(state), state == result.get("state")
            if edge is None:  # of a method that has been mended since: its states are others now
                continue
            rows.append(
                Training(
                    state,
                    edge.key.method.label,
                    edge.key.replicate,
                    len(edge.key.prefix),
                    result["train_seconds"] if own else 0.0,
                    result["peak_memory"] if own else None,
                    json.dumps(dict(result["notes"]) if own else {}),
                    result["worker"],
                    session,
                    result.get("origin", "") if own else "",
                )
            )
    return rows


def _representation_drift(rows: Iterable[Training]) -> dict[str, tuple[float, int]]:
    """How far training moved the features of each method of which it is noted: the median, and over how many trainings."""
    found: dict[str, list[float]] = {}
    for row in rows:
        if (distance := json.loads(row.notes).get(REPRESENTATION_DRIFT)) is not None:
            found.setdefault(row.method_id, []).append(distance)
    return {method: (statistics.median(distances), len(distances)) for method, distances in found.items()}


class Searched(typing.Protocol):
    """Requested trainings: edges by the state that they train, and counts."""

    @property
    def edges(self) -> Mapping[str, Edge]: ...

    @property
    def counts(self) -> Counts: ...


def _of_killed(sessions: int, ends: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Where sessions were killed, which did not say what they took: how many, and what the others did [s]."""
    said = [n["wall_seconds"] for n in ends if "wall_seconds" in n]
    return {"killed_sessions": sessions - len(said), "others_seconds": sum(said)} if len(said) < sessions else {}


def write_costs(
    folder: RunFolder,
    info: RunInfo,
    journal: Journal,
    search: Searched | None,
    busy_share: float | None,
    reached: str | None,
    failures: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """``trainings.parquet`` and ``stats.json``, which is returned; ``reached`` says how far it came if it is not finished.

    ``failures``: why the first training of a method that did not end well did not, by its label, where a protocol says it.
    ``search`` is None where nothing had to be trained.
    """
    rows = trainings(journal, search.edges if search else {})
    write_trainings(folder.file(TRAININGS.file), info, rows)
    notes = [e["note"] for e in journal.entries if "note" in e]
    ends = [n for n in notes if n.get("session") == "end"]
    sessions = sum(n.get("session") == "begin" for n in notes)

    def total(name: str) -> float | None:  # a killed session did not say
        said = [n[name] for n in ends if name in n]
        return sum(said) if len(said) == sessions else None

    stats = {
        "complete": reached is None,
        "reached": reached,
        "trained": len(rows),
        "naive": search.counts.naive if search else 0,
        "replayed": journal.replayed,
        "wall_seconds": total("wall_seconds"),
        **_of_killed(sessions, ends),
        **({name: total(name) for name in BUDGETED} if sessions and total(BUDGETED[0]) is not None else {}),
        "busy_share": busy_share if sessions == 1 else None,
        "sessions": sessions,
        "moved": _representation_drift(rows),
        **({"failures": dict(failures)} if failures else {}),
    }
    write_json(folder.file(STATS), stats)
    return stats
