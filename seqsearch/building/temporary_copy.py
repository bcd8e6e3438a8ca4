"""Parquet files of others, whose images lie compressed and in any order, made readable image by image.

Their row groups can only be read whole. Classes in the order of a pool would read each of them again and again, so the images
are copied once, front to back, one after the other into a temporary file.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from seqsearch.core.errors import UserError
from seqsearch.pools.base import Rows
from seqsearch.pools.parquet import ParquetPool
from seqsearch.pools.parts.parquet_columns import image_column
from seqsearch.storage.parquet_file import BadParquet, ParquetFile, inner

BATCH = 64
"""Images read at a time."""
MEMORY, RATIO = 1 << 30, 1000
"""The copy of a file takes so many bytes at most, and so many times the size of the file: bare pixels shrink that far."""


class TemporaryCopy:
    """The images of a Parquet pool, by the pool's own rows, out of a plain file.

    Raises:
        UserError: a Parquet file cannot be read, or is a decompression bomb.
        OSError: the copy cannot be written.
    """

    def __init__(self, pool: ParquetPool, path: Path, observe: Callable[[int], None]) -> None:
        self._pool, self._path = pool, path
        self._file: int | None = None
        lengths: list[int] = []
        with open(path, "wb") as copy:
            for file in pool._files:
                for values in _batches(file):
                    for value in values:
                        lengths.append(-1 if value is None else len(value))
                        copy.write(value or b"")
                    observe(len(lengths))
        self._lengths = np.array(lengths, dtype=np.int64)
        self._begins = np.cumsum(self._lengths.clip(0)) - self._lengths.clip(0)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_file": None}

    def encoded(self, rows: Rows) -> list[bytes]:
        """The image files of ``rows`` as they are.

        Raises:
            UserError: one is missing.
        """
        if self._file is None:
            self._file = os.open(self._path, os.O_RDONLY)
        places, found = self._pool._places(np.asarray(rows)), []
        for place in places.tolist():
            if self._lengths[place] < 0:
                raise UserError("no image bytes: embed the images, not their paths")
            found.append(os.pread(self._file, int(self._lengths[place]), int(self._begins[place])))
        return found

    def where(self, row: int) -> str:
        """File and row of an image."""
        return self._pool.where(row)


def _batches(path: Path) -> Iterator[list[bytes | None]]:
    """Lists of image files, streamed: a row group may be larger than memory."""
    try:
        file = ParquetFile(path)
        column, rows, taken = image_column(file), 0, 0
        for piece in file.pieces([column], rows=BATCH):
            values = inner(piece.column(0), column)
            rows, taken = rows + len(values), taken + int(values.nbytes)
            if taken > MEMORY + RATIO * file.size:
                raise BadParquet(f"{file.size} bytes unpack to more than {taken >> 20} MB: a decompression bomb")
            yield values.to_pylist()
        if rows != file.rows:
            raise BadParquet("it has not the rows that it says")
    except BadParquet as error:
        raise UserError(f"pool {str(path)!r} cannot be read ({error})") from None
