"""Rows into the Parquet file of a pool (`seqsearch.pools.parts.layout`), and the digest of all of them."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from seqsearch.building.checking import mark_of
from seqsearch.pools.parts import layout

CAPTIONS = "captions.list.element"
"""Path of the texts in the column of lists."""


class Image(NamedTuple):
    """One image to be written."""

    data: bytes
    name: str
    split: str | None
    captions: Sequence[str] = ()
    bound: str | None = None
    """What it is of: images of a class with the same value stay together."""
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
        """What the digest takes of the texts of an image: of a single caption, as it was before images could have several."""
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
