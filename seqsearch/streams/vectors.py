"""Streams without images: with labels only, or with labels and precomputed features that are memory-mapped from the file."""

from __future__ import annotations

import mmap
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from seqsearch.core.errors import UserError
from seqsearch.pools.base import ClassInfo, Rows, SplitSizes, View, checked_rows
from seqsearch.pools.parts.verbatim import PREFIX, packed
from seqsearch.storage.parquet_file import BadParquet, ParquetFile
from seqsearch.storage.reading import open_regular
from seqsearch.streams.rows import Samples

WIDTH = 4
"""Bytes of a float32 value."""


class WithoutImages:
    """A stream of labels only, in the form of a pool (``seqsearch.pools.base.Pool``), and the base of `Vectors`."""

    native_size = 0
    given: NDArray[np.uint8] | None = None
    """`Pool.given`: None, since there are no images to split."""
    dim = 0
    """Length of a feature vector; 0 without features."""

    def __init__(self, name: str, digest: str, classes: tuple[ClassInfo, ...]) -> None:
        self.name, self.digest, self.classes, self.split_sizes = name, digest, classes, SplitSizes()

    def images(self, rows: Rows, view: View) -> NoReturn:
        """
        Raises:
            UserError: always.
        """
        raise UserError(
            f"stream {self.name!r} has {'features' if self.dim else 'labels'} and no images: take a learner that asks for none, "
            "or a stream of images"
        )

    def given_features(self, rows: Rows) -> NDArray[np.float32]:
        """Features ``[m, dim]`` of ``rows``.

        Raises:
            UserError: there are none.
        """
        raise UserError(
            f"stream {self.name!r} has labels alone: take a learner that asks for no more, or a stream with features"
        )


class Vectors(WithoutImages):
    """Features ``[n, dim]`` float32 in the column ``features`` of a Parquet file (`seqsearch.streams.layout`), memory-mapped.

    Args:
        dim: length of a feature vector.
        order: the sample at each row ``[n]``. Rows are the numbers by which callers ask; samples are the positions in the file.

    Raises:
        UserError: features are not stored verbatim, or are not all of this length.
        BadParquet: the file is damaged.
    """

    def __init__(
        self, name: str, digest: str, classes: tuple[ClassInfo, ...], opened: ParquetFile, dim: int, order: Samples
    ) -> None:
        super().__init__(name, digest, classes)
        self.dim = dim
        self._path, self._order = Path(str(opened.path)), order
        if not features_are_bytes(opened):
            raise self._misplaced()
        self._starts = np.concatenate([[0], np.cumsum(opened.group_rows)]).astype(np.int64)
        ends = [opened.span(g, "features")[1] for g in range(len(opened.group_rows))]
        self._ends = np.array(ends, dtype=np.int64)
        self._map: mmap.mmap | None = None
        self._check(opened)

    def _check(self, opened: ParquetFile) -> None:
        for number, rows in enumerate(opened.group_rows):
            chunk, (low, high) = opened.chunk(number, "features"), opened.span(number, "features")
            verbatim = not packed(chunk) and not chunk.has_dictionary_page
            if not verbatim or not self.dim or rows * self._stride > high - low:
                raise self._misplaced()
        self._of_samples(np.unique(np.concatenate([self._starts[:-1], self._starts[1:] - 1])))

    def _misplaced(self) -> UserError:
        return UserError(
            f"stream {self.name!r}: its features do not lie in the file as they should: make a stream of it with "
            "seqsearch stream build"
        )

    @property
    def _stride(self) -> int:
        return PREFIX + WIDTH * self.dim

    def given_features(self, rows: Rows) -> NDArray[np.float32]:
        """Features ``[m, dim]`` of ``rows``.

        Raises:
            UserError: a row is not in the stream, the file was changed, or a value is no finite number.
        """
        samples = self._order[checked_rows(rows, self.name, len(self._order))].astype(np.int64)
        found = self._of_samples(samples)
        if not np.isfinite(found).all():
            at = int(np.flatnonzero(~np.isfinite(found).all(axis=1))[0])
            raise UserError(
                f"stream {self.name!r}: sample {samples[at]} has a feature that is no finite number: leave it out"
            )
        return found

    def _of_samples(self, samples: NDArray[np.int64]) -> NDArray[np.float32]:
        if self._map is None:
            self._map = _mapped(self._path)
        # Values are counted from the end of the row group's column: before its first value there may be page headers of any
        # length.
        group = np.searchsorted(self._starts, samples, side="right") - 1
        places = self._ends[group] - (self._starts[group + 1] - samples) * self._stride
        if int(self._ends.max(initial=0)) > min(len(self._map), self._map.size()):  # to read beyond its end is fatal
            raise UserError(
                f"stream {self.name!r} cannot be read any more: the file has been changed: restore it, then resume"
            )
        # Each value begins with its length (PREFIX bytes), which must be that of ``dim`` floats: else the file is another.
        whole = np.lib.stride_tricks.sliding_window_view(np.frombuffer(self._map, np.uint8), self._stride)[places]
        if (whole[:, :PREFIX] != np.frombuffer((WIDTH * self.dim).to_bytes(PREFIX, "little"), np.uint8)).any():
            raise UserError(f"stream {self.name!r} is not as it should be, or the file has been changed: make it again")
        return np.ascontiguousarray(whole[:, PREFIX:]).view("<f4").astype(np.float32, copy=False)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_map": None}


def features_are_bytes(opened: ParquetFile) -> bool:
    """Whether the column ``features`` is of bytes, and not of lists."""
    import pyarrow as pa

    return bool(pa.types.is_binary(opened.schema.field("features").type))


def _mapped(path: Path) -> mmap.mmap:
    try:
        with open(open_regular(path), "rb") as file:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as error:
        raise BadParquet(str(error)) from None
