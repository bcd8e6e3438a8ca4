"""Parquet files of images as a pool, on a disk or a server: what ``seqsearch pool build`` writes, and Hugging Face's layout.

Columns: ``image`` or ``img`` (struct with ``bytes``, or plain bytes), ``label`` (integers or strings; the option ``label`` names
another column), and if they are there
``class_name``, ``group``, ``split``, ``captions`` (or ``caption``, ``texts``, ``text``: texts, or lists of them), ``bound`` and
``image_bytes``. Classes come in the order of labels, those
without an image left out; a label that occurs in several groups is a class in each, in the order of the groups' names. Only the
small columns are read, when the pool is opened for the first time; afterwards they are in the cache.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from seqsearch.core.digests import digest_of
from seqsearch.core.errors import UserError
from seqsearch.pools.base import ClassInfo, Rows, SplitSizes, View, checked_rows, row_offsets
from seqsearch.pools.folder import check_options
from seqsearch.pools.grouped_split import by_themselves
from seqsearch.pools.parts.captions import TextColumn, check_policy, drawn_texts_of, texts_of
from seqsearch.pools.parts.decode import decoded
from seqsearch.pools.parts.parquet_columns import LABEL, split_of_name
from seqsearch.pools.parts.parquet_index import Index, index_of
from seqsearch.pools.parts.scan import check_link
from seqsearch.pools.parts.verbatim import ImageColumn
from seqsearch.storage.ranges import File
from seqsearch.storage.servers import ENDING, THREADS, RemoteFile, is_remote, listed

if TYPE_CHECKING:
    import torch


class ParquetPool:
    """Images by class; see ``seqsearch.pools.base.Pool``."""

    native_size = 0

    def __init__(
        self,
        name: str,
        files: Sequence[File],
        index: Index,
        split: str,
        min_images: int,
        policy: str,
        label: str = LABEL,
    ) -> None:
        options = [f"captions={policy}"] * (policy != "first") + [f"label={label}"] * (label != LABEL)
        columns = index.columns
        self.name = name + f":{','.join(options)}" * bool(options)
        self.split_sizes = SplitSizes()
        if split == "given" and columns.split is None:
            raise UserError(f"pool {name!r} has no split of its own (split=given): leave it out")
        key = columns.label * len(columns.groups) + columns.group
        keys, counts = np.unique(key, return_counts=True)
        keys = keys[counts >= min_images]
        if not len(keys):
            raise UserError(f"pool {name!r}: no class has {min_images} images or more (min_images)")
        order = np.argsort(key, kind="stable").astype(np.int64)
        order = order[np.isin(key[order], keys)]
        labels, groups = keys // len(columns.groups), keys % len(columns.groups)
        sizes = counts[counts >= min_images].tolist()
        self.classes = tuple(
            ClassInfo(columns.names[i], columns.groups[g], n)
            for i, g, n in zip(labels.tolist(), groups.tolist(), sizes, strict=True)
        )
        self._offsets = row_offsets(self.classes)
        self._order = None if np.array_equal(order, np.arange(len(order))) else order
        self.given = None if columns.split is None or split == "random" else columns.split[order]
        self._files = files
        self._file_starts = np.concatenate([[0], np.cumsum(columns.rows)]).astype(np.int64)
        self._columns = [
            ImageColumn(
                f, s.images, s.group_rows, s.ends, None if columns.lengths is None else columns.lengths[low:high]
            )
            for f, s, low, high in zip(files, index.shards, self._file_starts[:-1], self._file_starts[1:], strict=True)
        ]
        self.bound: Rows | None = None
        if columns.bound is not None and (columns.bound[order] >= 0).any():
            self.bound = by_themselves(columns.bound[order], self._offsets)
        of_files = list(zip(files, index.shards, columns.rows, strict=True))
        self._captions = TextColumn([(f, s.captions, n) for f, s, n in of_files])
        self._sets = TextColumn([(f, s.sets, n) for f, s, n in of_files])
        self.policy = policy
        check_policy(name, policy, self.captioned)
        # a group that is named after the file is no content: the file may be renamed
        said = [(c.name, c.group if columns.grouped else "", c.count) for c in self.classes]
        parts = [order if self._order is not None else len(order), columns.lengths, columns.split]
        further = ([_short(self.bound)] if self.bound is not None else []) + [policy] * (policy != "first")
        further += [f"label {label}"] * (label != LABEL)
        self.digest = digest_of("parquet", index.content, said, [_short(p) for p in parts], *further)

    @property
    def verbatim(self) -> bool:
        """Any image is read without its neighbours."""
        return all(c.verbatim for c in self._columns)

    @property
    def concurrent(self) -> bool:
        """Whether several threads can read at once: images are read singly, without a shared cache of row groups."""
        return self.verbatim

    def images(self, rows: Rows, view: View) -> NDArray[np.uint8]:
        """Decode ``rows`` as ``[n, 3, view.size, view.size]`` RGB.

        Raises:
            UserError: a row is not in the pool, the file is gone or was changed, an image is corrupt.
        """
        return decoded(self, rows, view)

    def encoded(self, rows: Rows) -> list[bytes]:
        """The image files of ``rows`` as they are.

        Raises:
            UserError: one is missing, or the file is gone or was changed.
        """
        places = self._places(checked_rows(rows, self.name, int(self._offsets[-1])))
        files = np.searchsorted(self._file_starts, places, side="right") - 1
        found: list[bytes | None] = [None] * len(places)
        parts = [(number, np.flatnonzero(files == number)) for number in np.unique(files).tolist()]

        def read(part: tuple[int, Rows]) -> list[bytes | None]:
            number, at = part
            return self._columns[number].read(places[at] - self._file_starts[number])

        # A server takes long to answer, and answers for many files at once. Row groups of as many files would fill the memory.
        at_once = THREADS if self.verbatim and isinstance(self._files[0], RemoteFile) else 1
        with ThreadPoolExecutor(at_once) as several:
            for (_, at), own in zip(parts, several.map(read, parts) if at_once > 1 else map(read, parts), strict=True):
                for i, data in zip(at, own, strict=True):
                    found[i] = data
        for row, data in zip(rows, found, strict=True):
            if data is None:
                raise UserError(
                    f"pool {self.name!r}: {self.where(int(row))} has no image bytes: embed the images, not their paths"
                )
        return [data for data in found if data is not None]

    def where(self, row: int) -> str:
        """File and row of an image."""
        place = int(self._places(np.array([row]))[0])
        number = int(np.searchsorted(self._file_starts, place, side="right") - 1)
        return f"{self._files[number].name}, row {place - int(self._file_starts[number])}"

    @property
    def captioned(self) -> bool:
        """Its images have captions, as far as the footers of its files say."""
        return self._captions.exists

    def captions(self, rows: Rows) -> list[list[str]]:
        """All texts of each row; an empty list where there is none.

        Raises:
            UserError: a row is not in the pool, or a file is gone.
        """
        return self._captions.lists(self._places(checked_rows(rows, self.name, int(self._offsets[-1]))))

    def texts(self, rows: Rows) -> list[str]:
        """The text of each row: its first caption, or with ``captions=concat`` all of them.

        Raises:
            UserError: an image has no caption; see `captions`.
        """
        return texts_of(self, rows, self.policy)

    def drawn_texts(self, rows: Rows, generator: torch.Generator) -> list[str]:
        """Return the texts to train on. With ``captions=random``, ``generator`` draws one caption an image; else they
        are `texts`.

        Raises:
            UserError: an image has no caption; see `captions`.
        """
        return drawn_texts_of(self, rows, self.policy, generator)

    def sets(self, rows: Rows) -> list[str | None]:
        """Return the set that each row is bound to, as the file names it. The numbers of the sets are in ``bound``.

        Raises:
            UserError: a row is not in the pool, or a file is gone.
        """
        found = self._sets.lists(self._places(checked_rows(rows, self.name, int(self._offsets[-1]))))
        return [said[0] if said else None for said in found]

    def _places(self, rows: Rows) -> Rows:
        """Rows of the files, numbered through."""
        return rows if self._order is None else self._order[rows]


def build(
    path: str,
    split: str = "auto",
    min_images: int = 1,
    links: str = "inside",
    captions: str = "first",
    label: str = LABEL,
) -> ParquetPool:
    """The pool of a Parquet file or of a folder of them; its images are looked at when they are asked for.

    Args:
        path: the file, or a folder of them; names ``train-*``, ``validation-*`` and ``test-*`` are a predefined split. Or a URL.
        split: ``auto`` keeps a predefined split if there is one, ``given`` asks for one, ``random`` draws it in any case.
        min_images: classes with fewer are left out; from 1.
        links: files of a folder that are links must lead to its ``inside``, or may lead ``anywhere``.
        captions: what the text of an image is that has several: the ``first``, all (``concat``), or another one each time that it
            is trained on (``random``; where it is evaluated, the first).
        label: column of the classes, of several label columns; the column ``class_name`` names those of ``label`` alone.

    Raises:
        UserError: not a Parquet file of labelled images, a policy for captions that are not there, unknown splits, labels that
            are missing or have no name, a link out of the folder.
    """
    check_options(path, split, min_images, links)
    files, in_folder = _files(path, links)
    label = str(label)  # the grammar makes a number of a name that looks like one
    index = index_of(files, in_folder, split, label)
    return ParquetPool(path, files, index, split, min_images, captions, label)


def _files(path: str, links: str) -> tuple[Sequence[File], bool]:
    """The files of a pool, by split and name, and whether they are those of a folder."""
    files: list[File]
    if is_remote(path):
        there, in_folder = listed(path)
        files = [*there]
    else:
        root = Path(path)
        in_folder = root.is_dir()
        files = [*root.glob(f"*{ENDING}")] if in_folder else [root]
        for file in root.glob(f"*{ENDING}") if in_folder and links == "inside" else ():
            check_link(root, file, os.path.realpath(root))
    if not files:
        raise UserError(f"pool {path!r} has no {ENDING} files")
    return sorted(files, key=lambda f: (split_of_name(f) or 0, f.name)), in_folder


def _short(value: Any) -> Any:
    """An array by its digest."""
    return hashlib.blake2b(value.tobytes(), digest_size=16).hexdigest() if isinstance(value, np.ndarray) else value
