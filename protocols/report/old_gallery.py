"""The tasks of found and of random sequences as pictures: one sample image per class, embedded in the page."""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

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
"""What is drawn at random as a whole, by kind of sequence."""
COMPARED = "What the found ones are compared with."


def gallery(data: RunResults, pools: Sequence[Pool], larger: str = "harder") -> str:
    """The found sequences, task by task, with an image of every class; ``larger``: what a larger J means."""
    found = [s for s in data.sequences if s.kind in (*FOUND, "easy") and "@" not in s.sequence_id]
    if not found:
        return "<h2>The tasks found</h2>\n<p>No sequence was found in this run.</p>"
    searched = any(s.kind == "searched" and any(v is not None for v in s.values) for s in found)
    lead = (
        "One sample image per class."
        + searched * f" J is what the search saw when it chose the task: larger is {larger}."
    )
    return f'<h2>The tasks found</h2>\n<p class="lead">{lead}</p>\n' + "\n".join(
        _sequence(s, pools, unfolded=i < 2) for i, s in enumerate(found)
    )


def the_one_task(data: RunResults, pools: Sequence[Pool]) -> str:
    """The task that all sequences of a run are, once: an image of every class."""
    s = next(s for s in data.sequences if s.kind != "joint")
    steps = _steps(s, _tiles(s.tasks[0].classes, pools, TILE))
    return f'<h2>Its classes</h2>\n<p class="lead">One sample image per class.</p>\n{steps}'


def drawn(data: RunResults, pools: Sequence[Pool], what: str = COMPARED, kind: str = "random") -> str:
    """The first random sequences (or those of a held-out pool), folded up, with small images; classes beyond `DRAWN_TILES` are
    named only.

    ``what`` says what they are for.
    """
    random = [s for s in data.sequences if s.kind == kind and "@" not in s.sequence_id]
    if not random:
        return ""
    body, left, unpictured = "", DRAWN_TILES, 0
    for s in random[:DRAWN]:
        classes = list(dict.fromkeys(c for task in s.tasks for c in task.classes))
        tiles = _tiles(classes[:left], pools, DRAWN_TILE) | _tiles(classes[left:], pools, 0)
        unpictured += len(classes[left:])
        left -= len(classes[:left])
        body += f"<h3>{escape(s.sequence_id)}</h3>{_steps(s, tiles)}"
    title = f"{AT_RANDOM[kind]}: {f'the first {DRAWN} of {len(random)}' if len(random) > DRAWN else len(random)}"
    lead = f"{what} One sample image per class, in {DRAWN_COLORS} colours"
    lead += f"; the first {DRAWN_TILES} have one." if unpictured else "."
    return f'<details class="drawn"><summary>{title}</summary><p class="lead">{escape(lead)}</p>\n{body}</details>'


def _sequence(s: TaskSequence, pools: Sequence[Pool], unfolded: bool) -> str:
    steps = _steps(s, _tiles([c for task in s.tasks for c in task.classes], pools, TILE))
    title = f"{s.sequence_id}, for {', '.join(s.method_ids)}" if s.kind == "searched" else s.sequence_id
    return f"<details{' open' if unfolded else ''}><summary>{escape(title)}</summary>{steps}</details>"


def _steps(s: TaskSequence, tiles: Mapping[ClassId, str]) -> str:
    steps = []
    for number, (task, value) in enumerate(zip(s.tasks, s.values, strict=True), 1):
        judged = "drawn at random" if value is None else f"J = {value:.3f}" if s.kind == "searched" else ""
        row = "".join(tiles[c] for c in task.classes)
        label = f'<div class="label">Task {number}<span>{judged if s.kind not in AT_RANDOM else ""}</span></div>'
        steps.append(f'<div class="step">{label}<div class="tiles">{row}</div></div>')
    return "".join(steps)


def _tiles(classes: Sequence[ClassId], pools: Sequence[Pool], side: int) -> dict[ClassId, str]:
    """Each class captioned, with its first image of at most ``side`` pixels (0: without); a blank for those of other pools."""
    blank = '<figure><div class="none"></div><figcaption>class {} of another pool</figcaption></figure>'
    tiles = {c: blank.format(c.index) for c in classes}
    for pool in pools:
        ours = [c for c in classes if c.pool == pool.digest]
        if not ours:
            continue
        for c, image in zip(ours, _first_images(ours, pool, side), strict=True):
            name, group = escape(pool.classes[c.index].name), escape(pool.classes[c.index].group)
            caption = f"<figcaption><span>{name}</span><i>{group}</i></figcaption>"
            tiles[c] = f'<figure title="{name} ({group})">{image}{caption}</figure>'
    return tiles


def _first_images(classes: Sequence[ClassId], pool: Pool, side: int) -> list[str]:
    """The ``<img>`` of each class, or nothing if ``side`` is 0."""
    if not side:
        return [""] * len(classes)
    first = row_offsets(pool.classes)[[c.index for c in classes]]
    images = pool.images(first, View(size=min(pool.native_size or side, side)))
    colors = DRAWN_COLORS if side == DRAWN_TILE else 0
    return [f'<img alt="" src="{_data_uri(image, colors)}">' for image in images]


def _data_uri(image: np.ndarray[Any, np.dtype[np.uint8]], colors: int) -> str:
    """PNG of an image ``[3, size, size]``, in at most so many colours (0: in all of its own)."""
    from PIL import Image

    buffer = io.BytesIO()
    shown = Image.fromarray(np.ascontiguousarray(image.transpose(1, 2, 0)))
    (shown.quantize(colors) if colors else shown).save(buffer, "PNG", optimize=True)
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode()
