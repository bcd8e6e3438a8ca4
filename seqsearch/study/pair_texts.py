"""Checks that the images of a world have the texts that its backbones read, before anything is computed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

import numpy as np

from seqsearch.backbones.base import Backbone, ReadsTexts
from seqsearch.core.errors import UserError
from seqsearch.pools.base import Captioned, Pool, Rows, is_captioned, row_offsets
from seqsearch.pools.parts.captions import image_at

CHUNK = 1 << 14
"""Images whose texts are read at a time."""


def check_texts(backbones: Iterable[Backbone], pools: Iterable[Pool]) -> None:
    """That each pool goes with each of the backbones.

    Raises:
        UserError: a pool without texts for a backbone that reads them, an image without text, a text that is too long.
    """
    reading = [b for b in backbones if isinstance(b, ReadsTexts)]
    for pool in pools if reading else ():
        if not is_captioned(pool):
            raise UserError(
                f"pool {pool.name!r} has images alone, and backbone {reading[0].name!r} reads their texts, too: give it captions "
                "(seqsearch pool build --captions), take glyphs:captions=first, or another backbone"
            )
        images = int(row_offsets(pool.classes)[-1])
        for first in range(0, images, CHUNK):
            used = _used(cast("Captioned", pool), np.arange(first, min(first + CHUNK, images)))
            for backbone in reading:
                _check_lengths(backbone, pool, used)


def _used(pool: Captioned, rows: Rows) -> list[tuple[int, str]]:
    """All texts of some images that may be learned from or evaluated, each with its row."""
    found = list(zip(rows.tolist(), pool.texts(rows), strict=True))
    if getattr(pool, "policy", "first") == "random":
        found += [(row, text) for row, said in zip(rows.tolist(), pool.captions(rows), strict=True) for text in said]
    return found


def _check_lengths(backbone: Any, pool: Pool, used: list[tuple[int, str]]) -> None:
    """A token has a byte at least, also where letters are taken apart: what has few bytes need not be turned into tokens.

    Raises:
        UserError: names the first image whose text is too long.
    """
    longest = getattr(getattr(backbone, "tokeniser", None), "longest", 0)
    long = [(row, text) for row, text in used if len(text.encode()) + 2 > longest]
    try:
        if long:
            backbone.tokenise([text for _, text in long])
    except UserError:
        for row, text in long:
            _check_one(backbone, pool, row, text)
        raise


def _check_one(backbone: Any, pool: Pool, row: int, text: str) -> None:
    """Raises UserError: the text of this image is too long."""
    try:
        backbone.tokenise([text])
    except UserError as error:
        raise UserError(f"pool {pool.name!r}: {image_at(pool, row)}: {error}") from None
