"""Similarity matrices in files: NumPy, CSV and Parquet, of others or our own. Nothing in them is believed unseen."""

from __future__ import annotations

import csv
import os
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import IO, Any

import numpy as np

from seqsearch.core.errors import UserError
from seqsearch.core.text import as_cell, from_cell, shows
from seqsearch.similarity.features import from_confusion
from seqsearch.similarity.matrix import MOST_CLASSES, Floats, Similarity, check_magnitude, checked, precision, quoted
from seqsearch.storage.files import atomic_path
from seqsearch.storage.parquet_file import BadParquet, ParquetFile, damage_reported
from seqsearch.storage.reading import open_regular

CORNER = "class_name"
"""The first column, which holds the names."""
SOURCE = b"seqsearch.source"
"""Key of the file's metadata in Parquet."""
LONGEST_LINE = 4 << 20
"""Characters of a line of CSV: a row of `MOST_CLASSES` numbers is shorter."""
_ROWS = 512
"""Rows of an array that are read at a time."""
_COLUMNS = 32
"""Columns of a Parquet file read at a time: the memory a row may take is bounded by that of its pages."""


@dataclass(frozen=True)
class Table:
    """Contents of a file, before they are known to be a similarity.

    Attributes:
        values: ``[N, M]``; NaN where a cell is empty.
        names: None if the file has none.
        source: the file's own statement of its source, else its name.
    """

    values: Floats
    names: tuple[str, ...] | None
    source: str


def read(path: Path | str, names: Sequence[str] | None = None) -> Similarity:
    """The similarity in a ``.npy``, ``.csv`` or ``.parquet`` file (docs/similarity.md has the layouts).

    Args:
        names: where the file has none, those of its rows (default ``0``, ``1``, ...); where it has, the classes to keep, in
            this order.

    Raises:
        UserError: it cannot be read, is no matrix, or is none as `checked` wants it.
    """
    table = read_table(path)
    if table.names is None:
        own = tuple(map(str, range(len(table.values)))) if names is None else names
        return checked(table.values, own, str(path), table.source, ours=True)
    found = checked(table.values, table.names, str(path), table.source, ours=True)
    return found if names is None else found.restricted(names)


def read_confusion(path: Path, names: Sequence[str] | None = None) -> Similarity:
    """The similarity (`from_confusion`) of the counts or rates in a file, rows true, columns predicted.

    Args:
        names: see `read`.

    Raises:
        UserError: it cannot be read, or holds no counts.
    """
    table, source = read_table(path), f"confusion in {path.name}"
    if table.names is not None:
        found = from_confusion(table.values, table.names, source)
        return found if names is None else found.restricted(names)
    return from_confusion(table.values, names or tuple(map(str, range(len(table.values)))), source)


def read_table(path: Path | str) -> Table:
    """The numbers and names of a file, whatever they mean.

    Raises:
        UserError: it cannot be read, or is no table of numbers.
    """
    path = Path(path)
    try:
        with damage_reported():
            return _READERS[_kind(path)](path)
    except BadParquet as error:
        raise UserError(f"{path}: cannot be read as a matrix ({error})") from None


def write(path: Path | str, similarity: Similarity) -> None:
    """Write ``.npy`` (values alone), ``.csv`` or ``.parquet``, whole or not at all. `read` gives back the same bits.

    Raises:
        UserError: another ending, a folder that is not there, a disk that is full.
    """
    path = Path(path)
    check_target(path, "the matrix", tuple(_READERS))
    if path.suffix.lower() == ".parquet" and CORNER in similarity.names:
        raise UserError(f"{path}: a class is called {CORNER!r}, as is the column of names: write .csv instead")
    if path.suffix.lower() == ".csv" and (hidden := next((n for n in similarity.names if not shows(n)), None)):
        raise UserError(f"{path}: class {quoted(hidden)} holds characters that do not show: write .parquet instead")
    with atomic_path(path, durable=True) as temporary:
        _WRITERS[_kind(path)](temporary, similarity)


def check_target(path: Path, what: str, endings: Sequence[str]) -> None:
    """Raises UserError: a file cannot be written there, as far as that can be seen beforehand."""
    if path.suffix.lower() not in endings:
        raise UserError(f"{path}: {what} is written as {', '.join(endings)}: give it one of these endings")
    if not path.parent.is_dir():
        raise UserError(f"{path}: folder {path.parent} does not exist: make it first")
    if path.is_dir():
        raise UserError(f"{path}: is a folder: name a file")


def _kind(path: Path) -> str:
    if path.suffix.lower() not in _READERS:
        raise UserError(f"{path}: a matrix is a file in {', '.join(_READERS)}: save it as one of these")
    return path.suffix.lower()


def _size(rows: int, columns: int) -> None:
    if max(rows, columns) > MOST_CLASSES + 1:
        raise BadParquet(f"{rows} x {columns} numbers, at most {MOST_CLASSES} classes fit")


def _read_npy(path: Path) -> Table:
    os.close(open_regular(path))  # numpy would wait for a pipe
    with warnings.catch_warnings(action="ignore"):  # of sizes that no array can have
        found = np.load(path, mmap_mode="r", allow_pickle=False)
    if not isinstance(found, np.memmap) or found.dtype.kind not in "fiub":
        raise BadParquet("it holds no array of real numbers")
    if found.ndim != 2:
        raise BadParquet(f"it holds an array of {found.ndim} dimension(s), not of two")
    _size(*found.shape)
    return Table(_copied(path, found), None, path.name)


def _copied(path: Path, mapped: np.memmap[Any, Any]) -> Floats:
    """The numbers of a file, a part at a time, so that no more than one copy of them is in memory."""
    values = np.empty(mapped.shape, precision(len(mapped)))
    if not mapped.flags.c_contiguous:
        values[:] = mapped
        return values
    with open(path, "rb") as file:
        file.seek(mapped.offset)
        largest = 0.0
        for start in range(0, len(values), _ROWS):
            rows = values[start : start + _ROWS]
            read = np.fromfile(file, mapped.dtype, rows.size)
            if read.size != rows.size:
                raise BadParquet("it ends before its last row")
            with np.errstate(over="ignore"):
                rows[:] = read.reshape(rows.shape)
            largest = max(largest, float(np.abs(read).max(where=np.isfinite(read), initial=0.0)))
    if values.dtype == np.float32:
        check_magnitude(largest, str(path))
    return values


def _write_npy(path: Path, similarity: Similarity) -> None:
    with open(path, "wb") as file:
        np.save(file, similarity.values, allow_pickle=False)


def _read_csv(path: Path) -> Table:
    """Bare numbers, or names above them, or names above and before them."""
    with open(open_regular(path), encoding="utf-8-sig", newline="") as file:
        rows = (row for row in csv.reader(_lines(file), strict=True) if row)
        head = next(rows, [])
        if not head:
            raise BadParquet("it is empty")
        _size(0, len(head))
        bare = _is_cell(head[0]) and head[0].strip() != ""
        before: list[str] = []
        numbers: list[Floats] = []
        for line, row in enumerate(chain([head] if bare else [], rows), start=1 if bare else 2):
            if len(row) != len(head):
                raise BadParquet(f"line {line} has {len(row)} cells, the first line {len(head)}")
            before.append(row[0])
            numbers.append(_numbers(row[1:], line, 2))
            _size(line, 0)
    if not numbers:
        raise BadParquet("there is nothing below its first line")
    values = np.stack(numbers)
    if not bare and len(values) == len(head) - 1:
        _check_heads(head[1:], before)
        return Table(values, tuple(map(from_cell, before)), path.name)
    first = [_numbers([cell], line, 1) for line, cell in enumerate(before, start=1 if bare else 2)]
    return Table(np.hstack([np.stack(first), values]), None if bare else tuple(map(from_cell, head)), path.name)


def _lines(file: IO[str]) -> Iterator[str]:
    while line := file.readline(LONGEST_LINE + 1):
        if len(line) > LONGEST_LINE:
            raise BadParquet(f"a line of more than {LONGEST_LINE} characters")
        yield line


def _is_cell(cell: str) -> bool:
    """A number, or nothing, as may stand on the diagonal."""
    try:
        float(cell.strip() or "nan")
    except ValueError:
        return False
    return True


def _numbers(cells: Sequence[str], line: int, column: int) -> Floats:
    """The cells of a line from a column on."""
    try:
        return np.array([float(c.strip() or "nan") for c in cells], dtype=np.float64)
    except ValueError:
        at, bad = next((i, c) for i, c in enumerate(cells, start=column) if not _is_cell(c))
        raise BadParquet(f"line {line}, column {at} holds {quoted(bad)}, which is no number") from None


def _write_csv(path: Path, similarity: Similarity) -> None:
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_NONNUMERIC)  # a name may hold what some take for the end of a cell
        writer.writerow([CORNER, *map(as_cell, similarity.names)])
        for name, row in zip(similarity.names, similarity.values, strict=True):
            writer.writerow([as_cell(name), *row.tolist()])


def _read_parquet(path: Path) -> Table:
    import pyarrow as pa

    file = ParquetFile(path)
    heads, kinds = file.schema.names, file.schema.types
    if not heads:
        raise BadParquet("it has no columns")
    _size(file.rows, len(heads))
    kind = kinds[0].value_type if pa.types.is_dictionary(kinds[0]) else kinds[0]
    names = None
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        names = [str(n) for n in file.column(heads[0]).to_pylist()]
        heads, kinds = heads[1:], kinds[1:]
        _check_heads(heads, names)
    for head, type_ in zip(heads, kinds, strict=True):
        if not (pa.types.is_integer(type_) or pa.types.is_floating(type_)):
            raise BadParquet(f"column {quoted(head)} holds {type_}, not numbers")
    values = np.full((file.rows, len(heads)), np.nan)
    for start in range(0, len(heads), _COLUMNS):
        row = 0
        for piece in file.bounded(heads[start : start + _COLUMNS]):
            for column, head in enumerate(heads[start : start + _COLUMNS], start=start):
                numbers = piece.column(head).cast(pa.float64(), safe=False)
                values[row : row + len(piece), column] = numbers.to_numpy(zero_copy_only=False)
            row += len(piece)
        if row != file.rows:
            raise BadParquet("it has another number of rows than its metadata says")
    said = (file.schema.metadata or {}).get(SOURCE, b"").decode("utf-8", "replace")[:300]
    return Table(values, tuple(names or heads), said or path.name)


def _write_parquet(path: Path, similarity: Similarity) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    kinds = [pa.field(CORNER, pa.string()), *(pa.field(n, pa.float64()) for n in similarity.names)]
    about = {"seqsearch.kind": "similarity", SOURCE.decode(): similarity.source, "seqsearch.digest": similarity.digest}
    columns = [pa.array(similarity.names, pa.string()), *map(pa.array, similarity.values)]
    # every number is another: a dictionary of them would only be another copy
    pq.write_table(pa.table(columns, schema=pa.schema(kinds, about)), path, use_dictionary=False, compression="zstd")


def _check_heads(heads: Sequence[str], names: Sequence[str]) -> None:
    """Raises BadParquet: columns are other classes than rows, or come in another order."""
    if len(heads) != len(names):
        raise BadParquet(f"{len(names)} rows and {len(heads)} columns of numbers, must be as many")
    i = next((i for i, (a, b) in enumerate(zip(heads, names, strict=True)) if a != b), None)
    if i is not None:
        raise BadParquet(
            f"row {i + 1} is {quoted(names[i])} and column {i + 1} {quoted(heads[i])}: "
            "classes must come in the same order both ways"
        )


_READERS = {".npy": _read_npy, ".csv": _read_csv, ".parquet": _read_parquet}
_WRITERS = {".npy": _write_npy, ".csv": _write_csv, ".parquet": _write_parquet}
