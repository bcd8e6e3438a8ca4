"""Lists and CSV files of paths, as what a stream is made of; what is wrong is reported with its line."""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqsearch.building.stream_sources import Positions, Source
from seqsearch.core.errors import UserError
from seqsearch.core.text import printable
from seqsearch.core.typed import brief
from seqsearch.storage.reading import open_regular


def of_list(file: Path, images: Path) -> Source:
    """``label<TAB>path`` and perhaps further columns, which are ignored; a line is a sample, in order of time.

    Raises:
        UserError: it cannot be read, or a line is none of these.
    """
    table = _csv(file, header=False)
    if table.num_columns < 2:
        raise UserError(f"{file}: a line must be label<TAB>path")
    return _of_paths(file, images, table.column(0), table.column(1), None, _lines_of(file, header=False))


def of_csv(file: Path, images: Path) -> Source:
    """A header and ``path,time[,label]``, in any order of columns; without labels the folder that an image is in is its class.

    A time is a whole number, or a date and time, which becomes seconds since 1970.

    Raises:
        UserError: it cannot be read, columns are missing, or a time is none.
    """
    table = _csv(file, header=True)
    if missing := [n for n in ("path", "time") if n not in table.column_names]:
        raise UserError(f"{file} has no column {missing[0]!r}: its header must be path,time or path,time,label")
    paths, times = table.column("path"), _times(file, table.column("time"))
    labels = table.column("label") if "label" in table.column_names else _folders(file, paths)
    return _of_paths(file, images, labels, paths, times, _lines_of(file, header=True))


def _of_paths(
    file: Path, images: Path, labels: Any, paths: Any, times: NDArray[np.int64] | None, place: Callable[[int], str]
) -> Source:
    if not len(paths):
        raise UserError(f"{file} has no sample")
    for what, column in (("label", labels), ("path", paths)):
        if column.null_count:
            at = int(np.flatnonzero(column.is_null().to_numpy())[0])
            raise UserError(f"{file}, {place(at)}: there is no {what}")
    whole = labels.combine_chunks().dictionary_encode()
    names = tuple(printable(str(n)) for n in whole.dictionary.to_pylist())
    codes = np.asarray(whole.indices.to_numpy(zero_copy_only=False), dtype=np.int32)

    def read(at: Positions) -> list[bytes]:
        import pyarrow as pa

        return [os.fsencode(p) for p in paths.take(pa.array(at)).to_pylist()]

    return Source(str(file), codes, names, times, "path", read, images, place=place)


def _folders(file: Path, paths: Any) -> Any:
    """The folder that each image is in."""
    import pyarrow.compute as pc

    found = pc.replace_substring_regex(paths, r"^(?:.*/)?([^/]+)/[^/]+$", r"\1")
    if (alone := pc.equal(found, paths).to_numpy()).any():
        raise UserError(
            f"{file}, {_lines_of(file, header=True)(int(alone.argmax()))}: the image is in no folder, and there is no column "
            "'label': add one"
        )
    return found


def _times(file: Path, column: Any) -> NDArray[np.int64]:
    import pyarrow as pa

    if (at := _first_bad_time(column)) is not None:
        said = column[at].as_py()
        raise UserError(
            f"{file}, {_lines_of(file, header=True)(at)}: time {brief('' if said is None else said)} must be a whole number, or "
            "a date and time, as in the lines above"
        )
    if pa.types.is_timestamp(column.type) or pa.types.is_date(column.type):
        column = column.cast(pa.timestamp("s"), safe=False).cast(pa.int64())
    if column.null_count or not pa.types.is_integer(column.type):
        raise UserError(
            f"{file}: column 'time' is of type {column.type}, with {column.null_count} empty: must be whole numbers"
        )
    return np.asarray(column.to_numpy(), dtype=np.int64)


def _first_bad_time(column: Any) -> int | None:
    """The first that is empty, or, of a column that holds texts, of another kind than the first."""
    import pyarrow as pa

    if column.null_count:
        return int(np.flatnonzero(column.is_null().to_numpy())[0])
    if not pa.types.is_string(column.type):
        return None
    kinds = [_kind(text) for text in column.to_pylist()]
    return next((at for at, kind in enumerate(kinds) if kind is None or kind is not kinds[0]), None)


def _kind(time: str) -> type | None:
    for kind, read in ((int, int), (datetime, datetime.fromisoformat)):
        with contextlib.suppress(ValueError):
            read(time)
            return kind
    return None


def _lines_of(file: Path, header: bool) -> Callable[[int], str]:
    """Return a function that names a sample of a text in messages by its line, from 1. Empty lines are no samples."""

    def line(sample: int) -> str:
        with open(open_regular(file), "rb") as opened:
            filled = (number for number, text in enumerate(opened, 1) if text.strip(b"\r\n"))
            return f"line {next(itertools.islice(filled, sample + header, None))}"

    return line


def _csv(file: Path, header: bool) -> Any:
    """All columns, paths and labels as text."""
    import pyarrow as pa
    from pyarrow import csv

    bad: list[Any] = []

    def note(row: Any) -> str:
        bad.append(row)
        return "error"

    with _arrow(file, bad), open(open_regular(file), "rb") as opened:
        read = csv.ReadOptions(autogenerate_column_names=not header, use_threads=False)
        parse = csv.ParseOptions(
            delimiter="," if header else "\t", quote_char='"' if header else False, invalid_row_handler=note
        )
        text = dict.fromkeys(("path", "label", "f0", "f1"), pa.string())
        table = csv.read_csv(opened, read, parse, csv.ConvertOptions(column_types=text, strings_can_be_null=True))
        str(table.column_names)  # names that are no UTF-8 are found out here
        return table


@contextlib.contextmanager
def _arrow(file: Path, bad: list[Any]) -> Iterator[None]:
    """Raises UserError: a text cannot be read as a table."""
    import pyarrow as pa

    try:
        yield
    except UserError:
        raise
    except (OSError, pa.ArrowException, ValueError) as error:
        for row in bad[:1]:
            raise UserError(
                f"{file}, {_lines_of(file, header=False)(row.number - 1)}: has {row.actual_columns} "
                f"column{'s' * (row.actual_columns != 1)}, and the lines above have {row.expected_columns}"
            ) from None
        said = getattr(error, "strerror", None) or " ".join(str(error).split())[:160]
        raise UserError(f"{file} cannot be read: {said}") from None
