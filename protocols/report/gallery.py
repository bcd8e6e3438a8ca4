"""The tasks of the found sequences as pictures: one sample image per class, embedded in the page."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from seqsearch.core.types import ClassId
from seqsearch.pools.base import Pool, View, row_offsets
from seqsearch.results.rows import TaskSequence
from seqsearch.results.run import FOUND, RunResults

TILE = 64
"""Side of a sample image in pixels, at most."""


def gallery(data: RunResults, pools: Sequence[Pool], larger: str = "harder") -> str:
    """The found sequences, task by task, with an image of every class; ``larger``: what a larger J means."""
    found = [s for s in data.sequences if s.kind in (*FOUND, "easy") and "@" not in s.sequence_id]
    if not found:
        return "<h2>The tasks found</h2>\n<p>No sequence was found in this run.</p>"
    searched = any(s.kind == "searched" for s in found)
    lead = (
        "One sample image per class."
        + searched * f" J is what the search saw when it chose the task: larger is {larger}."
    )
    return f'<h2>The tasks found</h2>\n<p class="lead">{lead}</p>\n' + "\n".join(
        _sequence(s, pools, unfolded=i < 2) for i, s in enumerate(found)
    )


def _sequence(s: TaskSequence, pools: Sequence[Pool], unfolded: bool) -> str:
    tiles = _tiles([c for task in s.tasks for c in task.classes], pools)
    steps = []
    for number, (task, value) in enumerate(zip(s.tasks, s.values, strict=True), 1):
        judged = "drawn at random" if value is None else f"J = {value:.3f}" if s.kind == "searched" else ""
        row = "".join(tiles[c] for c in task.classes)
        label = f'<div class="label">Task {number}<span>{judged}</span></div>'
        steps.append(f'<div class="step">{label}<div class="tiles">{row}</div></div>')
    title = f"{s.sequence_id}, for {', '.join(s.method_ids)}" if s.kind == "searched" else s.sequence_id
    return f"<details{' open' if unfolded else ''}><summary>{escape(title)}</summary>{''.join(steps)}</details>"


def _tiles(classes: Sequence[ClassId], pools: Sequence[Pool]) -> dict[ClassId, str]:
    """A captioned sample image of each class: its first; a blank for classes of other pools."""
    blank = '<figure><div class="none"></div><figcaption>class {} of another pool</figcaption></figure>'
    tiles = {c: blank.format(c.index) for c in classes}
    for pool in pools:
        ours = [c for c in classes if c.pool == pool.digest]
        if not ours:
            continue
        view = View(size=min(pool.native_size or TILE, TILE))
        first = row_offsets(pool.classes)[[c.index for c in ours]]
        for c, image in zip(ours, pool.images(first, view), strict=True):
            name, group = escape(pool.classes[c.index].name), escape(pool.classes[c.index].group)
            caption = f"<figcaption><span>{name}</span><i>{group}</i></figcaption>"
            tiles[c] = f'<figure title="{name} ({group})"><img alt="" src="{_data_uri(image)}">{caption}</figure>'
    return tiles


def _data_uri(image: np.ndarray[Any, np.dtype[np.uint8]]) -> str:
    """PNG of an image ``[3, size, size]``."""
    from PIL import Image

    buffer = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(image.transpose(1, 2, 0))).save(buffer, "PNG", optimize=True)
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode()
