"""What goes with an image into the file: its path, its given split, its captions, and what it is bound to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from seqsearch.building.captioned import Captioned
from seqsearch.building.checking import Checked
from seqsearch.building.writing import Image
from seqsearch.pools.base import GIVEN, Pool, Rows

SPLIT_NAMES = tuple({"reward": "validation"}.get(part, part) for part in GIVEN)
"""What the column ``split`` says of each position in `GIVEN`."""


class ImageMetadata:
    """Of all images of some named sources."""

    def __init__(self, sources: Sequence[tuple[str, Pool]]) -> None:
        self._prefix = [f"{name}/" if len(sources) > 1 else "" for name, _ in sources]
        missing = [name for name, p in sources if p.given is None]
        self.note = (
            f"the sources' own splits were left out, since {missing[0]} has none"
            if 0 < len(missing) < len(sources)
            else ""
        )
        self._given = [None if missing else p.given for _, p in sources]
        self._pools: list[Any] = [p for _, p in sources]
        self._told = [isinstance(p, Captioned) or getattr(p, "captioned", False) for _, p in sources]
        self._bound = [_is_bound(p) for _, p in sources]

    @property
    def captioned(self) -> bool:
        """An image may have captions."""
        return any(self._told)

    @property
    def bound(self) -> bool:
        """An image may be bound to others."""
        return any(self._bound)

    def texts(self, number: int, rows: Rows) -> Iterator[tuple[list[str], str | None]]:
        """Captions of the images at ``rows`` of a source, and what each is bound to."""
        pool, none = self._pools[number], [None] * len(rows)
        captions = pool.captions(rows) if self._told[number] else [[] for _ in none]
        yield from zip(captions, pool.sets(rows) if self._bound[number] else none, strict=True)

    def path(self, number: int, where: str) -> str:
        """Where an image is from."""
        return self._prefix[number] + where

    def image(self, number: int, row: int, checked: Checked, texts: tuple[list[str], str | None]) -> Image:
        """An image as it is written."""
        given = self._given[number]
        split = None if given is None else SPLIT_NAMES[given[row]]
        return Image(checked.data, self.path(number, checked.where), split, texts[0], texts[1], checked.mark)


def _is_bound(pool: Any) -> bool:
    if isinstance(pool, Captioned):
        return any(v is not None for v in pool.bound_values)
    return getattr(pool, "bound", None) is not None and hasattr(pool, "sets")


def kept(pool: Pool, rows: Rows) -> Rows:
    """Those of ``rows`` whose images are taken at all."""
    return rows[pool.kept[rows]] if isinstance(pool, Captioned) else np.asarray(rows)


def emptied(pool: Pool, rows: Rows) -> int:
    """How many of ``rows`` are not, since all their captions held the name of their class."""
    return int(pool.emptied[rows].sum()) if isinstance(pool, Captioned) else 0
