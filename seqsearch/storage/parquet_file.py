"""Parquet files of others, read without trusting them.

A file of a few kilobytes can declare more rows than fit into memory, or hold pages that unpack to gigabytes, or name one large
value in a dictionary a million times. So nothing is believed before it was held against the size of the file, and columns are
read in pieces whose memory is known beforehand.
"""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Any

from seqsearch.core.errors import UserError
from seqsearch.storage.parquet_pages import DELTA_BYTE_ARRAY, BadHeader, pages
from seqsearch.storage.ranges import File, Ranges, Sized, opened

MEMORY = 256 << 20
"""Bytes that anything may take in memory, however small it is in the file, ..."""
RATIO = 20
"""... and how many times its size in the file it may take beyond that. Images hardly shrink."""
PIECE_ROWS, PIECE_BYTES = 1 << 16, MEMORY // 8
"""Rows of a piece, and bytes in memory, if a row takes no more."""
FIXED = {"BOOLEAN": 1, "INT32": 8, "INT64": 8, "FLOAT": 4, "DOUBLE": 8}
"""Bytes in memory of a value of these types."""
MOST_AHEAD = 64 << 20
"""Bytes of a file on a server that are read at once: a column of a row group, if it has no more."""
VALUES_PER_BYTE = 32
"""Values of a column for each byte of the file, at most: lists have several in a row."""


class BadParquet(Exception):
    """A file that cannot be used; the message says why, in a few words."""


class ParquetFile:
    """The footer of a file, held against the size of the file.

    Attributes:
        schema: as Arrow sees it (``pyarrow.Schema``), column names distinct.
        metadata: the footer (``pyarrow.parquet.FileMetaData``).
        rows: in all; never more than the file has bytes.
        group_rows: in each row group.

    Raises:
        BadParquet: it is no Parquet file, or cannot be what it says; so do all methods.
    """

    def __init__(self, path: File) -> None:
        with damage_reported():
            import pyarrow.parquet as pq

            self.path = path
            with contextlib.closing(opened(path)) as file:
                self.size, self.metadata = file.size, pq.read_metadata(file.arrow)
            _check_chunks(self.metadata, self.size)
            self.schema = self.metadata.schema.to_arrow_schema()
            self.rows = int(self.metadata.num_rows)
            self.group_rows = [int(self.metadata.row_group(g).num_rows) for g in range(self.metadata.num_row_groups)]
            self._paths = [self.metadata.schema.column(i).path for i in range(self.metadata.num_columns)]
        if any(len(set(names)) != len(names) for names in (self.schema.names, self._paths)):
            raise BadParquet("it has two columns of one name")
        if min(self.group_rows, default=0) < 0 or sum(self.group_rows) != self.rows:
            raise BadParquet("it has another number of rows than its metadata says")
        if self.rows > self.size:
            raise BadParquet(f"{self.rows} rows in {self.size} bytes: a decompression bomb")

    def chunk(self, group: int, column: str) -> Any:
        """Return the footer's entry for a column of values in a row group (``pyarrow.parquet.ColumnChunkMetaData``)."""
        return self.metadata.row_group(group).column(self._paths.index(column))

    def span(self, group: int, column: str) -> tuple[int, int]:
        """Where a column of values of a row group begins and ends in the file, its dictionary included."""
        with damage_reported():
            chunk = self.chunk(group, column)
            start, before = int(chunk.data_page_offset), chunk.dictionary_page_offset
            if chunk.has_dictionary_page and before is not None and 0 < before < start:
                start = int(before)
            end = start + int(chunk.total_compressed_size)
        if not 0 <= start <= end <= self.size:
            raise BadParquet(f"column {column} lies outside of the file")
        return start, end

    def column(self, name: str, *, as_dictionary: bool = False) -> Any:
        """A small column, all of it, as a ``pyarrow.ChunkedArray``."""
        import pyarrow as pa

        kept = list(self.bounded([name], as_dictionary=as_dictionary))
        with damage_reported():
            found = (
                pa.chunked_array([k.column(0) for k in kept]) if kept else pa.chunked_array([], self._field(name).type)
            )
        if len(found) != self.rows:
            raise BadParquet(f"column {name} has another number of rows than its metadata says")
        return found

    def group(self, number: int, column: str) -> Any:
        """A column of one row group (a path like ``image.bytes``) as a ``pyarrow.Array``."""
        import pyarrow as pa

        kept = list(self.bounded([column], [number]))
        with damage_reported():
            found = pa.concat_arrays([inner(k.column(0), column) for k in kept])
        if len(found) != self.group_rows[number]:
            raise BadParquet(f"column {column} has another number of rows than its metadata says")
        return found

    def pieces(
        self,
        columns: Sequence[str],
        groups: Sequence[int] | None = None,
        *,
        rows: int = PIECE_ROWS,
        as_dictionary: bool = False,
    ) -> Iterator[Any]:
        """Columns (names, or paths like ``image.bytes``) piece by piece, as ``pyarrow.RecordBatch`` of at most ``rows`` rows.

        A piece takes hardly more than `PIECE_BYTES`, unless a row of it alone does.
        """
        numbers = list(range(len(self.group_rows))) if groups is None else list(groups)
        for column in columns:
            if not _plain(kind := self._field(column).type):
                raise BadParquet(f"column {column} is of type {kind}")
        leaves = [leaf for c in columns for leaf in self.leaves(c)]
        longest = max((high - low for g in numbers for low, high in (self.span(g, leaf) for leaf in leaves)), default=0)
        with damage_reported(), contextlib.closing(opened(self.path, ahead=min(longest, MOST_AHEAD))) as source:
            import pyarrow.parquet as pq

            widest = sum(self._widest(source, leaf, numbers, as_dictionary) for leaf in leaves)
            # Not read_table, which imports pandas where it is installed: half a second.
            with pq.ParquetFile(
                source.arrow,
                metadata=self.metadata,
                buffer_size=1 << 20,
                pre_buffer=False,
                read_dictionary=list(columns) if as_dictionary else None,
            ) as file:
                size = max(1, min(rows, PIECE_BYTES // max(1, widest)))
                yield from file.iter_batches(size, row_groups=numbers, columns=list(columns), use_threads=False)

    def bounded(
        self, columns: Sequence[str], groups: Sequence[int] | None = None, *, as_dictionary: bool = False
    ) -> Iterator[Any]:
        """The same, as long as all pieces take hardly more than `MEMORY`, or `RATIO` times what they take in the file."""
        numbers = range(len(self.group_rows)) if groups is None else groups
        spans = [self.span(g, leaf) for c in columns for leaf in self.leaves(c) for g in numbers]
        stored, taken = sum(high - low for low, high in spans), 0
        for piece in self.pieces(columns, groups, as_dictionary=as_dictionary):
            taken += piece.nbytes
            if taken > MEMORY + RATIO * stored:
                raise BadParquet(f"{stored} bytes unpack to more than {taken >> 20} MB: a decompression bomb")
            yield piece

    def _field(self, column: str) -> Any:
        return self.schema.field(column.partition(".")[0] if column not in self.schema.names else column)

    def leaves(self, column: str) -> list[str]:
        """Paths of the columns of values in a column."""
        return [p for p in self._paths if p == column or p.startswith(f"{column}.")]

    def _widest(self, source: Ranges, leaf: str, groups: Sequence[int], as_dictionary: bool) -> int:
        """Bytes that a row of a column of values takes at most: of numbers those of one, else those of its largest page.

        None, if a value that comes again takes no memory again.
        """
        widest, said = 0, self.metadata.schema.column(self._paths.index(leaf))
        fixed = said.physical_type if said.max_repetition_level == 0 and said.physical_type in FIXED else ""
        for group in groups:
            low, high = self.span(group, leaf)
            values = int(self.chunk(group, leaf).num_values)
            if not 0 <= values <= VALUES_PER_BYTE * self.size:
                raise BadParquet(f"{values} values in {self.size} bytes: a decompression bomb")
            for page in pages(source.read_at, low, high, values):
                if page.full > MEMORY + RATIO * page.stored:
                    raise BadParquet(f"{page.stored} bytes unpack to {page.full >> 20} MB: a decompression bomb")
                if fixed:
                    widest = max(widest, FIXED[fixed])
                elif not as_dictionary or page.encoding == DELTA_BYTE_ARRAY:
                    widest = max(widest, page.full)
        return widest


@contextlib.contextmanager
def damage_reported() -> Iterator[None]:
    """Report any error within this block as the file's fault.

    Raises:
        BadParquet: with the message of the error in one line. A `UserError` has its own message and passes, and so does a
            `MemoryError` (Arrow's is one): the file is not to blame.
    """
    try:
        yield
    except (BadParquet, UserError, MemoryError):
        raise
    except (BadHeader, Exception) as error:  # Arrow raises what it likes on corrupt data
        said = error.strerror if isinstance(error, OSError) and error.strerror else " ".join(str(error).split())[:120]
        raise BadParquet(said or type(error).__name__) from None


def inner(array: Any, column: str) -> Any:
    """The column at a path like ``image.bytes`` in what was read of it."""
    return array.field(column.partition(".")[2]) if "." in column and array.type.num_fields else array


def _plain(kind: Any) -> bool:
    """A type whose values take no more memory than their bytes: not fixed-size ones, whose nulls take what they declare."""
    import pyarrow as pa

    t = pa.types
    if t.is_struct(kind):
        return all(_plain(kind.field(i).type) for i in range(kind.num_fields))
    if t.is_list(kind) or t.is_large_list(kind):
        return _plain(kind.value_type)
    if t.is_dictionary(kind):
        return _plain(kind.value_type)
    texts = t.is_string, t.is_large_string, t.is_binary, t.is_large_binary
    return (
        t.is_null(kind)
        or t.is_boolean(kind)
        or t.is_integer(kind)
        or t.is_floating(kind)
        or any(is_(kind) for is_ in texts)
    )


PATIENCE = 1.0
"""Seconds."""


class _Unread(Sized):
    """As long as a file, and nothing is in it."""

    asked = False
    """Somebody wanted to read."""

    def read(self, size: int = -1) -> bytes:
        self.asked = True  # an exception would be held by Arrow for ever, and with it all frames
        return b""


def _check_chunks(metadata: Any, size: int) -> None:
    """Have Arrow look at what the footer says of every column of every row group, before `ParquetFile.chunk` does.

    There, a wrong one ends the process (an exception of C++ that pyarrow lets through, https://github.com/apache/arrow/issues/45283).
    Arrow also looks when it is about to read all columns ahead, and there it becomes an exception of Python.
    """
    file = _Unread(size)
    try:
        _look_ahead(file, metadata)
    except Exception:
        if not file.asked:
            raise
    finally:
        _await_release(file)


def _look_ahead(file: _Unread, metadata: Any) -> None:
    import pyarrow.parquet as pq

    with pq.ParquetFile(file, metadata=metadata, pre_buffer=True) as footer:
        next(footer.iter_batches(1, use_threads=False), None)


def _await_release(file: _Unread) -> None:
    """Until no thread of Arrow holds the file: one that lets go of it while Python ends takes the process down."""
    until = time.monotonic() + PATIENCE
    while sys.getrefcount(file) > 3 and time.monotonic() < until:  # ours, that of the caller, and that of the count
        time.sleep(0.001)
