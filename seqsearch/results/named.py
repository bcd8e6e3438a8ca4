"""Task sequences as a user, or another tool, wrote them: class names in JSON, CSV or Parquet."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from seqsearch.core.errors import UserError
from seqsearch.core.limits import wrong_text
from seqsearch.core.text import from_cell, shown
from seqsearch.core.typed import brief, fits
from seqsearch.storage.parquet_file import BadParquet, ParquetFile, damage_reported
from seqsearch.storage.reading import content, parsed

LARGEST = 8 << 20
"""Bytes of a file of sequences."""
MOST, MOST_ROWS = 1000, 200_000
"""Sequences in it, and classes in all of them."""
LONGEST = 200
"""Characters of the name of a sequence."""
MADE_OF_OTHERS = ("joint", "regrouped", "reordered")
"""Kinds in a run's ``sequences.parquet`` that are made of its other sequences: nobody names them."""
COLUMNS = ("step", "class_name")
FORMS = "JSON, CSV or Parquet with one row a class: sequence_id, step (from 1), class_name"


@dataclass(frozen=True)
class NamedSequence:
    """``tasks`` hold names of classes, task by task."""

    name: str
    tasks: tuple[tuple[str, ...], ...]


def read_named(path: Path) -> tuple[NamedSequence, ...]:
    """Sequences of a file, in its order.

    JSON: a list of tasks, each a list of class names; a list of such sequences; or an object ``{name: sequence}``. CSV and
    Parquet: one row a class, with columns ``step`` (from 1), ``class_name`` and, if there are several, ``sequence_id``.

    Raises:
        UserError: it cannot be read; a sequence without tasks, of another form, with a step missing, or with a class twice.
    """
    try:
        found = list(_counted(path, _read(path)))
    except UserError:
        raise
    except (OSError, ValueError, csv.Error) as error:
        said = getattr(error, "strerror", None) or str(error)
        raise UserError(f"{path}: cannot be read ({shown(said)[:200]}); sequences are {FORMS}") from None
    if not found:
        raise UserError(f"{path}: holds no sequence; sequences are {FORMS}")
    for sequence in found:
        check_named(path, sequence)
    return tuple(found)


def _counted(path: Path, sequences: Iterable[NamedSequence]) -> Iterator[NamedSequence]:
    classes = 0
    for number, sequence in enumerate(sequences, 1):
        classes += sum(len(task) + 1 for task in sequence.tasks)
        if number > MOST or classes > MOST_ROWS:
            raise UserError(
                f"{path}: holds more than {MOST:,} sequences, or {MOST_ROWS:,} tasks and classes, which are not read"
            )
        yield sequence


def _read(path: Path) -> Iterator[NamedSequence]:
    if path.suffix == ".parquet":
        yield from _of_rows(path, _parquet_rows(path))
    elif path.suffix == ".csv":
        text = content(path, LARGEST).decode("utf-8-sig")
        yield from _of_rows(path, _csv_rows(path, text))
    elif path.suffix == ".json":
        yield from _of_json(path, parsed(content(path, LARGEST).decode("utf-8-sig"), unique=True))
    else:
        raise UserError(
            f"{path}: is no run folder and ends neither in .json nor .csv nor .parquet; sequences are {FORMS}"
        )


def _parquet_rows(path: Path) -> list[dict[str, Any]]:
    import pyarrow as pa

    try:
        file = ParquetFile(path)
        if missing := [n for n in COLUMNS if n not in file.schema.names]:
            raise UserError(f"{path}: no column {', '.join(missing)}; sequences are {FORMS}")
        if file.rows > MOST_ROWS:
            raise UserError(f"{path}: holds more than {MOST_ROWS:,} rows, which are not read")
        names = [n for n in ("sequence_id", "kind", *COLUMNS) if n in file.schema.names]
        pieces = list(file.bounded(names))
        with damage_reported():
            rows: list[dict[str, Any]] = pa.Table.from_batches(pieces).to_pylist() if pieces else []
    except BadParquet as error:
        raise UserError(f"{path}: cannot be read ({error}); sequences are {FORMS}") from None
    return [row for row in rows if row.get("kind") not in MADE_OF_OTHERS]


def _csv_rows(path: Path, text: str) -> Iterator[dict[str, Any]]:
    reader = csv.DictReader(io.StringIO(text), skipinitialspace=True, strict=True)
    names = [n.strip() for n in reader.fieldnames or ()]
    if missing := [n for n in COLUMNS if n not in names]:
        raise UserError(f"{path}: no column {', '.join(missing)}; sequences are {FORMS}")
    reader.fieldnames = names
    for row in reader:
        step = (row["step"] or "").strip()
        if not (step.isdecimal() and len(step) < 10):
            raise UserError(
                f"{path}, line {reader.line_num}: step is {brief(step)}, must be a whole number from 1 to {MOST_ROWS:,}"
            )
        called = {n: from_cell((row[n] or "").strip()) for n in ("sequence_id", "class_name") if n in row}
        yield {**row, **called, "step": int(step)}


def _of_rows(path: Path, rows: Iterable[dict[str, Any]]) -> Iterator[NamedSequence]:
    by_name: dict[str, list[tuple[int, str]]] = {}
    for number, row in enumerate(rows, 1):
        if number > MOST_ROWS:
            raise UserError(f"{path}: holds more than {MOST_ROWS:,} rows, which are not read")
        name, step, class_name = row.get("sequence_id", "sequence-0"), row["step"], row["class_name"]
        name = str(name) if fits(name, int) else name
        if not (fits(name, str) and fits(step, int) and fits(class_name, str)):
            said = brief([name, step, class_name])
            raise UserError(
                f"{path}, row {number}: sequence_id, step and class_name are {said}, must be a text, a whole number and a text"
            )
        by_name.setdefault(name, []).append((step, class_name))
    for name, pairs in by_name.items():
        pairs.sort(key=lambda pair: pair[0])  # stable: classes stay in the order of the file
        steps = [(step, tuple(c for _, c in part)) for step, part in groupby(pairs, key=lambda pair: pair[0])]
        if (numbers := [step for step, _ in steps]) != list(range(1, len(steps) + 1)):
            raise UserError(
                f"{path}: sequence {name!r} has steps {brief(numbers)}: they must count from 1, each be there"
            )
        yield NamedSequence(name, tuple(classes for _, classes in steps))


def _of_json(path: Path, said: Any) -> Iterator[NamedSequence]:
    if isinstance(said, list) and said and all(isinstance(task, list) and _texts(task) for task in said):
        said = [said]
    named = said.items() if isinstance(said, dict) else enumerate(said) if isinstance(said, list) else ()
    for name, tasks in named:
        label = name if isinstance(name, str) else f"sequence-{name}"
        if not (isinstance(tasks, list) and all(isinstance(task, list) and _texts(task) for task in tasks)):
            raise UserError(f"{path}, {label}: a sequence is a list of tasks, each a list of class names")
        yield NamedSequence(label, tuple(map(tuple, tasks)))


def _texts(values: list[Any]) -> bool:
    return all(isinstance(v, str) for v in values)


def check_named(path: Path, s: NamedSequence) -> None:
    """
    Raises:
        UserError: a name is none, or too long, a task is empty, or a class stands twice.
    """
    if wrong := next((w for text in (s.name, *(c for t in s.tasks for c in t)) if (w := wrong_text(text))), ""):
        raise UserError(f"{path}: sequence {brief(s.name)}, or a class in it, {wrong}")
    if len(s.name) > LONGEST or "/" in s.name:
        raise UserError(f"{path}: sequence {brief(s.name)}: a name has at most {LONGEST} characters, and no slash")
    if not s.name.strip() or not s.tasks or not all(all(task) and task for task in s.tasks):
        raise UserError(f"{path}: sequence {s.name!r} has no name, no task, or a task or a class without one")
    times = Counter(c for task in s.tasks for c in task)
    if twice := next((c for c, n in times.items() if n > 1), None):
        raise UserError(f"{path}: sequence {s.name!r} has class {twice!r} twice; every class belongs to one task")
