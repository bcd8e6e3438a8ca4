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
    """A class of the pool to be built, and where its images are.

    Attributes:
        everything: for each source that has the class, the number of the source and the rows of the images there.
        emptied: number of images that are left out because every caption names the class.
    """

    group: str
    name: str
    everything: tuple[Piece, ...]
    emptied: int = 0

    def pieces(self, max_images: int, seed: int) -> list[Piece]:
        """The images to take: ``max_images`` of them, drawn by ``seed`` from all pieces and then in the order of the pieces. All
        images if ``max_images`` is 0."""
        if not 0 < max_images < sum(len(rows) for _, rows in self.everything):
            return list(self.everything)
        drawn = np.sort(self._order(seed)[:max_images])
        found, low = [], 0
        for number, rows in self.everything:
            found.append((number, rows[drawn[(drawn >= low) & (drawn < low + len(rows))] - low]))
            low += len(rows)
        return found

    def spare(self, max_images: int, seed: int) -> list[tuple[int, int]]:
        """(source, row) of the images that `pieces` did not draw, in the order in which they replace unusable ones. None with
        ``max_images`` 0, since `pieces` then takes all images."""
        if not max_images:
            return []
        numbers = np.concatenate([np.full(len(rows), number) for number, rows in self.everything])
        rows = np.concatenate([rows for _, rows in self.everything])
        rest = self._order(seed)[max_images:]
        return list(zip(numbers[rest].tolist(), rows[rest].tolist(), strict=True))

    def _order(self, seed: int) -> Rows:
        total = sum(len(rows) for _, rows in self.everything)
        return seeded_numpy("pool build", seed, self.group, self.name).permutation(total)


def plan(sources: Sequence[tuple[str, Pool]], merge_aliases: bool) -> tuple[list[Planned], list[Alias]]:
    """The classes of the pool to be built, sorted by group and name, and the pairs of classes that were merged.

    Args:
        sources: names and pools that the classes are taken from.
        merge_aliases: merge classes of different groups with the same name.
    """
    pieces: dict[tuple[str, str], list[Piece]] = {}
    lost: Counter[tuple[str, str]] = Counter()
    for number, (source, pool) in enumerate(sources):
        offsets, groups = row_offsets(pool.classes), {c.group for c in pool.classes}
        for index, c in enumerate(pool.classes):
            of_several = source if len(groups) == 1 else f"{source}/{c.group}"
            group = c.group if len(sources) == 1 else of_several
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
    """Split, captions, subject and provenance of the images of some named sources, as they are written to the pool."""

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
        """Whether any source has captions."""
        return any(self._captioned)

    @property
    def bound(self) -> bool:
        """Whether any source names the subjects of images. Images of one subject are kept in one part of the split."""
        return any(self._bound)

    def texts(self, number: int, rows: Rows) -> Iterator[tuple[list[str], str | None]]:
        """Captions of the images at ``rows`` of a source, and the subject of each image (None: it has none)."""
        pool, none = self._pools[number], [None] * len(rows)
        captions = pool.captions(rows) if self._captioned[number] else [[] for _ in none]
        yield from zip(captions, pool.sets(rows) if self._bound[number] else none, strict=True)

    def path(self, number: int, where: str) -> str:
        """Provenance of an image: its place ``where`` in source ``number``, after the source's name if there are several."""
        return self._prefix[number] + where

    def image(self, number: int, row: int, checked: Checked, texts: tuple[list[str], str | None]) -> Image:
        """The record of an image that is written to the pool."""
        given = self._given[number]
        split = None if given is None else SPLIT_NAMES[given[row]]
        return Image(checked.data, self.path(number, checked.where), split, texts[0], texts[1], checked.mark)


def _is_bound(pool: Any) -> bool:
    if isinstance(pool, Captioned):
        return any(v is not None for v in pool.bound_values)
    return getattr(pool, "bound", None) is not None and hasattr(pool, "sets")


def kept(pool: Pool, rows: Rows) -> Rows:
    """``rows`` without those whose images are left out because they have no caption."""
    return rows[pool.kept[rows]] if isinstance(pool, Captioned) else np.asarray(rows)


def emptied(pool: Pool, rows: Rows) -> int:
    """How many images at ``rows`` are left out because every caption names the class."""
    return int(pool.emptied[rows].sum()) if isinstance(pool, Captioned) else 0
