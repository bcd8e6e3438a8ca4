"""The neutral form in JSON: ``{"name": [[class names of task 1], ...]}``, which ``seqsearch score`` and ``edge --orders`` read.

Read are that, a ``sequence.json`` of an export, and lists: of tasks, or of classes in order of arrival (names or numbers).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from seqsearch.core.errors import UserError
from seqsearch.core.typed import brief, fits
from seqsearch.formats.base import Given, Read, Toolbox
from seqsearch.formats.numbers import sizes_of, values
from seqsearch.results.named import MOST
from seqsearch.training.sequence_folder import SCHEMA


def build() -> Toolbox:
    return Toolbox(
        "JSON",
        tried="seqsearch score and edge --orders",
        direction="tasks are lists of class names; class_order[label] = class_id in sequence.json",
        read=read,
        limits=("All is kept.",),
        usage=dict.fromkeys((True, False), "    seqsearch score DIR/sequences.json --pool POOL --methods METHOD"),
        files=lambda order, images: {},
        together=together,
        marks=frozenset({"schema"}),
    )


def together(sequences: Mapping[str, Sequence[Sequence[str]]]) -> Mapping[str, str]:
    """All sequences in one file."""
    return {"sequences.json": written(sequences)}


def written(sequences: Mapping[str, Sequence[Sequence[str]]]) -> str:
    """Sequences by name, as ``seqsearch score`` and ``edge --orders`` read them."""
    return json.dumps({name: [list(t) for t in tasks] for name, tasks in sequences.items()}, ensure_ascii=False) + "\n"


def read(given: Given) -> tuple[Read, ...]:
    """See above.

    Raises:
        UserError: it is of no such form, or contradicts itself.
    """
    said = given.said
    if isinstance(said, dict) and "schema" in said:
        return (_record(given, said),)
    if isinstance(said, dict):
        found = tuple(_sequence(given, name, tasks) for name, tasks in said.items())
    elif isinstance(said, list) and said and all(isinstance(v, list) for v in said):
        nested = all(v and all(isinstance(t, list) for t in v) for v in said)
        found = tuple(_sequence(given, f"sequence-{i}", v) for i, v in enumerate(said if nested else [said]))
    else:
        found = (_sequence(given, "order-0", said),)
    if not 0 < len(found) <= MOST:
        raise UserError(f"{given.path}: holds {len(found)} sequences, must be from 1 to {MOST}")
    return found


def _sequence(given: Given, name: str, said: Any) -> Read:
    if isinstance(said, list) and said and all(isinstance(t, list) for t in said):
        tasks = [values(given, t, f"a task of {brief(name)}") for t in said]
        return Read(name, tuple(c for t in tasks for c in t), tuple(map(len, tasks)))
    classes = values(given, said, f"sequence {brief(name)}")
    return Read(name, classes, sizes_of(given, None, "", len(classes)))


def _record(given: Given, said: dict[str, Any]) -> Read:
    """A ``sequence.json``, whose tasks and permutation must say the same."""
    try:
        if said["schema"] != SCHEMA:
            raise UserError(
                f"{given.path}: schema is {brief(said['schema'])}, must be {SCHEMA}: write it with this version"
            )
        classes = [c for task in said["tasks"] for c in task["classes"]]
        names, ids = tuple(c["name"] for c in classes), [c["class_id"] for c in classes]
        labels, sizes, order = [c["label"] for c in classes], said["task_sizes"], said["class_order"]
        name = said["sequence_id"]
        counted = [len(task["classes"]) for task in said["tasks"]]
    except (KeyError, TypeError):
        raise UserError(f"{given.path}: is no sequence.json of an export: restore it") from None
    if not (
        fits(name, str)
        and fits(names, tuple[str, ...])
        and names
        and all(fits(v, tuple[int, ...]) for v in (ids, labels, sizes))
    ):
        raise UserError(f"{given.path}: names, class ids, labels or task sizes are of other types: restore it")
    if order != ids:
        raise UserError(
            f"{given.path}: class_order and tasks contradict each other{_turned(order, ids)}: class_order[label] = class_id"
        )
    if labels != list(range(len(ids))) or sizes != counted:
        raise UserError(f"{given.path}: labels must count from 0 by arrival, and task_sizes must be those of the tasks")
    return Read(name, names, tuple(sizes))


def _turned(order: Any, ids: list[int]) -> str:
    """Words, if the order is the inverse of what it should be."""
    inverse = [ids.index(c) for c in range(len(ids))] if sorted(ids) == list(range(len(ids))) else None
    return " (it runs the other way)" if order == inverse else ""
