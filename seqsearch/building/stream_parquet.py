"""A Parquet file of others as the source of a stream: sorted and laid out as ours, lists of features included."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqsearch.building.stream_sources import Positions, Source, check_finite
from seqsearch.core.errors import UserError
from seqsearch.storage.parquet_file import ParquetFile, damage_reported
from seqsearch.streams.columns import WIDEST, Columns, read_columns, readable
from seqsearch.streams.files import StreamImages
from seqsearch.streams.vectors import Vectors, features_are_bytes


def of_parquet(file: Path) -> Source:
    """Columns of `seqsearch.streams.layout`; ``features`` may be lists of floats, of which all are taken into memory.

    Raises:
        UserError: it cannot be read, columns are missing, or of another type, or features differ in length.
    """
    if not file.is_file():
        raise UserError(f"{file} is no file")
    with readable(file, "mend it"):
        opened = ParquetFile(file)
        found = read_columns(file, opened)
        read, dim = _payload(file, opened, found)
    root = file.parent.absolute()
    codes = found.labels.astype(np.int32)
    return Source(str(file), codes, found.names, found.times, found.payload, read, root, found.parts, dim)


def _payload(file: Path, opened: ParquetFile, found: Columns) -> tuple[Any, int]:
    """What reads images, paths or features, and values of a feature."""
    nothing, n = np.arange(len(found.labels)), len(found.labels)
    if found.payload in ("image", "path"):
        images = StreamImages(str(file), "", (), opened, found.payload, nothing)
        return images.stored, 0
    if not found.payload:
        return (lambda at: [b""] * len(at)), 0
    if features_are_bytes(opened):
        vectors = Vectors(str(file), "", (), opened, found.dim, nothing)
        return (lambda at: [v.tobytes() for v in vectors.given_features(at)]), found.dim
    table = _lists(file, opened, n)

    def read(at: Positions) -> list[bytes]:
        check_finite(str(file), table[at], at)
        return [v.tobytes() for v in table[at]]

    return read, table.shape[1]


def _lists(file: Path, opened: ParquetFile, n: int) -> NDArray[np.float32]:
    """Lists of floats as an array ``[n, d]``."""
    import pyarrow as pa

    kind = opened.schema.field("features").type
    if not ((pa.types.is_list(kind) or pa.types.is_large_list(kind)) and pa.types.is_floating(kind.value_type)):
        raise UserError(f"{file}: column 'features' is of type {kind}, must be lists of floats")
    parts, dim, at = list[NDArray[np.float32]](), 0, 0
    for piece in opened.pieces(["features"]):
        column = piece.column(0)
        with damage_reported():
            lengths = np.diff(column.offsets.to_numpy())
            values = np.asarray(column.flatten().to_numpy(zero_copy_only=False), dtype="<f4")
        dim = dim or int(lengths[0])
        if column.null_count or (lengths != dim).any() or not 0 < dim <= WIDEST:
            odd = at + int((lengths != dim).argmax())
            raise UserError(
                f"{file}: the features of sample {odd} are missing or not {dim} values like those of the first"
            )
        parts.append(values.reshape(-1, dim))
        at += len(column)
    if at != n:
        raise UserError(f"{file}: column 'features' has not the rows that it says")
    return np.concatenate(parts)
