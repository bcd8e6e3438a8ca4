"""A pool at a glance: one image of some classes of some groups, in one PNG."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from seqsearch.errors import UserError
from seqsearch.files import atomic_path
from seqsearch.pools.base import View
from seqsearch.pools.union import Union

TILE, CAPTION, MARGIN = 80, 14, 6
"""Pixels."""
GROUPS, PER_GROUP = 12, 10


def write_sheet(pools: Union, path: Path) -> None:
    """At most `GROUPS` groups of `PER_GROUP` classes, evenly chosen, the first image of each.

    Raises:
        UserError: an image cannot be decoded, or the file cannot be written.
    """
    from PIL import Image, ImageDraw

    if path.suffix.lower() != ".png":
        raise UserError(f"--sheet {path}: must end in .png")
    groups: dict[str, list[int]] = {}
    for index, c in enumerate(pools.classes):
        groups.setdefault(c.group, []).append(index)
    chosen = {g: _evenly(groups[g], PER_GROUP) for g in _evenly(list(groups), GROUPS)}
    columns = max(len(members) for members in chosen.values())
    row_height = CAPTION + TILE + CAPTION + MARGIN
    sheet = Image.new("RGB", (MARGIN + columns * (TILE + MARGIN), MARGIN + len(chosen) * row_height), "white")
    draw = ImageDraw.Draw(sheet)
    for number, (group, members) in enumerate(chosen.items()):
        top = MARGIN + number * row_height
        draw.text((MARGIN, top), f"{_latin(group)} ({len(groups[group])})", fill="black")
        images = pools.images(pools.offsets[members], View(size=min(pools.native_size or TILE, TILE)))
        for column, (index, image) in enumerate(zip(members, images, strict=True)):
            left = MARGIN + column * (TILE + MARGIN)
            picture = Image.fromarray(np.ascontiguousarray(image.transpose(1, 2, 0))).resize((TILE, TILE))
            sheet.paste(picture, (left, top + CAPTION))
            draw.text((left, top + CAPTION + TILE), _latin(pools.classes[index].name)[:13], fill="#555555")
    with atomic_path(path) as temporary:
        sheet.save(temporary, "PNG")


def _evenly(items: list[Any], number: int) -> list[Any]:
    """At most ``number`` of the items, evenly spread."""
    if len(items) <= number:
        return items
    return [items[i] for i in np.linspace(0, len(items) - 1, number).round().astype(int)]


def _latin(text: str) -> str:
    """What Pillow's own font can draw."""
    return text.encode("latin-1", "replace").decode("latin-1")
