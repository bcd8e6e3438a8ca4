"""A sequence as a folder that any program can learn from: ``sequence.json``, ``manifest.csv``, and images by path.

Labels count from 0 in the order in which classes arrive, so that the identity is the class order in every toolbox, and a sequence
of few of a pool's classes is complete in itself.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from operator import attrgetter
from typing import Any, Literal

from seqsearch.core.text import as_cell
from seqsearch.core.types import EvaluationSplit, Tasks
from seqsearch.pools.base import Part, Rows
from seqsearch.pools.union import class_names
from seqsearch.storage.files import atomic_file
from seqsearch.storage.inside import Inside
from seqsearch.training.world import World

SCHEMA = "seqsearch-sequence/1"
SEQUENCE, MANIFEST = "sequence.json", "manifest.csv"
PARTS_OF: dict[EvaluationSplit, tuple[Part, ...]] = {
    "test": ("train", "val", "reward", "test"),
    "reward": ("train", "val", "reward"),
}
"""Parts in a manifest by the one that is evaluated; all but that one are learned from."""


@dataclass(frozen=True)
class ManifestRow:
    """An image: ``label`` by arrival and ``task`` count from 0; ``split`` says whether it is learned from or tested on.

    ``class_name`` is such that no spreadsheet takes it for a formula (`as_cell`).
    """

    path: str
    label: int
    task: int
    split: Literal["train", "test"]
    part: Part
    class_name: str


def record_of(world: World, name: str, tasks: Tasks, seed: int) -> dict[str, Any]:
    """Return the contents of ``sequence.json``. ``class_id`` is the index of a class among all of the pool, ``seed``
    that of training."""
    names = class_names(world.images)
    indices = [[world.class_index(c) for c in task.classes] for task in tasks]
    order = [i for own in indices for i in own]
    label = {index: at for at, index in enumerate(order)}
    return {
        "schema": SCHEMA,
        "sequence_id": name,
        "seed": seed,
        "pool": {"name": world.images.name, "digest": world.images.digest, "classes": len(world.images.classes)},
        "split_digest": world.split.digest,
        "task_sizes": [len(own) for own in indices],
        "tasks": [
            {
                "classes": [
                    {"label": label[i], "class_id": i, "name": names[i], "group": world.images.classes[i].group}
                    for i in own
                ]
            }
            for own in indices
        ],
        "class_order": order,
    }


def manifest(
    world: World, tasks: Tasks, paths: Callable[[Rows], Sequence[str]], evaluated: EvaluationSplit = "test"
) -> Iterator[ManifestRow]:
    """The images of a sequence, task by task, part by part, class by class; ``paths`` names the files of rows."""
    names, first = class_names(world.images), 0
    for number, task in enumerate(tasks):
        called = [as_cell(names[world.class_index(c)]) for c in task.classes]
        for part in PARTS_OF[evaluated]:
            rows, positions = world.rows(task.classes, part)
            split: Literal["train", "test"] = "test" if part == evaluated else "train"
            for path, position in zip(paths(rows), positions.tolist(), strict=True):
                yield ManifestRow(path, first + position, number, split, part, called[position])
        first += len(task.classes)


def write_sequence_folder(
    folder: Inside, record: dict[str, Any], rows: Iterator[ManifestRow] | Sequence[ManifestRow] | None
) -> None:
    """Write ``sequence.json``, and ``manifest.csv`` with ``rows`` unless they are None.

    Raises:
        UserError: the disk is full, or a file is a link.
    """
    contents = {SEQUENCE: json.dumps(record, indent=1) + "\n"}
    if rows is not None:
        text = io.StringIO(newline="")
        writer = csv.writer(text, lineterminator="\n")
        columns = [f.name for f in fields(ManifestRow)]
        writer.writerow(columns)
        writer.writerows(map(attrgetter(*columns), rows))
        contents[MANIFEST] = text.getvalue()
    for name, content in contents.items():
        with atomic_file(folder, name) as file:
            file.write(content.encode())
