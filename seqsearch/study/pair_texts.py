"""That the images of a world have the texts that its backbones read, before anything is computed."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from seqsearch.backbones.base import ReadsTexts
from seqsearch.core.errors import UserError
from seqsearch.pools.base import is_captioned, row_offsets

if TYPE_CHECKING:
    from seqsearch.backbones.base import Backbone
    from seqsearch.pools.base import Captioned, Pool, Rows

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
            texts = _used(cast("Captioned", pool), np.arange(first, min(first + CHUNK, images)))
            for backbone in reading:
                _check_lengths(backbone, texts)


def _used(pool: Captioned, rows: Rows) -> list[str]:
    """All texts of some images that may be learned from or judged."""
    return [
        *pool.texts(rows),
        *(chain.from_iterable(pool.captions(rows)) if getattr(pool, "policy", "first") == "random" else ()),
    ]


def _check_lengths(backbone: Any, texts: list[str]) -> None:
    """A token has a byte at least, also where letters are taken apart: what has few bytes need not be turned into tokens."""
    longest = getattr(getattr(backbone, "tokeniser", None), "longest", 0)
    long = [text for text in texts if len(text.encode()) + 2 > longest]
    if long:
        backbone.tokenise(long)
