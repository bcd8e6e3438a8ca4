"""A source of images together with captions that lie elsewhere: each image finds its record, and what leaks is taken out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqsearch.building.audit import Audited, audited, check_audit
from seqsearch.building.caption_files import NUL, CaptionRecords, read_captions
from seqsearch.building.caption_tables import columns_of, read_coded, sentences
from seqsearch.building.leaks import Leaks, read_synonyms, without_leaks
from seqsearch.building.matching import matched, paths_of
from seqsearch.building.writing import strings
from seqsearch.core.errors import UserError
from seqsearch.core.typed import brief
from seqsearch.pools.base import Pool, Rows, row_offsets
from seqsearch.pools.grouped_split import by_themselves, numbers_of
from seqsearch.pools.parts.layout import SPLITS


@dataclass(frozen=True)
class CaptionOptions:
    """Options for captions: their source, the columns, and the treatment of leaks.

    Attributes:
        source: file or folder that holds them; None: those that the images bring along.
        columns: of a table, for the captions: ``default``, ``all``, or names with commas; None: it holds texts.
        bound: field or column that names the subject of an image.
        leaks: captions that hold the class's name (``full``) or its last word (``head``) are dropped; ``keep`` keeps all.
        synonyms: JSON file of other names of classes, which are looked for as the names are.
        captioned_only: images without a caption, and captions without an image, are left out instead of refused.
    """

    source: Path | None = None
    columns: str | None = None
    bound: str | None = None
    leaks: str = "full"
    synonyms: Path | None = None
    captioned_only: bool = False


@dataclass
class Found:
    """Findings about captions while a pool is built."""

    leaks: Leaks
    audit: list[Audited] = field(default_factory=list)
    without_caption: int = 0
    """Images that were left out; ``without_image``: records."""
    without_image: int = 0
    torn: int = 0
    """Values that occur in several classes, or in several parts of the predefined split: they hold nothing together there."""


class Captioned:
    """The pool ``base`` with other captions: the same rows, of which those without a caption are not ``kept``; those that had
    some ``before`` leaks were taken out are ``emptied``."""

    def __init__(
        self,
        base: Pool,
        before: list[list[str]],
        texts: list[list[str]],
        given: NDArray[np.uint8] | None,
        values: list[str | None],
    ) -> None:
        self.base, self.given, self.bound_values = base, given, values
        self.kept = np.array([bool(t) for t in texts], dtype=bool)
        self.emptied = np.array([bool(t) for t in before], dtype=bool) & ~self.kept
        self._texts = texts

    def captions(self, rows: Rows) -> list[list[str]]:
        """All texts of each row."""
        return [self._texts[row] for row in rows.tolist()]

    def sets(self, rows: Rows) -> list[str | None]:
        """Return the value that each row is bound to."""
        return [self.bound_values[row] for row in rows.tolist()] if self.bound_values else [None] * len(rows)

    def __getattr__(self, name: str) -> Any:
        """All else is the base's."""
        if name.startswith("_") or name == "base":
            raise AttributeError(name)
        return getattr(self.base, name)


def captioned(pool: Pool, options: CaptionOptions) -> tuple[Captioned, Found]:
    """``pool`` with captions from ``options.source``, or with its own, without those that leak.

    Raises:
        UserError: captions cannot be read, matched or used; see `read_captions`, `matched` and `check_audit`.
    """
    total = int(row_offsets(pool.classes)[-1])
    others = read_synonyms(options.synonyms, pool.classes) if options.synonyms else None
    if options.source is None:
        own: Any = pool
        texts = own.captions(np.arange(total)) if getattr(pool, "captioned", False) else [[]] * total
        kept, leaks = without_leaks(pool.classes, texts, options.leaks, others)
        values = _sets_of(pool, total)
        return Captioned(pool, texts, kept, pool.given, values), Found(leaks)
    records = read_captions(options.source, options.bound, options.columns is not None)
    names, where = paths_of(pool), str(getattr(pool, "root", pool.name))
    record = matched(records, names, where, options.captioned_only)
    found = Found(Leaks(options.leaks), without_caption=int((record < 0).sum()))
    found.without_image = len(records.keys) - int((record >= 0).sum())
    if options.columns is not None:
        _describe(records, record, pool, options, found)
    texts = [records.texts[r] if r >= 0 else [] for r in record.tolist()]
    kept, found.leaks = without_leaks(pool.classes, texts, options.leaks, others)
    values = [] if records.bound is None else [records.bound[r] if r >= 0 else None for r in record.tolist()]
    given = pool.given if records.splits is None else _given(records, record)
    found.torn = _torn(pool, values, given)
    return Captioned(pool, texts, kept, given, values), found


def _sets_of(pool: Any, total: int) -> list[str | None]:
    found: list[str | None] = pool.sets(np.arange(total)) if getattr(pool, "bound", None) is not None else []
    return found


# ------------------------------------------------------------------------------------------------ what they say


def _describe(
    records: CaptionRecords, record: NDArray[np.int64], pool: Pool, options: CaptionOptions, found: Found
) -> None:
    """Make sentences of the columns of a table, once they are audited."""
    assert records.table is not None
    assert options.columns is not None
    others = [
        n
        for n in records.table.names
        if n.lower() in ("split", "image", "image_path", "path", "file_name", "image_name")
    ]
    names, named = columns_of(records.table, options.columns, [*others, *([options.bound] if options.bound else [])])
    columns = {name: read_coded(records.table, name) for name in names}
    rows = np.flatnonzero(record >= 0)
    labels = np.repeat(np.arange(len(pool.classes)), [c.count for c in pool.classes])
    sets = _numbers(records.bound or [None] * len(records.keys))[record[rows]]
    of_rows = {name: (codes[record[rows]], values) for name, (codes, values) in columns.items()}
    alone = by_themselves(sets, np.array([0, len(rows)]))
    found.audit = audited(of_rows, labels[rows], alone, pool.classes)
    check_audit(found.audit, records.source, named)
    said = sentences(columns)
    if (nul := next((r for r in record[rows].tolist() if "\0" in said[r]), None)) is not None:
        raise UserError(f"{records.source}: {records.where(nul)}: {NUL}")
    if (blank := next((r for r in record[rows].tolist() if not said[r]), None)) is not None:
        raise UserError(
            f"{records.source}: {records.where(blank)} has no value in any of the columns {', '.join(names)}: leave its image out"
        )
    records.texts = [[text] if text else [] for text in said]


def _numbers(values: Sequence[str | None]) -> NDArray[np.int64]:
    found = numbers_of(strings(values))
    return np.full(len(values), -1, dtype=np.int64) if found is None else found


def _given(records: CaptionRecords, record: NDArray[np.int64]) -> NDArray[np.uint8]:
    """The split that the records say ``[n]``.

    Raises:
        UserError: one says none, or one that is unknown.
    """
    assert records.splits is not None
    codes = np.zeros(len(records.splits), dtype=np.uint8)
    for number, said in enumerate(records.splits):
        if said is None or said.lower() not in SPLITS:
            raise UserError(
                f"{records.source}: {records.where(number)}: split {brief(said or '')} must be train, validation or test"
            )
        codes[number] = SPLITS[said.lower()]
    return codes[record]


def _torn(pool: Pool, values: list[str | None], given: NDArray[np.uint8] | None) -> int:
    """Values of what is bound together that occur in several classes or parts of the predefined split."""
    if not values:
        return 0
    numbers = _numbers(values)
    labels = np.repeat(np.arange(len(pool.classes)), [c.count for c in pool.classes])
    places = labels * 3 + (0 if given is None else given)
    pairs = np.unique(np.stack([numbers, places])[:, numbers >= 0], axis=1)
    return int((np.unique(pairs[0], return_counts=True)[1] > 1).sum())
