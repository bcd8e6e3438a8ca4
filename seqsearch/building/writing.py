"""Rows of the Parquet file of a pool (`seqsearch.pools.parts.layout`), and a digest of all rows.

Parquet files from elsewhere hold compressed images in any order, and a row group can only be read whole. So their images are
first copied to a temporary file that can be read image by image.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from seqsearch.building.checking import mark_of
from seqsearch.core.errors import UserError
from seqsearch.pools.base import Rows
from seqsearch.pools.parquet import ParquetPool
from seqsearch.pools.parts import layout
from seqsearch.pools.parts.parquet_columns import image_column
from seqsearch.storage.parquet_file import BadParquet, ParquetFile, inner
from seqsearch.storage.ranges import File

CAPTIONS = "captions.list.element"
"""Path of the texts in the column of lists."""


class Image(NamedTuple):
    """One image to be written."""

    data: bytes
    name: str
    split: str | None
    captions: Sequence[str] = ()
    bound: str | None = None
    """Subject of the image: images of a class with the same value stay together."""
    mark: bytes | None = None
    """Digest of ``data``, if it is known."""


class Writer:
    """Collects rows to row groups and writes them.

    Args:
        captioned: there is a column of captions; without it, those of images are not written. So with ``bound``.

    Raises:
        OSError: the file cannot be written; so do all methods.
    """

    def __init__(self, path: Path, *, captioned: bool = False, bound: bool = False) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        self._schema, self._sink = layout.schema(captioned=captioned, bound=bound), pa.OSFile(str(path), "wb")
        self._captioned, self._bound = captioned, bound
        repeated = ["label", "class_name", "group", "split", *["bound"] * bound, *[CAPTIONS] * captioned]
        self._file = pq.ParquetWriter(
            self._sink,
            self._schema,
            use_dictionary=repeated,
            write_statistics=[*repeated[: 5 if bound else 4], "image_bytes"],
            compression=dict.fromkeys((*repeated, "image_bytes", "image.path"), "ZSTD") | {"image.bytes": "NONE"},
            data_page_size=2**30,  # no page ends before its row group does
            write_batch_size=layout.MAX_ROWS,
            store_schema=False,  # else what is added at the end is hidden behind the stored schema
        )
        self._rows: list[tuple[Any, ...]] = []
        self._bytes, self._label = 0, -1
        self._content = hashlib.blake2b(digest_size=16)

    def add(self, label: int, group: str, name: str, image: Image) -> None:
        """The next image, of the class with this label."""
        size = len(image.data)
        if self._rows and (len(self._rows) == layout.MAX_ROWS or self._bytes + size > layout.MAX_BYTES):
            self._flush()
        if label != self._label:
            self._content.update(b"class" + json.dumps([group, name]).encode())
            self._label = label
        # A digest of digests: those of the files are taken where the files are read.
        self._content.update(image.mark or mark_of(image.data))
        self._content.update(self._texts(image))
        self._rows.append((*image[:5], label, name, group))
        self._bytes += size

    def _texts(self, image: Image) -> bytes:
        """Return the bytes of an image's texts for the digest. A single caption has the form from before images could
        have several."""
        said: list[Any] = [image.split, None]
        if self._captioned and image.captions:
            said[1] = image.captions[0] if len(image.captions) == 1 else list(image.captions)
        if self._bound and image.bound is not None:
            said.append(image.bound)
        return b"-" if said == [None, None] else json.dumps(said).encode()

    def close(self, classes: Sequence[tuple[str, str, int]]) -> str:
        """Finish the file; the digest of all images, labels, splits and captions, in order."""
        self._flush()
        content = self._content.hexdigest()
        self._file.add_key_value_metadata(layout.metadata(classes, content, self._sink.tell(), self._schema.names))
        self._file.close()
        self._sink.close()
        return content

    def abandon(self) -> None:
        """Give the file up, whatever state it is in."""
        self._rows = []
        for file in (self._file, self._sink):
            with contextlib.suppress(Exception):
                file.close()

    def _flush(self) -> None:
        import pyarrow as pa

        if not self._rows:
            return
        data, path, split, captions, bound, label, class_name, group = zip(*self._rows, strict=True)
        fields = [self._schema.field("image").type.field(i) for i in range(2)]
        columns: list[Any] = [
            pa.StructArray.from_arrays([strings(data, pa.binary()), strings(path)], fields=fields),
            _numbers(label, pa.int64(), np.int64),
            *(strings(values) for values in (class_name, group, split)),
            *([_lists(captions)] if self._captioned else []),
            *([strings(bound)] if self._bound else []),
            _numbers([len(d) for d in data], pa.int32(), np.int32),
        ]
        self._rows, self._bytes = [], 0
        self._file.write_table(pa.Table.from_arrays(columns, schema=self._schema), row_group_size=layout.MAX_ROWS)


# Not by pyarrow.array, which imports pandas where it is installed: half a second.


def strings(values: Sequence[str | bytes | None], kind: Any = None) -> Any:
    """An Arrow array of texts or bytes; ``kind`` is ``string()`` unless given."""
    import pyarrow as pa

    there = np.array([v is not None for v in values], dtype=bool)
    encoded = [v.encode() if isinstance(v, str) else v or b"" for v in values]
    offsets = np.zeros(len(values) + 1, dtype=np.int32)
    np.cumsum([len(e) for e in encoded], out=offsets[1:])
    missing = None if there.all() else pa.py_buffer(np.packbits(there, bitorder="little"))
    buffers = [missing, pa.py_buffer(offsets), pa.py_buffer(b"".join(encoded))]
    return pa.Array.from_buffers(kind or pa.string(), len(values), buffers)


def _lists(values: Sequence[Sequence[str]]) -> Any:
    """An Arrow array of lists of texts; an empty one is null."""
    import pyarrow as pa

    offsets = np.zeros(len(values) + 1, dtype=np.int32)
    np.cumsum([len(v) for v in values], out=offsets[1:])
    there = pa.py_buffer(np.packbits([bool(v) for v in values], bitorder="little"))
    texts = strings([text for v in values for text in v])
    return pa.Array.from_buffers(pa.list_(pa.string()), len(values), [there, pa.py_buffer(offsets)], children=[texts])


def _numbers(values: Sequence[int], kind: Any, dtype: Any) -> Any:
    import pyarrow as pa

    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(np.array(values, dtype=dtype))])


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


def _batches(path: File) -> Iterator[list[bytes | None]]:
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
            raise BadParquet("it has another number of rows than its metadata says")
    except BadParquet as error:
        raise UserError(f"pool {str(path)!r} cannot be read ({error})") from None
