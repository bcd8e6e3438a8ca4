"""A pool at a glance: one image of some classes of some groups, in one PNG."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from seqsearch.core.errors import UserError
from seqsearch.core.text import shown
from seqsearch.pools.base import View
from seqsearch.pools.union import Union
from seqsearch.storage.files import atomic_path

TILE, CAPTION, MARGIN = 80, 14, 6
"""Pixels."""
GROUPS, PER_GROUP = 12, 10
LONGEST = 200
"""Characters of a name that are looked at."""


def check_sheet(path: Path) -> None:
    """Raises UserError: a sheet cannot be written there, as far as that can be seen beforehand."""
    if path.suffix.lower() != ".png":
        raise UserError(f"--sheet {path}: must end in .png")
    if not path.parent.is_dir():
        raise UserError(f"--sheet {path}: folder {path.parent} does not exist: make it first")


def write_sheet(pools: Union, path: Path) -> list[str]:
    """At most `GROUPS` groups of `PER_GROUP` classes, evenly chosen, the first image of each.

    Returns:
        What is wrong with images that cannot be shown; their tiles are crossed out.

    Raises:
        UserError: the file cannot be written.
    """
    from PIL import Image, ImageDraw

    check_sheet(path)
    groups: dict[str, list[int]] = {}
    for index, c in enumerate(pools.classes):
        groups.setdefault(c.group, []).append(index)
    chosen = {g: _evenly(groups[g], PER_GROUP) for g in _evenly(list(groups), GROUPS)}
    columns = max(len(members) for members in chosen.values())
    row_height = CAPTION + TILE + CAPTION + MARGIN
    width = MARGIN + columns * (TILE + MARGIN)
    sheet = Image.new("RGB", (width, MARGIN + len(chosen) * row_height), "white")
    draw, problems = ImageDraw.Draw(sheet), []
    for number, (group, members) in enumerate(chosen.items()):
        top = MARGIN + number * row_height
        draw.text((MARGIN, top), _fitting(draw, f"{group} ({len(groups[group])})", width - 2 * MARGIN), fill="black")
        for column, index in enumerate(members):
            left = MARGIN + column * (TILE + MARGIN)
            try:
                sheet.paste(_tile(pools, index), (left, top + CAPTION))
            except UserError as error:
                problems.append(str(error))
                low, high = (left, top + CAPTION), (left + TILE - 1, top + CAPTION + TILE - 1)
                draw.rectangle([low, high], outline="red")
                draw.line([low, high], fill="red")
            name = _fitting(draw, pools.classes[index].name, TILE)
            draw.text((left, top + CAPTION + TILE), name, fill="#555555")
    with atomic_path(path) as temporary:
        sheet.save(temporary, "PNG")
    return problems


def _tile(pools: Union, index: int) -> Any:
    """The first image of a class."""
    from PIL import Image

    [image] = pools.images(pools.offsets[[index]], View(min(pools.native_size or TILE, TILE)))
    return Image.fromarray(np.ascontiguousarray(image.transpose(1, 2, 0))).resize((TILE, TILE))


def _evenly(items: list[Any], number: int) -> list[Any]:
    """At most ``number`` of the items, evenly spread."""
    if len(items) <= number:
        return items
    return [items[i] for i in np.linspace(0, len(items) - 1, number).round().astype(int)]


def _fitting(draw: Any, text: str, width: int) -> str:
    """As much of a text as fits, in characters that Pillow's own font has."""
    text = shown(text[:LONGEST]).encode("latin-1", "replace").decode("latin-1")
    while text and draw.textlength(text) > width:
        text = text[:-1]
    return text
