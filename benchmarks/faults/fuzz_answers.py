"""Answers of commands: sound ones, how they are damaged, and how seqsearch reads them."""

from __future__ import annotations

import functools
import json
import re
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.faults.fuzz_damage import Random, json_changed
from seqsearch.core.errors import UserError
from seqsearch.core.types import Task
from seqsearch.pools.base import Rows
from seqsearch.storage.inside import Inside
from seqsearch.training.command.answer import BadAnswer, read_answer, read_predictions
from seqsearch.training.world import World

LARGE = 180_000_000
"""Bytes of the largest answers."""
NUMBERS = (
    "1" + "0" * 400, "-1" + "0" * 400, "9" * 5000, "1e400", "-1e400", "1e-400", "1" + "0" * 400 + "e-400", "0." + "9" * 400,
    "NaN", "Infinity", "-Infinity", "-0.0", "-0", "1.0000000000000002", "0x1", "1_0", "+1", "01", ".5", "1.", "true",
)  # fmt: skip
ENCODINGS = ("utf-16", "utf-32", "utf-16-be", "utf-8-sig", "utf-7", "cp037")


class _Study(NamedTuple):
    world: World
    tasks: tuple[Task, ...]
    order: Rows
    """In which the evaluated images are listed."""
    counts: tuple[int, ...]
    """Evaluated images of each task."""


@functools.cache
def _study() -> _Study:
    """Three tasks of glyphs, evaluated on 4 images a class."""
    world = World("glyphs:classes=8,train=4,reward=2,test=4,size=32", 0, "unused", "unused")
    tasks = (world.task([0, 1]), world.task([2, 3, 4]), world.task([5]))
    counts = tuple(len(world.rows(t.classes, "test")[0]) for t in tasks)
    return _Study(world, tasks, np.random.default_rng(0).permutation(sum(counts)), counts)


def _truth() -> list[int]:
    """Labels of the evaluated images, task by task."""
    world, tasks = _study()[:2]
    first = np.cumsum([0, *(len(t.classes) for t in tasks)])
    return [int(p + f) for t, f in zip(tasks, first, strict=False) for p in world.rows(t.classes, "test")[1]]


def graded(folder: Path) -> list[Path]:
    """Of a command that grades itself: accuracies, and its last predictions."""
    said = {"accuracy": [[1.0], [0.5, 1.0], [1.0, 1.0, 1.0]], "predicted": _truth()}
    (folder / "accuracy.json").write_text(json.dumps(said))
    return [folder / "accuracy.json"]


def predicted(folder: Path) -> list[Path]:
    """Of a command that predicts."""
    labels = np.array(_truth())[_study().order].tolist()
    (folder / "accuracy.json").write_text(json.dumps({"predicted": [labels] * 3}))
    return [folder / "accuracy.json"]


def read_graded(folder: Path) -> None:
    """Read it as accuracies."""
    _read(folder, predicts=False)


def read_predicted(folder: Path) -> None:
    """Read it as predictions."""
    _read(folder, predicts=True)


def _read(folder: Path, predicts: bool) -> None:
    world, tasks, order, counts = _study()
    try:
        if predicts:
            answer = read_predictions(Inside(folder), "accuracy.json", world, tasks, "test", order)
        else:
            answer = read_answer(Inside(folder), "accuracy.json", world, tasks, "test")
    except BadAnswer as error:
        raise UserError(str(error)) from None
    assert [len(row) for row in answer.steps] == [1, 2, 3]
    assert all(0 <= k <= n for row in answer.steps for k, n in zip(row, counts, strict=False))
    assert [sum(n) for n in answer.judged] == list(counts)


def answer_changed(draw: Random, data: bytes) -> bytes:
    """Bytes, values, a number, the depth, the encoding, or the size."""
    what = draw.random()
    if what < 0.5:
        return json_changed(draw, data)
    if what < 0.8:
        places = list(re.finditer(rb"-?\d+(\.\d+)?", data))
        place = places[int(draw.integers(len(places)))]
        return data[: place.start()] + NUMBERS[draw.integers(len(NUMBERS))].encode() + data[place.end() :]
    if what < 0.9:
        depth = int(10 ** draw.uniform(0, 5.3))
        opened, closed = ((b"[", b"]"), (b'{"accuracy":', b"}"), (b'{"predicted":[', b"]}"))[draw.integers(3)]
        return opened * depth + data + closed * int(depth - (draw.random() < 0.3))
    if what < 0.98:
        return data.decode().encode(ENCODINGS[draw.integers(len(ENCODINGS))])
    size = LARGE if draw.random() < 0.5 else int(10 ** draw.uniform(5, 8))
    return data[:-1] + b', "x": [' + b"0," * ((size - len(data)) // 2) + b"0]}"
