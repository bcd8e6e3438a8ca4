"""A Parquet file as a stream: what ``seqsearch stream build`` writes, or one of others with these columns.

The layout is `seqsearch.streams.layout`. When it is opened labels, times and parts are read; images, paths and features stay
in the file.
"""

from __future__ import annotations

from pathlib import Path

from seqsearch.core.digests import digest_of
from seqsearch.core.errors import UserError
from seqsearch.pools.base import ClassInfo, Pool
from seqsearch.pools.parts.parquet_columns import content_of
from seqsearch.storage.parquet_file import ParquetFile
from seqsearch.streams.base import Stream
from seqsearch.streams.columns import Columns, read_columns, readable
from seqsearch.streams.files import StreamImages
from seqsearch.streams.layout import METADATA
from seqsearch.streams.rows import Samples, by_class, counted, rows_of, up_to
from seqsearch.streams.vectors import Vectors, WithoutImages

FILES = "files-"
"""How the digest of a pool begins that is known by the paths of its files."""


def build(path: str) -> Stream:
    """The stream of a file; its images are looked at when they are asked for.

    Raises:
        UserError: not a Parquet file of labels in time; see `seqsearch.streams.columns.read_columns` and `checked`.
    """
    file = Path(path)
    if not file.is_file():
        raise UserError(f"stream {path!r} is no file: make one of it with seqsearch stream build")
    with readable(file):
        opened = ParquetFile(file)
        columns = read_columns(file, opened)
        content = digest_of("stream file", content_of(file, opened, METADATA), columns.payload)
        labels, names = columns.labels, columns.names
        order = by_class(labels)
        classes = counted(names, labels, file.stem)
        pool = _pool(path, digest_of(content, [c.count for c in classes], order), classes, opened, columns, order)
    times = up_to(len(labels)) if columns.times is None else columns.times
    digest = digest_of("stream", content, names, labels, columns.times, columns.parts)
    return Stream(path, digest, names, labels, times, pool, rows_of(order), columns.parts)


def _pool(
    name: str, digest: str, classes: tuple[ClassInfo, ...], opened: ParquetFile, columns: Columns, order: Samples
) -> Pool:
    if columns.payload == "features":
        return Vectors(name, digest, classes, opened, columns.dim, order)
    if not columns.payload:
        return WithoutImages(name, digest, classes)
    known_by = FILES if columns.payload == "path" else ""
    return StreamImages(name, known_by + digest, classes, opened, columns.payload, order)
