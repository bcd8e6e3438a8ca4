"""The Parquet layout of a stream: what ``seqsearch stream build`` writes, and ``--stream FILE.parquet`` reads.

A row is a sample; rows come in order of time.

    label       whole numbers from 0, or text: the class
    class_name  text, beside whole numbers that the metadata does not name: the name of the class
    time        whole numbers, not decreasing, of any unit; the position of the row if there is no such column
    part        text: search, main or holdout
    image       bytes of an image file, or a struct with ``bytes``; ``image_bytes``: how many
    path        text, or its bytes: path of an image file, relative to the folder of this file; ``path_bytes``: how many
    features    bytes of d values of 32 bits each, little-endian

At most one of image, path and features; with none of them labels are all there is. Metadata ``seqsearch.stream``: JSON with
``version``, ``classes`` (names of all classes by label, of which some may not occur), ``content`` (digest of images, paths or
features) and ``dim`` (values of a feature, 0 if there are none).
Images, paths and features lie verbatim, neither compressed nor dictionary-encoded, one page to a row group, so that any of
them is read without its neighbours. Labels are not compressed, either: of millions the file is larger than what it says it holds.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

METADATA = b"seqsearch.stream"
VERSION = 1
PAYLOADS = ("image", "path", "features")
"""Columns that say what a sample is."""
MAX_ROWS = 20_000
"""Rows in a row group, at most: recent versions of pyarrow begin another page after so many."""
MAX_BYTES = 64 << 20
"""Bytes of images, paths or features in a row group, at most (one may be larger)."""


def schema(payload: str, timed: bool, parted: bool) -> Any:
    """The ``pyarrow.Schema`` of a stream with this payload (empty: none)."""
    import pyarrow as pa

    fields = [pa.field("label", pa.int32())]
    fields += [pa.field("time", pa.int64())] if timed else []
    fields += [pa.field("part", pa.string())] if parted else []
    if payload:
        fields.append(pa.field(payload, pa.binary()))
    if payload in ("image", "path"):
        fields.append(pa.field(f"{payload}_bytes", pa.int32()))
    return pa.schema(fields)


def options(payload: str) -> dict[str, Any]:
    """Return the options of ``pyarrow.parquet.ParquetWriter`` beside the schema."""
    packed = ("time", "part", "image_bytes", "path_bytes")
    return {
        "use_dictionary": ["part"],
        "write_statistics": False,
        "store_schema": False,
        "compression": dict.fromkeys(packed, "ZSTD") | dict.fromkeys(("label", payload or "label"), "NONE"),
        "data_page_size": 2**30,  # no page ends before its row group does
        "write_batch_size": MAX_ROWS,
    }


def metadata(classes: Sequence[str], content: str, dim: int) -> dict[str, str]:
    """Return the metadata of the file, once all is written."""
    said = {"version": VERSION, "classes": list(classes), "content": content, "dim": dim}
    return {METADATA.decode(): json.dumps(said)}
