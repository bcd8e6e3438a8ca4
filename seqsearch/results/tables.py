"""What a run leaves behind, as Parquet files: task sequences, results, the search's trace, trainings.

Columns are declared in ``seqsearch/results/schema.py``; rows come in a fixed order. ``sequences.parquet`` holds nothing
that depends on time or workers: the same seed gives the same rows.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from seqsearch.core.errors import UserError
from seqsearch.core.text import printable
from seqsearch.core.types import ClassId, Outcome, Task
from seqsearch.results.schema import ESTIMATES, RESULTS, SEQUENCES, TRACE, TRAININGS, TRIALS, VERSION, Layout
from seqsearch.storage.files import atomic_path
from seqsearch.storage.parquet_file import ROOM, BadParquet, ParquetFile, judged

if TYPE_CHECKING:
    from seqsearch.planners.step import Judgement

CELL, CELLS_PER_BYTE = 60, 8
"""Bytes that a value takes in a row in memory, about, and values in a byte of a file, at most; files of runs have up to six."""

SequenceKind = Literal["searched", "random", "hard", "easy", "given", "enumerated"]
Row = dict[str, Any]


@dataclass(frozen=True)
class RunInfo:
    """What every file of a run says of the run; ``classes`` holds name and group of every class of its pools."""

    run_id: str
    config_digest: str
    classes: Mapping[ClassId, tuple[str, str]]


@dataclass(frozen=True)
class TaskSequence:
    """``T`` tasks and, for each, the value J that it was chosen for (None where nothing was judged)."""

    sequence_id: str
    kind: SequenceKind
    method_ids: tuple[str, ...]
    seed: int
    tasks: tuple[Task, ...]
    values: tuple[float | None, ...]


@dataclass(frozen=True)
class JudgedRollout:
    """One rollout over a sequence: ``seed`` is the training replicate, ``config_digest`` that of the method."""

    sequence_id: str
    kind: SequenceKind
    role: Literal["search", "rescore"]
    method_id: str
    config_digest: str
    weight_tag: str
    seed: int
    split: Literal["reward", "test"]
    outcome: Outcome


@dataclass(frozen=True)
class TraceRow:
    """A candidate that a search judged; ``candidate`` counts within its step from 0."""

    search_id: str
    candidate: int
    judgement: Judgement


@dataclass(frozen=True)
class Training:
    """One training actually done; ``depth`` tasks are learned after it."""

    state: str
    method_id: str
    seed: int
    depth: int
    seconds: float
    peak_bytes: int | None
    notes: str
    worker: str
    session: int
    origin: str = ""


# ------------------------------------------------------------------------------------------------ writing


def write_sequences(path: Path, info: RunInfo, sequences: Iterable[TaskSequence]) -> None:
    """One row per (sequence, step, class).

    Raises:
        ValueError: two sequences of one name.
        UserError: the disk is full (so do the other writers).
    """
    _write(path, SEQUENCES, info, [row for s in sequences for row in _sequence_rows(info, s)])


def write_results(path: Path, info: RunInfo, judged: Iterable[JudgedRollout]) -> None:
    """One row per (sequence, role, method, seed, split, trained step, evaluated step).

    A rollout that failed at step t has the rows judged before, and one row for (t, t) without an accuracy.
    """
    _write(path, RESULTS, info, [row for j in judged for row in _result_rows(j)])


def write_trace(path: Path, info: RunInfo, rows: Iterable[TraceRow]) -> None:
    """One row per (search, step, candidate)."""
    _write(path, TRACE, info, [_trace_row(r) for r in rows])


def write_trainings(path: Path, info: RunInfo, trainings: Iterable[Training]) -> None:
    """One row per training done, in order of arrival: proof that no edge was trained twice."""
    _write(path, TRAININGS, info, [{"training": i, **vars(t)} for i, t in enumerate(trainings)])


def write_trials(path: Path, info: RunInfo, rows: list[Row]) -> None:
    """One row per (method, setting tried)."""
    _write(path, TRIALS, info, rows)


def write_estimates(path: Path, info: RunInfo, rows: list[Row]) -> None:
    """One row per (method, what it speaks of, figure)."""
    _write(path, ESTIMATES, info, rows)


def _sequence_rows(info: RunInfo, s: TaskSequence) -> Iterator[Row]:
    for step, (task, value) in enumerate(zip(s.tasks, s.values, strict=True), 1):
        for position, c in enumerate(task.classes):
            name, group = info.classes.get(c, (None, None))
            yield {
                "sequence_id": s.sequence_id, "kind": s.kind, "method_ids": list(s.method_ids), "seed": s.seed,
                "step": step, "class_id": c.index, "class_name": name, "group": group, "pool_digest": c.pool,
                "value": _finite(value), "position": position, "split_digest": task.split,
            }  # fmt: skip


def _result_rows(j: JudgedRollout) -> Iterator[Row]:
    o = j.outcome
    sizes = dict(o.footprint)
    of_rollout = {
        "sequence_id": j.sequence_id, "kind": j.kind, "role": j.role, "method_id": j.method_id,
        "config_digest": j.config_digest, "seed": j.seed, "split": j.split, "status": o.status,
        "weight_tag": j.weight_tag, "train_seconds": float(o.train_seconds), "params_bytes": sizes.get("params"),
        "statistics_bytes": sizes.get("statistics"), "exemplar_bytes": sizes.get("exemplar_images"),
    }  # fmt: skip
    for t in range(len(o.accuracy)):
        if math.isnan(o.accuracy[t, 0]):
            yield {**of_rollout, "trained_step": t + 1, "evaluated_step": t + 1}
            return
        for i in range(t + 1):
            accuracy, n = float(o.accuracy[t, i]), o.counts[i] if i < len(o.counts) else None
            yield {
                **of_rollout, "trained_step": t + 1, "evaluated_step": i + 1, "n": n,
                "correct": None if n is None else round(accuracy * n), "accuracy": accuracy,
                "masked_accuracy": _finite(float(o.masked_accuracy[t, i])),
            }  # fmt: skip


def _trace_row(row: TraceRow) -> Row:
    j = row.judgement
    return {
        "search_id": row.search_id, "step": j.step, "candidate": row.candidate,
        "class_ids": [c.index for c in j.task.classes], "pool_digests": [c.pool for c in j.task.classes],
        "value": _finite(j.value), "reward": _finite(j.reward),
        "visits": j.visits, "nll": [float(x) for x in j.nll],
        "train_seconds": float(j.train_seconds), "status": j.status, "chosen": bool(j.chosen),
    }  # fmt: skip


def _finite(value: float | None) -> float | None:
    return float(value) if value is not None and math.isfinite(value) else None


def _write(path: Path, layout: Layout, info: RunInfo, rows: list[Row]) -> None:
    import pyarrow.parquet as pq

    schema = arrow_schema(layout, info.config_digest)
    rows = [{**row, "run_id": info.run_id} for row in rows]
    keys = {tuple(row[name] for name in layout.key) for row in rows}
    if len(keys) != len(rows):
        key = ", ".join(layout.key)
        raise ValueError(f"{layout.file}: {len(rows) - len(keys)} row(s) repeat the primary key {key}")
    with atomic_path(path) as temporary:
        pq.write_table(_table(rows, schema), temporary)


def _table(rows: list[Row], schema: Any) -> Any:
    import pyarrow as pa

    return pa.table(
        {f.name: pa.array([_storable(row.get(f.name)) for row in rows], f.type) for f in schema}, schema=schema
    )


def _storable(value: Any) -> Any:
    """Texts as UTF-8, whatever a file name in them holds."""
    if isinstance(value, list):
        return [_storable(v) for v in value]
    return printable(value) if isinstance(value, str) else value


def arrow_schema(layout: Layout, config_digest: str) -> Any:
    """The ``pyarrow.Schema`` of a file, with version, config digest, units and descriptions in its metadata."""
    import pyarrow as pa

    plain = {"string": pa.string(), "int64": pa.int64(), "float64": pa.float64(), "bool": pa.bool_()}
    types = {**plain, **{f"list<{name}>": pa.list_(kind) for name, kind in plain.items()}}
    fields = [
        pa.field(
            c.name, types[c.type.removesuffix("?")], nullable=c.type.endswith("?"),
            metadata={"description": c.meaning, "unit": c.unit},
        )
        for c in layout.columns
    ]  # fmt: skip
    units = json.dumps({c.name: c.unit for c in layout.columns})
    metadata = {"schema_version": str(VERSION), "config_digest": config_digest, "units": units}
    return pa.schema(fields, {f"seqsearch.{name}": text for name, text in metadata.items()})


# ------------------------------------------------------------------------------------------------ reading


def read_rows(path: Path, layout: Layout) -> list[Row]:
    """The rows of a file, written by us or by others in the same columns (others' extra columns are left out).

    Raises:
        UserError: no such file, no Parquet, written by a later version, columns missing or of another type.
    """
    import pyarrow as pa

    if not path.is_file():
        raise UserError(f"{path}: no such file")
    names = [c.name for c in layout.columns]
    rows: list[Row] = []
    try:
        file = ParquetFile(path)
        with judged():
            version = int((file.schema.metadata or {}).get(b"seqsearch.schema_version", VERSION))
        if version > VERSION:
            raise UserError(f"{path}: schema version {version}, this seqsearch knows {VERSION}: upgrade seqsearch")
        if missing := ", ".join(name for name in names if name not in file.schema.names):
            raise UserError(f"{path}: no column {missing}; docs/schema.md lists what {layout.file} holds")
        if file.rows * len(names) * CELL > ROOM + CELLS_PER_BYTE * CELL * file.size:
            raise BadParquet(f"{file.rows} rows in {file.size} bytes: a decompression bomb")
        for piece in file.bounded(names):
            with judged():
                table = pa.Table.from_batches([piece]).select(names).cast(arrow_schema(layout, ""))
                rows += table.to_pylist()
    except BadParquet as error:
        raise UserError(f"{path}: not a readable {layout.file} ({error})") from None
    for name in (c.name for c in layout.columns if c.type.startswith("list")):  # whole values were looked at by `cast`
        hole = next((i for i, row in enumerate(rows) if row[name] and None in row[name]), None)
        if hole is not None:
            raise UserError(f"{path}: a value of {name} in row {hole} is null: restore the file")
    return rows


def read_sequences(path: Path) -> list[TaskSequence]:
    """The sequences of a file, in its order; the order of rows within a sequence does not matter.

    Raises:
        UserError: the file cannot be read, or a sequence has steps or positions missing, or a class twice.
    """
    by_id: dict[str, list[Row]] = {}
    for row in read_rows(path, SEQUENCES):
        by_id.setdefault(row["sequence_id"], []).append(row)
    return [_sequence(path, rows) for rows in by_id.values()]


def _sequence(path: Path, rows: list[Row]) -> TaskSequence:
    rows = sorted(rows, key=lambda r: (r["step"], r["position"]))
    head = rows[0]
    where = f"{path}: sequence {head['sequence_id']!r}"
    tasks: list[Task] = []
    values: list[float | None] = []
    for number, (step, group) in enumerate(groupby(rows, key=lambda r: r["step"]), 1):
        part = list(group)
        if step != number or [r["position"] for r in part] != list(range(len(part))):
            raise UserError(f"{where}, step {step}: steps must count from 1 and positions from 0, each once")
        tasks.append(Task(tuple(ClassId(r["pool_digest"], r["class_id"]) for r in part), part[0]["split_digest"]))
        values.append(_finite(part[0]["value"]))
    classes = [c for task in tasks for c in task.classes]
    if len(set(classes)) != len(classes):
        raise UserError(f"{where}: a class comes twice; in class-incremental learning every class belongs to one task")
    return TaskSequence(
        head["sequence_id"], head["kind"], tuple(head["method_ids"]), head["seed"], tuple(tasks), tuple(values)
    )
