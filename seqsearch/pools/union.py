"""Several pools as one: their classes and rows side by side, in the order given. What a run sees, also when it is one pool."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from seqsearch.core.digests import digest_of
from seqsearch.core.errors import UserError
from seqsearch.pools.base import ClassInfo, Part, Pool, Rows, Split, View, is_captioned, row_offsets

if TYPE_CHECKING:
    import torch


class Union:
    """Classes and rows of ``parts``, numbered through. Each part keeps its own split and its own identity."""

    def __init__(self, parts: Sequence[Pool]) -> None:
        self.parts = tuple(parts)
        self.name = ", ".join(p.name for p in parts)
        self.digest = parts[0].digest if len(parts) == 1 else digest_of("union", [p.digest for p in parts])
        self.classes: tuple[ClassInfo, ...] = tuple(c for p in parts for c in p.classes)
        sizes = {p.native_size for p in parts}
        self.native_size = sizes.pop() if len(sizes) == 1 else 0
        self.offsets = row_offsets(self.classes)
        """First row of every class, and the number of all rows ``[C + 1]``."""
        self._first_class = np.concatenate([[0], np.cumsum([len(p.classes) for p in parts])]).astype(np.int64)
        self._first_row = self.offsets[self._first_class]

    def part_of_class(self, index: int) -> tuple[int, int]:
        """Number of the pool that a class is of, and its index there."""
        part = int(np.searchsorted(self._first_class, index, side="right") - 1)
        return part, index - int(self._first_class[part])

    def part_of_row(self, row: int) -> tuple[int, int]:
        """Number of the pool that an image is of, and its row there."""
        part = int(np.searchsorted(self._first_row, row, side="right") - 1)
        return part, row - int(self._first_row[part])

    def class_index(self, part: int, own: int) -> int:
        """The other way round."""
        return int(self._first_class[part]) + own

    def images(self, rows: Rows, view: View) -> NDArray[np.uint8]:
        """See `Pool.images`."""
        return self.gathered(
            rows, lambda part, own: self.parts[part].images(own, view), (3, view.size, view.size), np.uint8
        )

    @property
    def captioned(self) -> bool:
        """All of its pools have captions."""
        return all(getattr(p, "captioned", False) for p in self.parts)

    def texts(self, rows: Rows) -> list[str]:
        """The text of each row.

        Raises:
            UserError: a pool has none.
        """
        return self._said("texts", rows)

    def drawn_texts(self, rows: Rows, generator: torch.Generator) -> list[str]:
        """Return the texts to train on, drawn by ``generator`` where a pool draws, else the text of each row.

        Raises:
            UserError: a pool has none.
        """
        return self._said("drawn_texts", rows, generator)

    def _said(self, what: str, rows: Rows, *further: Any) -> list[str]:
        """Return the texts of ``rows``: of each pool by its method ``what``, or by ``texts`` where it has no such
        method."""
        rows = np.asarray(rows, dtype=np.int64)
        parts = (np.searchsorted(self._first_row, rows, side="right") - 1).clip(0, len(self.parts) - 1)
        found = [""] * len(rows)
        for number in np.unique(parts).tolist():
            pool: Any = self.parts[number]
            if not is_captioned(pool):
                raise UserError(f"pool {pool.name!r} has images alone, and a backbone asks for their texts")
            read, given = (getattr(pool, what), further) if hasattr(pool, what) else (pool.texts, ())
            at = np.flatnonzero(parts == number)
            for place, text in zip(at.tolist(), read(rows[at] - self._first_row[number], *given), strict=True):
                found[place] = text
        return found

    def gathered(
        self, rows: Rows, read: Callable[[int, Rows], NDArray[Any]], shape: tuple[int, ...], kind: Any
    ) -> NDArray[Any]:
        """``read(part, own rows)`` for each pool that ``rows`` touch, put together ``[n, *shape]`` in the order asked."""
        rows = np.asarray(rows, dtype=np.int64)
        parts = np.searchsorted(self._first_row, rows, side="right") - 1
        touched = np.unique(parts).clip(0, len(self.parts) - 1)  # rows out of range: the first or last pool says so
        if len(touched) == 1:
            return read(int(touched[0]), rows - self._first_row[touched[0]])
        out = np.empty((len(rows), *shape), dtype=kind)
        for part in touched:
            at = parts == part
            out[at] = read(int(part), rows[at] - self._first_row[part])
        return out


class UnionSplit:
    """The splits of several pools as one. Tasks of one pool have the same split digest whatever stands beside that pool."""

    def __init__(self, union: Union, seed: int) -> None:
        self.union = union
        self.splits = [Split(p, seed) for p in union.parts]

    def rows(self, class_index: int, part: Part) -> Rows:
        """See `Split.rows`."""
        number, own = self.union.part_of_class(class_index)
        return self.splits[number].rows(own, part) + int(self.union.offsets[self.union.class_index(number, 0)])

    def check(self, class_indices: Iterable[int]) -> None:
        """See `Split.check`."""
        for index in class_indices:
            number, own = self.union.part_of_class(index)
            self.splits[number].check([own])

    def counts(self, class_index: int) -> dict[Part, int]:
        """See `Split.counts`."""
        number, own = self.union.part_of_class(class_index)
        return self.splits[number].counts(own)

    @property
    def digest(self) -> str:
        """Of all splits together."""
        return joint_digest(s.digest for s in self.splits)

    def digests(self) -> dict[str, str]:
        """Split digest by pool digest."""
        return {p.digest: s.digest for p, s in zip(self.union.parts, self.splits, strict=True)}


def class_names(pools: Union) -> tuple[str, ...]:
    """A name of its own for every class: ``name``; ``group/name`` where others are called so too; ``name #index`` if need be."""
    names = [c.name for c in pools.classes]
    for longer in ([f"{c.group}/{c.name}" for c in pools.classes], [f"{n} #{i}" for i, n in enumerate(names)]):
        times = Counter(names)
        names = [name if times[name] == 1 else other for name, other in zip(names, longer, strict=True)]
    return tuple(names)


def joint_digest(splits: Iterable[str]) -> str:
    """The split digest of a task whose classes come from pools with these split digests."""
    distinct = sorted(set(splits))
    return distinct[0] if len(distinct) == 1 else digest_of("splits", distinct)
