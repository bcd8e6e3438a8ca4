"""The classes of a planned pool, the images of the sources that they are made of, and the metadata of these images."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from seqsearch.building.aliases import Alias, by_name
from seqsearch.building.captioned import Captioned
from seqsearch.building.checking import Checked, Piece
from seqsearch.building.writing import Image
from seqsearch.core.digests import seeded_numpy
from seqsearch.core.text import printable
from seqsearch.pools.base import GIVEN, Pool, Rows, row_offsets


@dataclass(frozen=True)
class Planned:
    """A class to be, and where all its images are; ``emptied`` others are left out, whose captions all hold its name."""

    group: str
    name: str
    everything: tuple[Piece, ...]
    emptied: int = 0

    def pieces(self, max_images: int, seed: int) -> list[Piece]:
        """Return the images to take. With ``max_images`` 0 they are all images, else so many, drawn by ``seed`` over
        all pieces, in their order."""
        if not 0 < max_images < sum(len(rows) for _, rows in self.everything):
            return list(self.everything)
        drawn = np.sort(self._order(seed)[:max_images])
        found, low = [], 0
        for number, rows in self.everything:
            found.append((number, rows[drawn[(drawn >= low) & (drawn < low + len(rows))] - low]))
            low += len(rows)
        return found

    def spare(self, max_images: int, seed: int) -> list[tuple[int, int]]:
        """(source, row) of the images that were not drawn, in the order in which they replace unusable ones."""
        numbers = np.concatenate([np.full(len(rows), number) for number, rows in self.everything])
        rows = np.concatenate([rows for _, rows in self.everything])
        rest = self._order(seed)[max_images:]
        return list(zip(numbers[rest].tolist(), rows[rest].tolist(), strict=True))

    def _order(self, seed: int) -> Rows:
        total = sum(len(rows) for _, rows in self.everything)
        return seeded_numpy("pool build", seed, self.group, self.name).permutation(total)


def plan(sources: Sequence[tuple[str, Pool]], merge_aliases: bool) -> tuple[list[Planned], list[Alias]]:
    """The classes to be, sorted by group and name, and those that were made one with another.

    Args:
        merge_aliases: classes of different groups with the same name become one.
    """
    pieces: dict[tuple[str, str], list[Piece]] = {}
    lost: Counter[tuple[str, str]] = Counter()
    for number, (source, pool) in enumerate(sources):
        offsets, groups = row_offsets(pool.classes), {c.group for c in pool.classes}
        for index, c in enumerate(pool.classes):
            group = c.group if len(sources) == 1 else source if len(groups) == 1 else f"{source}/{c.group}"
            rows, key = np.arange(offsets[index], offsets[index + 1]), (printable(group), printable(c.name))
            pieces.setdefault(key, []).append((number, kept(pool, rows)))
            lost[key] += emptied(pool, rows)
    merged = by_name(sorted(pieces)) if merge_aliases else []
    for alias in merged:
        pieces[alias.first] += pieces.pop(alias.second)
        lost[alias.first] += lost.pop(alias.second)
    return [Planned(g, n, tuple(pieces[g, n]), lost[g, n]) for g, n in sorted(pieces)], merged


SPLIT_NAMES = tuple({"reward": "validation"}.get(part, part) for part in GIVEN)
"""Values of the column ``split``, in the order of `GIVEN`."""


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
        self._captioned = [isinstance(p, Captioned) or getattr(p, "captioned", False) for _, p in sources]
        self._bound = [_is_bound(p) for _, p in sources]

    @property
    def captioned(self) -> bool:
        """An image may have captions."""
        return any(self._captioned)

    @property
    def bound(self) -> bool:
        """An image may be bound to others."""
        return any(self._bound)

    def texts(self, number: int, rows: Rows) -> Iterator[tuple[list[str], str | None]]:
        """Captions of the images at ``rows`` of a source, and what each is bound to."""
        pool, none = self._pools[number], [None] * len(rows)
        captions = pool.captions(rows) if self._captioned[number] else [[] for _ in none]
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
