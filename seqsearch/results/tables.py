"""Results of a run as Parquet files: task sequences, results, the search's trace, trainings.

Columns are declared in ``seqsearch/results/schema.py``. Rows come in a fixed order. ``sequences.parquet`` holds nothing
that depends on time or workers, so the same seed gives the same rows.
"""

from __future__ import annotations

import errno
import json
from collections.abc import Iterable
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

from seqsearch.core.errors import UserError
from seqsearch.core.text import counted, printable
from seqsearch.core.types import ClassId, Task
from seqsearch.results.rows import (
    Row,
    RunInfo,
    TaskSequence,
    Training,
    finite,
    sequence_rows,
)
from seqsearch.results.schema import SEQUENCES, TRAININGS, VERSION, Layout
from seqsearch.storage.files import atomic_path
from seqsearch.storage.inside import Inside
from seqsearch.storage.parquet_file import MEMORY, BadParquet, ParquetFile, damage_reported

CELL, CELLS_PER_BYTE = 60, 8
"""Bytes that a value takes in a row in memory, about, and values in a byte of a file, at most; files of runs have up to six."""

# ------------------------------------------------------------------------------------------------ writing


def write_sequences(path: Path, info: RunInfo, sequences: Iterable[TaskSequence]) -> list[Row]:
    """See `sequence_rows`; each writer returns what reading the file again would give.

    Raises:
        ValueError: two sequences of one name.
        UserError: the disk is full .
    """
    return write_rows(path, SEQUENCES, info, sequence_rows(info, sequences))


def write_trainings(path: Path, info: RunInfo, trainings: Iterable[Training]) -> list[Row]:
    """One row per training done, in order of arrival: proof that no edge was trained twice."""
    return write_rows(path, TRAININGS, info, ({"training": i, **vars(t)} for i, t in enumerate(trainings)))


def write_rows(path: Path, layout: Layout, info: RunInfo, rows: Iterable[Row]) -> list[Row]:
    """Write a file, and return its rows as they are read again: all columns, what is missing as None, texts as UTF-8.

    Raises:
        ValueError: two rows have the same primary key.
        UserError: the disk is full.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    missing, stored = dict.fromkeys(c.name for c in layout.columns), cache(printable)  # a table repeats its texts
    texts = [c.name for c in layout.columns if "string" in c.type]
    whole = [{**missing, **row, "run_id": info.run_id} for row in rows]
    for row in whole:
        for name in texts:
            if (value := row[name]) is not None:
                row[name] = [stored(v) for v in value] if isinstance(value, list) else stored(value)
    keys = {tuple(row[name] for name in layout.key) for row in whole}
    if len(keys) != len(whole):
        key = ", ".join(layout.key)
        raise ValueError(
            f"{layout.file}: the primary key {key} is repeated in {counted(len(whole) - len(keys), 'row')}"
        )
    schema = arrow_schema(layout, info.config_digest)
    table = pa.table({f.name: pa.array([row[f.name] for row in whole], f.type) for f in schema}, schema=schema)
    with atomic_path(path, durable=True) as temporary:
        pq.write_table(table, temporary)
    return whole


def arrow_schema(layout: Layout, config_digest: str) -> Any:
    """The ``pyarrow.Schema`` of a file, with version, config digest, units and descriptions in its metadata."""
    import pyarrow as pa

    plain = {"string": pa.string(), "int64": pa.int64(), "float64": pa.float64(), "bool": pa.bool_()}
    types = {**plain, **{f"list<{name}>": pa.list_(kind) for name, kind in plain.items()}}
    fields = [
        pa.field(
            c.name,
            types[c.type.removesuffix("?")],
            nullable=c.type.endswith("?"),
            metadata={"description": c.meaning, "unit": c.unit},
        )
        for c in layout.columns
    ]
    units = json.dumps({c.name: c.unit for c in layout.columns})
    metadata = {"schema_version": str(VERSION), "config_digest": config_digest, "units": units}
    return pa.schema(fields, {f"seqsearch.{name}": text for name, text in metadata.items()})


# ------------------------------------------------------------------------------------------------ reading


def read_rows(path: Path, layout: Layout, *, links: bool = False) -> list[Row]:
    """The rows of a file, written by us or by others in the same columns (others' extra columns are left out).

    With ``links``, it may be one: a file that the user names.

    Raises:
        UserError: no such file, a link, no Parquet, written by a later version, columns missing or of another type.
    """
    import pyarrow as pa

    _check_file(path, links)
    names = [c.name for c in layout.columns]
    rows: list[Row] = []
    try:
        file = ParquetFile(path)
        with damage_reported():
            version = int((file.schema.metadata or {}).get(b"seqsearch.schema_version", VERSION))
        if version > VERSION:
            raise UserError(f"{path}: schema version {version}, this seqsearch knows {VERSION}: upgrade seqsearch")
        absent = [c for c in layout.columns if c.name not in file.schema.names]
        if missing := ", ".join(c.name for c in absent if not c.added):
            raise UserError(f"{path}: no column {missing}; docs/schema.md lists what {layout.file} holds")
        if file.rows * len(names) * CELL > MEMORY + CELLS_PER_BYTE * CELL * file.size:
            raise BadParquet(f"{file.rows} rows in {file.size} bytes: a decompression bomb")
        for piece in file.bounded([name for name in names if name in file.schema.names]):
            with damage_reported():
                table = pa.Table.from_batches([piece])
                for column in absent:
                    table = table.append_column(column.name, pa.nulls(len(table)))
                table = table.select(names).cast(arrow_schema(layout, ""))
                rows += table.to_pylist()
    except BadParquet as error:
        raise UserError(f"{path}: not a readable {layout.file} ({error})") from None
    for name in (c.name for c in layout.columns if c.type.startswith("list")):  # whole values were looked at by `cast`
        hole = next((i for i, row in enumerate(rows) if row[name] and None in row[name]), None)
        if hole is not None:
            raise UserError(f"{path}: a value of {name} in row {hole} is null: restore the file")
    return rows


def _check_file(path: Path, links: bool) -> None:
    try:
        if not links:
            Inside(path.parent).checked(path.name)
        elif not path.is_file():
            raise FileNotFoundError(errno.ENOENT, "no such file")
    except OSError as error:
        said = "no such file" if isinstance(error, FileNotFoundError) else f"{error.strerror}: restore the file"
        raise UserError(f"{path}: {said}") from None


def read_sequences(path: Path) -> list[TaskSequence]:
    """The sequences of a file, in its order; the order of rows within a sequence does not matter.

    Raises:
        UserError: the file cannot be read, or a sequence has steps or positions missing, or a class twice.
    """
    return sequences_of(path, read_rows(path, SEQUENCES))


def sequences_of(path: Path, rows: Iterable[Row]) -> list[TaskSequence]:
    """The same of rows that were read already; ``path`` is named in messages."""
    by_id: dict[str, list[Row]] = {}
    for row in rows:
        by_id.setdefault(row["sequence_id"], []).append(row)
    return [_sequence(path, own) for own in by_id.values()]


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
        values.append(finite(part[0]["value"]))
    classes = [c for task in tasks for c in task.classes]
    if len(set(classes)) != len(classes):
        raise UserError(f"{where}: a class comes twice; in class-incremental learning every class belongs to one task")
    return TaskSequence(
        head["sequence_id"], head["kind"], tuple(head["method_ids"]), head["seed"], tuple(tasks), tuple(values)
    )
