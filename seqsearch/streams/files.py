"""Images of a stream's Parquet file as a pool: stored as bytes in the file, or as paths relative to its folder."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from seqsearch.core.errors import UserError
from seqsearch.core.text import printable
from seqsearch.pools.base import ClassInfo, Rows, SplitSizes, View, checked_rows
from seqsearch.pools.parts.decode import MAX_BYTES, BadImage, decode
from seqsearch.pools.parts.verbatim import ImageColumn, verbatim_ends
from seqsearch.storage.inside import Inside
from seqsearch.storage.parquet_file import BadParquet, ParquetFile, damage_reported
from seqsearch.streams.rows import Samples


class StreamImages:
    """See ``seqsearch.pools.base.Pool``.

    Args:
        column: ``image`` or ``path`` (`seqsearch.streams.layout`).
        order: number of the sample shown at each pool row ``[n]``.

    Raises:
        UserError: the column is of another type.
        BadParquet: the file's metadata and its contents contradict each other.
    """

    native_size = 0
    given: NDArray[np.uint8] | None = None

    def __init__(
        self, name: str, digest: str, classes: tuple[ClassInfo, ...], opened: ParquetFile, column: str, order: Samples
    ) -> None:
        self.name, self.digest, self.classes, self.split_sizes = name, digest, classes, SplitSizes()
        self._order, self._root = order, Path(str(opened.path)).parent.absolute()
        self._paths = column == "path"
        leaf, lengths = _leaf(opened, column), _lengths(opened, f"{column}_bytes")
        ends = verbatim_ends(opened, leaf, lengths)
        self._column = ImageColumn(opened.path, leaf, opened.group_rows, ends, lengths)

    @property
    def concurrent(self) -> bool:
        """Whether several threads can read at once: images are read singly, without a shared cache of row groups."""
        return self._column.verbatim

    def images(self, rows: Rows, view: View) -> NDArray[np.uint8]:
        """Decode ``rows`` as ``[n, 3, view.size, view.size]`` RGB.

        Raises:
            UserError: a row is not in the pool, an image is missing, corrupt, or lies behind a link or outside of the folder.
        """
        samples = self._order[checked_rows(rows, self.name, len(self._order))].astype(np.int64)
        out = np.empty((len(rows), 3, view.size, view.size), dtype=np.uint8)
        for target, sample, stored in zip(out, samples.tolist(), self.stored(samples), strict=True):
            try:
                target[:] = decode(self._content(sample, stored) if self._paths else stored, view)
            except BadImage as error:
                self._refuse(sample, f"{error}: leave the sample out")
        return out

    def stored(self, samples: NDArray[np.int64]) -> list[bytes]:
        """Read the images, or paths, of samples ``[m]`` from the file.

        Raises:
            UserError: a sample has none.
        """
        found = self._column.read(samples)
        if None in found:
            self._refuse(int(samples[found.index(None)]), "it has none: leave the sample out")
        return [os.fsencode(f) if isinstance(f, str) else f or b"" for f in found]

    def _content(self, sample: int, path: bytes) -> bytes:
        """The bytes of the image file at a path relative to the folder of the stream; links are not followed."""
        text = os.fsdecode(path)
        *above, name = text.split("/")
        if any(p in ("", ".", "..") for p in (*above, name)):
            self._refuse(sample, f"{text!r} leads out of the folder of the stream: put it below")
        try:
            return Inside(self._root, tuple(above)).read(name, MAX_BYTES)
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or str(error)
            self._refuse(sample, f"{text} cannot be read ({why}): restore it, then resume")

    def _refuse(self, sample: int, why: str) -> NoReturn:
        raise UserError(f"stream {self.name!r}: image of sample {sample}: {printable(why)}")


def _leaf(opened: ParquetFile, column: str) -> str:
    """Dotted Parquet name of the leaf column with the values of ``column``, such as ``image.bytes``.

    Raises:
        UserError: the column has another type.
    """
    import pyarrow as pa

    kind = whole = opened.schema.field(column).type
    if column == "image" and pa.types.is_struct(kind) and (at := kind.get_field_index("bytes")) >= 0:
        column, kind = "image.bytes", kind.field(at).type
    texts = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or (column == "path" and texts):
        return column
    wanted = "text" if column == "path" else "bytes of image files"
    raise UserError(f"stream {str(opened.path)!r}: column {column!r} is of type {whole}, must hold {wanted}")


def _lengths(opened: ParquetFile, column: str) -> NDArray[np.int32] | None:
    """Length in bytes of each value ``[n]``, if the file has a column of lengths."""
    import pyarrow as pa

    if column not in opened.schema.names or not pa.types.is_integer(opened.schema.field(column).type):
        return None
    found, at = np.empty(opened.rows, dtype=np.int32), 0
    for piece in opened.pieces([column]):
        values = piece.column(0)
        if values.null_count or values.type.bit_width != 32:
            return None
        own = np.frombuffer(values.buffers()[1], np.int32)[values.offset : values.offset + len(values)]
        if len(own) and own.min() < 0:
            return None
        with damage_reported():
            found[at : at + len(own)] = own
        at += len(own)
    if at != opened.rows:
        raise BadParquet(f"column {column} has {at} rows, and the file's metadata says {opened.rows}")
    return found
