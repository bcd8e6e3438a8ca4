"""The tasks of found and of random sequences as pictures: one sample image per class."""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from seqsearch.core.types import ClassId
from seqsearch.pools.base import Pool, View, row_offsets
from seqsearch.results.rows import TaskSequence
from seqsearch.results.run import FOUND, RunResults

TILE = 64
"""Side of a sample image in pixels, at most."""
DRAWN = 2
"""Random sequences that are shown."""
DRAWN_TILE, DRAWN_TILES, DRAWN_COLORS = 32, 120, 64
"""Side, number and colours of sample images in random sequences, at most: as they are embedded, 0.25 MB of them."""

AT_RANDOM = {"random": "Random sequences", "heldout": "Random sequences of the held-out pool"}
"""Titles of random sequences, by their kind."""
COMPARED = "What the found ones are compared with."


class Class(NamedTuple):
    """A class with its name, group and picture: a data URI, empty for a class that is only named, None for one without images."""

    name: str
    group: str
    uri: str | None


class Step(NamedTuple):
    """A task of a sequence: its name, why it was chosen, and its classes."""

    label: str
    value: str
    classes: list[Class]


class Shown(NamedTuple):
    """A sequence, under a title that may be empty."""

    title: str
    steps: list[Step]


class Gallery(NamedTuple):
    """Sequences under one heading; ``small`` ones are folded away."""

    title: str
    lead: str
    sequences: list[Shown]
    small: bool = False


def gallery(data: RunResults, pools: Sequence[Pool], larger: str = "harder") -> Gallery:
    """The found sequences, task by task, with an image of every class; ``larger``: the meaning of a larger J."""
    found = [s for s in data.sequences if s.kind in (*FOUND, "easy") and "@" not in s.sequence_id]
    if not found:
        return Gallery("The tasks found", "No sequence was found in this run.", [])
    searched = any(s.kind == "searched" and any(v is not None for v in s.values) for s in found)
    lead = (
        "One sample image per class."
        + searched * f" J is what the search saw when it chose the task: larger is {larger}."
    )
    return Gallery("The tasks found", lead, [_sequence(s, pools) for s in found])


def found_and_random(data: RunResults | None, pools: Sequence[Pool]) -> list[Gallery]:
    """`gallery` and `drawn`; empty without a run."""
    return [gallery(data, pools), *drawn(data, pools)] if data else []


def the_one_task(data: RunResults, pools: Sequence[Pool]) -> Gallery:
    """The task that all sequences of a run are, once: an image of every class."""
    s = next(s for s in data.sequences if s.kind != "joint")
    steps = _steps(s, _pictured(s.tasks[0].classes, pools, TILE))
    return Gallery("Its classes", "One sample image per class.", [Shown("", steps)])


def drawn(data: RunResults, pools: Sequence[Pool], what: str = COMPARED, kind: str = "random") -> list[Gallery]:
    """The first random sequences (or those of a held-out pool), with small images; classes beyond `DRAWN_TILES` are named only.
    Empty if there are none.

    ``what`` says what they are for.
    """
    random = [s for s in data.sequences if s.kind == kind and "@" not in s.sequence_id]
    if not random:
        return []
    shown, left, unpictured = [], DRAWN_TILES, 0
    for s in random[:DRAWN]:
        classes = list(dict.fromkeys(c for task in s.tasks for c in task.classes))
        pictured = _pictured(classes[:left], pools, DRAWN_TILE) | _pictured(classes[left:], pools, 0)
        unpictured += len(classes[left:])
        left -= len(classes[:left])
        shown.append(Shown(s.sequence_id, _steps(s, pictured)))
    title = f"{AT_RANDOM[kind]}: {f'the first {DRAWN} of {len(random)}' if len(random) > DRAWN else len(random)}"
    lead = f"{what} One sample image per class, in {DRAWN_COLORS} colours"
    lead += f"; the first {DRAWN_TILES} have one." if unpictured else "."
    return [Gallery(title, lead, shown, small=True)]


def _sequence(s: TaskSequence, pools: Sequence[Pool]) -> Shown:
    steps = _steps(s, _pictured([c for task in s.tasks for c in task.classes], pools, TILE))
    return Shown(f"{s.sequence_id}, for {', '.join(s.method_ids)}" if s.kind == "searched" else s.sequence_id, steps)


def _steps(s: TaskSequence, pictured: Mapping[ClassId, Class]) -> list[Step]:
    steps = []
    for number, (task, value) in enumerate(zip(s.tasks, s.values, strict=True), 1):
        evaluated = "drawn at random" if value is None else f"J = {value:.3f}" if s.kind == "searched" else ""
        chosen = evaluated if s.kind not in AT_RANDOM else ""
        steps.append(Step(f"Task {number}", chosen, [pictured[c] for c in task.classes]))
    return steps


def _pictured(classes: Sequence[ClassId], pools: Sequence[Pool], side: int) -> dict[ClassId, Class]:
    """Each class with its first image of at most ``side`` pixels (0: without); those of other pools have none."""
    found = {c: Class(f"class {c.index} of another pool", "", None) for c in classes}
    for pool in pools:
        ours = [c for c in classes if c.pool == pool.digest]
        if not ours:
            continue
        for c, uri in zip(ours, _first_images(ours, pool, side), strict=True):
            found[c] = Class(pool.classes[c.index].name, pool.classes[c.index].group, uri)
    return found


def _first_images(classes: Sequence[ClassId], pool: Pool, side: int) -> list[str]:
    """A data URI for each class, or nothing if ``side`` is 0."""
    if not side:
        return [""] * len(classes)
    first = row_offsets(pool.classes)[[c.index for c in classes]]
    images = pool.images(first, View(size=min(pool.native_size or side, side)))
    colors = DRAWN_COLORS if side == DRAWN_TILE else 0
    return [_data_uri(image, colors) for image in images]


def _data_uri(image: np.ndarray[Any, np.dtype[np.uint8]], colors: int) -> str:
    """PNG of an image ``[3, size, size]``, in at most so many colours (0: in all of its own)."""
    from PIL import Image

    buffer = io.BytesIO()
    shown = Image.fromarray(np.ascontiguousarray(image.transpose(1, 2, 0)))
    (shown.quantize(colors) if colors else shown).save(buffer, "PNG", optimize=True)
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode()
