"""The neutral form in CSV: one row a class with ``sequence_id``, ``step`` (from 1) and ``class_name``; also manifests."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence

from seqsearch.core.errors import UserError
from seqsearch.core.text import as_cell, from_cell, shows
from seqsearch.core.typed import brief
from seqsearch.formats.base import Given, Read, Toolbox


def build() -> Toolbox:
    return Toolbox(
        "CSV",
        tried="seqsearch score",
        direction="steps count from 1; classes of a step stand in order of arrival",
        read=read,
        limits=("Names with blanks around them, or that do not show, are refused: readers of CSV change them.",),
        usage=dict.fromkeys((True, False), "    seqsearch score DIR/sequences.csv --pool POOL --methods METHOD"),
        files=lambda order, images: {},
        together=together,
    )


def together(sequences: Mapping[str, Sequence[Sequence[str]]]) -> Mapping[str, str]:
    """All sequences in one file.

    Raises:
        UserError: a name that a reader of CSV would change.
    """
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("sequence_id", "step", "class_name"))
    for name, tasks in sequences.items():
        for step, classes in enumerate(tasks, 1):
            for c in classes:
                if c != c.strip() or not shows(c):
                    raise UserError(
                        f"class {brief(c)} has blanks around it or does not show, which readers of CSV change: --to json"
                    )
                writer.writerow((as_cell(name), step, as_cell(c)))
    return {"sequences.csv": text.getvalue()}


def read(given: Given) -> tuple[Read, ...]:
    """Rows with ``step`` (or ``task``, from 0, of a manifest) and ``class_name``.

    Raises:
        UserError: a column is missing, or a step is no number.
    """
    rows: list[dict[str, str]] = given.said
    columns = set(rows[0]) if rows else set()
    key, first = ("step", 1) if "step" in columns else ("task", 0)
    if not rows or not {key, "class_name"} <= columns:
        raise UserError(f"{given.path}: must have rows with columns step (or task) and class_name")
    found: dict[str, dict[int, list[str]]] = {}
    for number, row in enumerate(rows, 2):
        said, name = (row.get(key) or "").strip(), from_cell((row.get("class_name") or "").strip())
        if not (said.isdecimal() and len(said) < 10) or int(said) < first:
            raise UserError(f"{given.path}, row {number}: {key} is {brief(said)}, must be a whole number from {first}")
        tasks = found.setdefault(from_cell((row.get("sequence_id") or "sequence-0").strip()), {})
        task = tasks.setdefault(int(said), [])
        if key == "step" or name not in task:  # a manifest has a row an image
            task.append(name)
    return tuple(_sequence(given, name, tasks, first) for name, tasks in found.items())


def _sequence(given: Given, name: str, tasks: dict[int, list[str]], first: int) -> Read:
    if sorted(tasks) != list(range(first, first + len(tasks))):
        raise UserError(f"{given.path}: sequence {brief(name)} has steps {brief(sorted(tasks))}: each must be there")
    ordered = [tasks[t] for t in sorted(tasks)]
    return Read(name, tuple(c for t in ordered for c in t), tuple(map(len, ordered)))
