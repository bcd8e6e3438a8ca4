"""A method by command: the folder that it is given, how it is run, and what comes back.

It learns all experiences of a prefix in one go, in a process of its own, and writes how it did after each. What it may not do:
write outside its folder (held by the kernel where that can), take for ever, answer anything but accuracies of these images.
"""

from __future__ import annotations

import contextlib
import csv
import io
import os
import re
import shutil
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from seqsearch.core.command_line import PREDICT, predicts
from seqsearch.core.digests import seed_of, seeded_numpy
from seqsearch.core.outcomes import EdgeResult
from seqsearch.core.types import Edge, Task, Tasks
from seqsearch.methods.command import Command, CommandConfig
from seqsearch.methods.config import build_config
from seqsearch.pools.base import Rows
from seqsearch.pools.image_files import own_paths
from seqsearch.storage.files import atomic_file, cannot_write
from seqsearch.storage.inside import Inside
from seqsearch.training.command import confined
from seqsearch.training.command.answer import Answer, BadAnswer, read_answer, read_predictions
from seqsearch.training.command.places import Places, places_of
from seqsearch.training.command.process import CommandFailed, run_process
from seqsearch.training.sequence_folder import MANIFEST, SEQUENCE, manifest, record_of, write_sequence_folder
from seqsearch.training.world import World

MATRIX, LIST = "accuracy.json", "images.csv"
LARGEST = 1 << 30
"""Bytes of an image."""


def run_command(world: World, edge: Edge, worker: str, space: Callable[[], str]) -> EdgeResult:
    """Run the command of an edge on all of its experiences; ``space`` names the frozen features that a search goes by instead.

    Raises:
        UserError: the disk is full, or a folder is reached through a link.
    """
    tasks = tuple(t for t in edge.key.prefix if isinstance(t, Task))
    begin = time.perf_counter()
    try:
        answer = _answered(world, edge, tasks)
    except CommandFailed as error:
        return EdgeResult(
            edge.digest,
            edge.key.digest,
            error.status,
            message=str(error),
            worker=worker,
            train_seconds=time.perf_counter() - begin,
        )
    return EdgeResult(
        edge.digest,
        edge.key.digest,
        "ok",
        answer.judged,
        (answer.head,),
        trained=(edge.key.digest,),
        train_seconds=time.perf_counter() - begin,
        worker=worker,
        steps=answer.steps,
        feature_space=space() if edge.judged == "reward" else "",
        notes=(
            ("confined", float(confined.available() > 0)),
            ("self_graded", float(not predicts(edge.key.method.command))),
        ),
    )


def _answered(world: World, edge: Edge, tasks: Tasks) -> Answer:
    key, config = edge.key, build_config(Command, dict(edge.key.method.params))
    assert isinstance(config, CommandConfig)
    places = places_of(Path(world.states), edge.digest)
    seed = seed_of("command", key.seed, key.replicate) & 0x7FFFFFFF  # as every library takes it
    given = _prepare(world, edge, tasks, places, seed)
    order = _unlabelled(world, edge, tasks, places) if predicts(key.method.command) else None
    values = {
        "{sequence}": places.sequence.path,
        "{out}": places.out.path / MATRIX,
        "{seed}": seed,
        PREDICT: places.unlabelled.path / LIST,
    }
    words = [_filled(word, {name: str(value) for name, value in values.items()}) for word in key.method.command]
    run_process(words, places, config.hours, config.writes)
    if _bytes_of(places.sequence) != given:
        raise CommandFailed(
            f"it changed the folder that it was given ({places.sequence.path}): let it write to its own"
        )
    try:
        if order is None:
            return read_answer(places.out, MATRIX, world, tasks, edge.judged)
        return read_predictions(places.out, MATRIX, world, tasks, edge.judged, order)
    except BadAnswer as error:
        raise CommandFailed(f"{error}{places.where_output}") from None


def _filled(word: str, values: dict[str, str]) -> str:
    return re.sub("|".join(map(re.escape, values)), lambda found: values[found[0]], word)


def _prepare(world: World, edge: Edge, tasks: Tasks, places: Places, seed: int) -> list[bytes]:
    """Make its folder anew, and write the sequence; the bytes of what was written."""
    try:
        Inside(places.folder.root, places.folder.parts[:-1]).make()
        with contextlib.suppress(FileNotFoundError):
            shutil.rmtree(places.folder.path)  # what one that was killed has left
        for folder in (places.sequence, places.out, places.scratch):
            folder.make()
    except OSError as error:
        raise cannot_write(error, places.folder.path) from error
    files = world.image_files

    def paths(rows: Rows) -> Sequence[str]:
        if all(hasattr(p, "root") for p in world.images.parts):
            with contextlib.suppress(UnicodeEncodeError):  # a name that is no text cannot stand in a manifest
                own = own_paths(world.images, rows)
                "".join(own).encode()
                return own
        return [os.path.join(files.folder.path, path) for path in files.write(rows)]

    record = record_of(world, places.folder.parts[-1], tasks, seed)
    rows = manifest(world, tasks, paths, edge.judged)
    own = (r for r in rows if r.split == "train") if predicts(edge.key.method.command) else rows
    write_sequence_folder(places.sequence, record, own)
    return _bytes_of(places.sequence)


def _unlabelled(world: World, edge: Edge, tasks: Tasks, places: Places) -> Rows:
    """Copy the evaluated images under names that say nothing, in an order that says nothing, and list them; which image of all
    (task by task) each of the list is."""
    rows = np.concatenate([world.rows(task.classes, edge.judged)[0] for task in tasks])
    order = seeded_numpy("unlabelled", edge.digest, edge.key.seed, edge.key.replicate).permutation(len(rows))
    files, folder, paths = world.image_files, places.unlabelled, list[str]()
    folder.make()
    for number, path in enumerate(files.write(rows[order])):
        *within, name = path.split("/")
        paths.append(f"{number:07d}{os.path.splitext(name)[1]}")
        with atomic_file(folder, paths[-1]) as file:
            file.write(files.folder.at(*within).read(name, LARGEST))
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows([("path",), *((str(folder.path / p),) for p in paths)])
    with atomic_file(folder, LIST) as file:
        file.write(text.getvalue().encode())
    return order


def _bytes_of(folder: Inside) -> list[bytes]:
    found = []
    for name in (SEQUENCE, MANIFEST):
        try:
            found.append(folder.read(name, 1 << 30))
        except OSError:
            found.append(b"")
    return found
