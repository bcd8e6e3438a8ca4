"""The neutral form in JSON: ``{"name": [[class names of task 1], ...]}``, which ``seqsearch score`` and ``edge --orders`` read.

Three forms are read: the neutral form, a ``sequence.json`` of an export, and a list. The list has tasks (lists of classes) or
classes in order of arrival. A class is a name or a number.
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
    usage = "    seqsearch score DIR/sequences.json --pool POOL --methods METHOD"
    return Toolbox(
        "JSON",
        tried="seqsearch score and edge --orders",
        direction="tasks are lists of class names; class_order[label] = class_id in sequence.json",
        read=read,
        limits=("The file keeps the names of all classes, their order and the tasks.",),
        usage={True: usage, False: usage},  # the same with and without images
        files=lambda order, images: {},
        together=together,
        marks=frozenset({"schema"}),
    )


def together(sequences: Mapping[str, Sequence[Sequence[str]]]) -> Mapping[str, str]:
    """The one file with all sequences, by file name."""
    return {"sequences.json": written(sequences)}


def written(sequences: Mapping[str, Sequence[Sequence[str]]]) -> str:
    """The neutral form of sequences: a JSON text that ``seqsearch score`` and ``edge --orders`` read."""
    return json.dumps({name: [list(t) for t in tasks] for name, tasks in sequences.items()}, ensure_ascii=False) + "\n"


def read(given: Given) -> tuple[Read, ...]:
    """The sequences of a file in one of the three forms of this module.

    Raises:
        UserError: the file has none of these forms, or contradicts itself.
    """
    content = given.said
    if isinstance(content, dict) and "schema" in content:
        return (_record(given, content),)
    if isinstance(content, dict):
        found = tuple(_sequence(given, name, tasks) for name, tasks in content.items())
    elif isinstance(content, list) and content and all(isinstance(v, list) for v in content):
        nested = all(v and all(isinstance(t, list) for t in v) for v in content)
        found = tuple(_sequence(given, f"sequence-{i}", v) for i, v in enumerate(content if nested else [content]))
    else:
        found = (_sequence(given, "order-0", content),)
    if not 0 < len(found) <= MOST:
        raise UserError(f"{given.path}: holds {len(found)} sequences, must be from 1 to {MOST}")
    return found


def _sequence(given: Given, name: str, content: Any) -> Read:
    if isinstance(content, list) and content and all(isinstance(t, list) for t in content):
        tasks = [values(given, t, f"a task of {brief(name)}") for t in content]
        return Read(name, tuple(c for t in tasks for c in t), tuple(map(len, tasks)))
    classes = values(given, content, f"sequence {brief(name)}")
    return Read(name, classes, sizes_of(given, None, "", len(classes)))


def _record(given: Given, content: dict[str, Any]) -> Read:
    """The sequence of a ``sequence.json``, whose tasks must agree with its ``class_order``."""
    try:
        if content["schema"] != SCHEMA:
            raise UserError(
                f"{given.path}: schema is {brief(content['schema'])}, must be {SCHEMA}: write it with this version"
            )
        classes = [c for task in content["tasks"] for c in task["classes"]]
        names, ids = tuple(c["name"] for c in classes), [c["class_id"] for c in classes]
        labels, sizes, order = [c["label"] for c in classes], content["task_sizes"], content["class_order"]
        name = content["sequence_id"]
        counted = [len(task["classes"]) for task in content["tasks"]]
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
            f"{given.path}: class_order and tasks contradict each other{_if_inverse(order, ids)}: class_order[label] = class_id"
        )
    if labels != list(range(len(ids))) or sizes != counted:
        raise UserError(f"{given.path}: labels must count from 0 by arrival, and task_sizes must be those of the tasks")
    return Read(name, names, tuple(sizes))


def _if_inverse(order: Any, ids: list[int]) -> str:
    """Words for a message, if ``order`` is the inverse permutation of ``ids``; else empty."""
    if sorted(ids) != list(range(len(ids))):
        return ""  # no permutation, so there is no inverse
    return " (it runs the other way)" if order == [ids.index(c) for c in range(len(ids))] else ""
