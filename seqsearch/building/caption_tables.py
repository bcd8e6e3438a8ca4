"""Captions from tables (CSV, Parquet), a row for each image: "the [variable] is [value]".

"Multimodal class-incremental learning benchmark" makes captions of DVM-CAR so. It names neither the 13 variables nor the form of
their values: both are ours (docs/captions.md).
"""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from seqsearch.building.writing import strings
from seqsearch.core.errors import UserError
from seqsearch.core.text import nearest, printable
from seqsearch.core.typed import brief
from seqsearch.storage.parquet_file import BadParquet, ParquetFile, damage_reported
from seqsearch.storage.reading import open_regular

DEFAULT = (
    "Color", "Reg_year", "Bodytype", "Runned_Miles", "Engin_size", "Gearbox", "Fuel_type", "Price", "Seat_num", "Door_num",
    "Adv_year", "Adv_month", "Predicted_viewpoint",
)  # fmt: skip
"""Columns of DVM-CAR that captions have, in this order."""
EXCLUDED = ("Maker", "Genmodel", "Genmodel_ID", "Adv_ID", "Image_ID", "Image_name")
"""Columns that name the class or the image; captions have them if asked for by name."""
MISSING = frozenset({"", "nan", "na", "n/a", "null"})
"""Values that are none, whatever their case."""
_NUMBER = re.compile(r"[+-]?(0|[1-9]\d*)(\.\d*)?([eE][+-]?\d{1,2})?")

Coded = tuple[NDArray[np.int64], list[str]]
"""A column: codes ``[n]``, -1 where there is no value, into its distinct values."""


def columns_of(table: Table, asked: str, others: Sequence[str]) -> tuple[list[str], bool]:
    """The columns of the captions, and whether they were named one by one.

    Args:
        asked: ``default`` (those of `DEFAULT` that are there), ``all``, or names with commas.
        others: columns that are something else (image, split, what is bound together); ``all`` leaves them out.

    Raises:
        UserError: there is no such column.
    """
    if asked == "default":
        found = [n for n in DEFAULT if n in table.names]
        if not found:
            raise UserError(
                f"{table.path} has none of the columns of DVM-CAR; it has {brief(', '.join(table.names))}: name those "
                "to use, or all: --caption-columns NAME,NAME"
            )
        return found, False
    if asked == "all":
        left = {n.lower() for n in (*others, *EXCLUDED)}
        found = [n for n in table.names if n.lower() not in left]
        if not found:
            raise UserError(f"{table.path} has no columns beside {', '.join(table.names)}: name those to use")
        return found, False
    names = [n.strip() for n in asked.split(",")]
    for name in names:
        if name not in table.names:
            raise UserError(f"{table.path} has no column {brief(name)} (--caption-columns){nearest(name, table.names)}")
        if names.count(name) > 1:
            raise UserError(f"--caption-columns names {brief(name)} twice")
    return names, True


def read_coded(table: Table, name: str) -> Coded:
    """A column, its missing values as such, its numbers as captions have them: whole ones without decimals, others with one."""
    codes, values = table.coded(name)
    bare = [" ".join(v.split()) for v in values]
    there = [v for v in bare if v.lower() not in MISSING]
    numeric = all(_NUMBER.fullmatch(v) for v in there)
    whole = numeric and all(float(v).is_integer() for v in there)
    values = [_number(v, whole) if numeric and v.lower() not in MISSING else v for v in bare]
    distinct = sorted({t for t in values if t.lower() not in MISSING})
    place = {t: i for i, t in enumerate(distinct)}
    return np.array([*(place.get(t, -1) for t in values), -1], dtype=np.int64)[codes], distinct


def _number(text: str, whole: bool) -> str:
    if whole:
        return text.lstrip("+") if text.lstrip("+-").isdigit() else f"{float(text):.0f}"
    return f"{float(text):.1f}"


def sentences(columns: dict[str, Coded]) -> list[str]:
    """A sentence for each row ``[n]``: clauses joined by commas, values that are missing left out; empty if all are.

    >>> sentences({"Fuel_type": (np.array([0, -1]), ["Diesel"]), "Price": (np.array([0, 0]), ["900"])})
    ['the fuel type is Diesel, the price is 900.', 'the price is 900.']
    """
    import pyarrow.compute as pc

    clauses: list[Any] = []
    for name, (codes, values) in columns.items():
        said = " ".join(name.replace("_", " ").lower().split())
        texts = strings([*(f", the {said} is {v}" for v in values), ""])
        clauses.append(taken(texts, np.where(codes < 0, len(values), codes)))
    # Commas are in the clauses: with nulls to be skipped, Arrow 26 leaves out rows that have nothing else.
    joined = pc.binary_join_element_wise(*clauses, "")
    return [f"{text[2:]}." if text else "" for text in joined.to_pylist()]


def taken(values: Any, places: NDArray[np.int64]) -> Any:
    """The values of an Arrow array at ``places`` ``[n]``."""
    import pyarrow as pa

    at = np.ascontiguousarray(places, dtype=np.int64)
    return values.take(pa.Array.from_buffers(pa.int64(), len(at), [None, pa.py_buffer(at)]))


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
