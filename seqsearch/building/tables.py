"""Tables of others (CSV, Parquet), a row for each image: their columns, read one by one and as text."""

from __future__ import annotations

import csv
import io
import os
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from seqsearch.core.errors import UserError
from seqsearch.core.text import printable
from seqsearch.core.typed import brief
from seqsearch.storage.parquet_file import BadParquet, ParquetFile, damage_reported
from seqsearch.storage.reading import open_regular

MOST_CSV = 4 << 30
"""Bytes of a CSV file."""
MOST_HEADER, MOST_COLUMNS = 1 << 20, 2_000


class Table(Protocol):
    """Columns of a file; blanks around their names are not theirs."""

    path: Path
    names: list[str]

    def values(self, name: str) -> list[Any]:
        """A column ``[n]``: texts, lists of texts, whole numbers, None."""
        ...

    def coded(self, name: str) -> tuple[NDArray[np.int64], list[str]]:
        """A column as codes ``[n]``, -1 where it has no value, into its distinct values as texts."""
        ...


def open_table(path: Path) -> Table:
    """The columns of a ``.csv`` or ``.parquet`` file.

    Raises:
        UserError: it cannot be read, has more than `MOST_COLUMNS`, or two columns have one name.
    """
    table: Table = _Parquet(path) if path.suffix.lower() == ".parquet" else _Csv(path)
    if len(table.names) > MOST_COLUMNS:
        raise UserError(
            f"{path} has {len(table.names):,} columns, more than {MOST_COLUMNS:,}: keep those of the captions"
        )
    if twice := next((n for n in table.names if table.names.count(n) > 1), None):
        raise UserError(f"{path} has two columns {brief(twice)}: rename one")
    return table


def codes_of(column: Any) -> tuple[NDArray[np.int64], list[str]]:
    """An Arrow column as `Table.coded`."""
    import pyarrow as pa

    column = pa.chunked_array([column]) if isinstance(column, pa.Array) else column
    if not pa.types.is_dictionary(column.type):
        column = column.cast(pa.large_string()).dictionary_encode()
    whole = column.unify_dictionaries().combine_chunks()
    if isinstance(whole, pa.ChunkedArray):  # of no rows
        return np.zeros(0, np.int64), []
    codes = whole.indices.cast(pa.int64()).fill_null(-1)
    at = np.frombuffer(codes.buffers()[1], np.int64)[codes.offset : codes.offset + len(codes)]
    return at, [printable(str(v)) for v in whole.dictionary.to_pylist()]


class _Parquet:
    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._file = ParquetFile(path)
        except BadParquet as error:
            raise UserError(f"{path} is no readable Parquet file ({error})") from None
        self._raw = {n.strip(): n for n in self._file.schema.names}
        self.names = [n.strip() for n in self._file.schema.names]

    def values(self, name: str) -> list[Any]:
        column = self._column(name)
        try:
            with damage_reported():
                found: list[Any] = column.to_pylist()
        except BadParquet as error:  # texts that are no UTF-8
            raise UserError(f"{self.path}: column {name!r} cannot be read ({error})") from None
        return found

    def coded(self, name: str) -> tuple[NDArray[np.int64], list[str]]:
        column = self._column(name)
        try:
            with damage_reported():
                return codes_of(column)
        except BadParquet:
            raise UserError(
                f"{self.path}: column {name!r} is of type {column.type}, must hold texts or numbers"
            ) from None

    def _column(self, name: str) -> Any:
        try:
            return self._file.column(self._raw[name])
        except BadParquet as error:
            raise UserError(f"{self.path}: column {name!r} cannot be read ({error})") from None


class _Csv:
    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            with open(open_regular(path), "rb") as file:
                if os.fstat(file.fileno()).st_size > MOST_CSV:
                    raise UserError(f"{path} has more than {MOST_CSV >> 30} GB: make a Parquet file of it")
                line = file.readline(MOST_HEADER)
        except OSError as error:
            raise UserError(f"{path} cannot be read ({error.strerror}): name a file or folder of captions") from None
        try:
            self._header = next(csv.reader(io.StringIO(line.decode("utf-8-sig"))), [])
        except (UnicodeDecodeError, csv.Error):
            raise UserError(f"{path}: its first line is no header of a CSV file in UTF-8") from None
        self.names = [n.strip() for n in self._header]

    def values(self, name: str) -> list[Any]:
        found: list[Any] = self._column(name).to_pylist()
        return found

    def coded(self, name: str) -> tuple[NDArray[np.int64], list[str]]:
        return codes_of(self._column(name))

    def _column(self, name: str) -> Any:
        """All as texts: what is a number is not for a reader of CSV to guess."""
        import pyarrow as pa
        import pyarrow.csv as arrow_csv

        raw = self._header[self.names.index(name)]
        try:
            table = arrow_csv.read_csv(
                self.path,
                parse_options=arrow_csv.ParseOptions(newlines_in_values=True),
                convert_options=arrow_csv.ConvertOptions(
                    column_types={raw: pa.string()}, include_columns=[raw], strings_can_be_null=False
                ),
            )
        except (pa.ArrowException, OSError) as error:
            said = printable(" ".join(str(error).split())[:160])
            raise UserError(f"{self.path} is no readable CSV file in UTF-8 ({said}): mend it") from None
        return table.column(0)
