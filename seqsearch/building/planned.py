"""The classes of a pool to be, and which images of the sources they are made of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from seqsearch.building.aliases import Alias, by_name
from seqsearch.building.checking import Piece
from seqsearch.building.image_metadata import emptied, kept
from seqsearch.core.digests import seeded_numpy
from seqsearch.core.text import printable
from seqsearch.pools.base import Pool, Rows, row_offsets


@dataclass(frozen=True)
class Planned:
    """A class to be, and where all its images are; ``emptied`` others are left out, whose captions all hold its name."""

    group: str
    name: str
    everything: tuple[Piece, ...]
    emptied: int = 0

    def pieces(self, max_images: int, seed: int) -> list[Piece]:
        """What is taken of it: all (``max_images`` 0), or so many, drawn by ``seed`` over all pieces, in the order they lie."""
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
