"""Any image out of a Parquet file: by its place in the file where images lie verbatim, else through its row group."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from cachetools import LRUCache
from numpy.typing import NDArray

from seqsearch.core.errors import UserError
from seqsearch.storage.parquet_file import BadParquet, ParquetFile
from seqsearch.storage.ranges import File, Ranges, opened

CACHE_BYTES = 128 << 20
"""Room in a process for row groups of files whose images do not lie verbatim."""
Key = tuple[object, int]
"""Of a row group: what stands for its file, and its number."""
PREFIX = 4
"""Bytes before a value: its length, little-endian."""


class Damaged(ValueError):
    """Bytes of a file are not those that were written; the message says where."""


class ImageColumn:
    """The image bytes of one file by row.

    Args:
        group_rows: rows of each row group.
        ends: where the images of each row group end in the file, if they lie verbatim (`verbatim_ends`).
        lengths: bytes of each image ``[n]``, if the file says them (`seqsearch.pools.parts.layout`).
    """

    def __init__(
        self,
        path: File,
        column: str,
        group_rows: Sequence[int] | NDArray[np.int64],
        ends: NDArray[np.int64] | None,
        lengths: NDArray[np.int32] | None,
    ) -> None:
        self.path, self._column = path, column
        self._starts = np.concatenate([[0], np.cumsum(group_rows)]).astype(np.int64)
        self._lengths = lengths
        self._places = None if ends is None or lengths is None else _places(ends, lengths, self._starts)
        self._file: Ranges | None = None
        self._token = object()

    @property
    def verbatim(self) -> bool:
        """An image is read without its neighbours."""
        return self._places is not None

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_file": None}

    def read(self, rows: NDArray[np.int64]) -> list[bytes | None]:
        """The image files at ``rows`` ``[n]``; None where there is none.

        Raises:
            UserError: the file is gone, damaged or has been changed.
        """
        try:
            return self._pread(rows) if self._places is not None else self._through_groups(rows)
        except UserError:
            raise  # a server does not answer
        except Damaged as error:
            raise UserError(
                f"pool {str(self.path)!r} is damaged, or was changed since it was opened, {error}: restore it, or make it anew "
                "with seqsearch pool build, then resume"
            ) from None
        except BadParquet as error:
            raise UserError(f"pool {str(self.path)!r} cannot be read ({error}): restore it, or leave it out") from None
        except (OSError, ValueError) as error:
            said = getattr(error, "strerror", None) or str(error)
            raise UserError(
                f"pool {str(self.path)!r} cannot be read any more ({said}): restore it, then resume"
            ) from None

    def _pread(self, rows: NDArray[np.int64]) -> list[bytes | None]:
        assert self._places is not None
        assert self._lengths is not None
        if self._file is None:
            self._file = opened(self.path)
            weakref.finalize(self, self._file.close)
        found = list[bytes | None]()
        sizes = (PREFIX + self._lengths[rows]).tolist()
        read = self._file.read_each(list(zip(sizes, self._places[rows].tolist(), strict=True)))
        for row, size, data in zip(rows.tolist(), sizes, read, strict=True):
            if len(data) != size or int.from_bytes(data[:PREFIX], "little") != size - PREFIX:
                raise Damaged(f"at row {row} (row group {self._group_of(row)})")
            found.append(data[PREFIX:])
        return found

    def readable(self, rows: NDArray[np.int64]) -> bool:
        """Whether images of these lengths lie at ``rows`` ``[n]``."""
        try:
            self._pread(rows)
        except (OSError, Damaged):
            return False
        return True

    def _through_groups(self, rows: NDArray[np.int64]) -> list[bytes | None]:
        groups = self._group_of(rows)
        found: list[bytes | None] = [None] * len(rows)
        for at in np.argsort(groups, kind="stable").tolist():
            number = int(groups[at])
            values = _row_groups.get((self._token, number), partial(self._group, number))
            found[at] = values[int(rows[at] - self._starts[groups[at]])].as_py()
        return found

    def _group_of(self, rows: Any) -> Any:
        return np.searchsorted(self._starts, rows, side="right") - 1

    def _group(self, number: int) -> Any:
        file = ParquetFile(self.path)
        try:
            return file.group(number, self._column)
        except BadParquet as error:
            raise Damaged(f"in row group {number} ({error})") from None


def packed(chunk: Any) -> bool:
    """Whether the values of a column chunk are compressed. By its sizes: to ask for a codec that is none ends the process."""
    return bool(chunk.total_compressed_size != chunk.total_uncompressed_size)


class _RowGroups:
    """The row groups that this process has read last, of all files together."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: LRUCache[Key, Any] = LRUCache(CACHE_BYTES, getsizeof=lambda values: int(values.nbytes))
        self._large: tuple[Key, Any] | None = None
        """One that is larger than the whole cache; it stays until the next such."""

    def get(self, key: Key, read: Callable[[], Any]) -> Any:
        """``read()``, unless it is there."""
        with self._lock:
            if key in self._kept:
                return self._kept[key]
            if self._large is not None and self._large[0] == key:
                return self._large[1]
        values = read()
        with self._lock:
            if values.nbytes <= CACHE_BYTES:
                self._kept[key] = values
            else:
                self._large = key, values
        return values


_row_groups = _RowGroups()


def verbatim_ends(file: ParquetFile, column: str, lengths: NDArray[np.int32] | None) -> NDArray[np.int64] | None:
    """Where the images of each row group end in the file; None where they do not lie verbatim, one after the other.

    They do where they are uncompressed, in one page for each row group. The first and the last of each are looked at; of a
    file on a server, those of the whole file.

    Raises:
        BadParquet: the file is not what it says.
    """
    if lengths is None:
        return None
    starts = np.concatenate([[0], np.cumsum(file.group_rows)]).astype(np.int64)
    before = _before(lengths)
    ends = np.empty(len(file.group_rows), dtype=np.int64)
    for number in range(len(ends)):
        chunk, (low, high) = file.chunk(number, column), file.span(number, column)
        if (
            packed(chunk)
            or chunk.has_dictionary_page
            or before[starts[number + 1]] - before[starts[number]] > high - low
        ):
            return None
        ends[number] = high
    images = ImageColumn(file.path, column, file.group_rows, ends, lengths)
    outer = np.unique(np.concatenate([starts[:-1], starts[1:] - 1]))
    outer = outer if isinstance(file.path, Path) else outer[[0, -1]]
    return ends if images.readable(outer[(outer >= 0) & (outer < starts[-1])]) else None


def _before(lengths: NDArray[np.int32]) -> NDArray[np.int64]:
    """Bytes of all values before each ``[n + 1]``, their prefixes included."""
    return np.concatenate([[0], np.cumsum(lengths.astype(np.int64) + PREFIX)])


def _places(ends: NDArray[np.int64], lengths: NDArray[np.int32], starts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Offset in the file of each value's length prefix ``[n]``.

    Values end where their column chunk ends, one after the other, so a value begins at that end less all lengths from its own on.
    """
    before = _before(lengths)
    chunk_ends = np.repeat(ends - before[starts[1:]], np.diff(starts))
    return np.asarray(chunk_ends + before[:-1], dtype=np.int64)
