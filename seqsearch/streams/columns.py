"""The small columns of a stream's Parquet file (`seqsearch.streams.layout`), read piece by piece and checked."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqsearch.core.errors import UserError
from seqsearch.core.text import printable
from seqsearch.core.typed import brief
from seqsearch.pools.base import LONGEST_NAME
from seqsearch.storage.parquet_file import BadParquet, ParquetFile, damage_reported
from seqsearch.storage.reading import parsed
from seqsearch.streams.base import STREAM_PARTS, Labels
from seqsearch.streams.layout import METADATA, PAYLOADS
from seqsearch.streams.rows import narrow

MOST_CLASSES = 1 << 22
"""A label must be less."""
WIDEST = 1 << 20
"""Values of a feature, at most."""


@dataclass(frozen=True, eq=False)
class Columns:
    """Columns of all samples beside their images: names ``[C]``, labels ``[n]``, times ``[n]`` or None, parts ``[n]``
    or None. ``payload`` is the column that holds images, paths or features, empty if there is none. ``dim`` is the
    number of values of a feature."""

    names: tuple[str, ...]
    labels: Labels
    times: NDArray[np.int64] | None
    parts: NDArray[np.uint8] | None
    payload: str
    dim: int


@contextlib.contextmanager
def readable(file: Path, mend: str = "make it again with seqsearch stream build") -> Iterator[None]:
    """Raises UserError: a file is no Parquet file that can be used."""
    try:
        yield
    except BadParquet as error:
        raise UserError(f"stream {str(file)!r} is no readable Parquet file ({error}): {mend}") from None


def read_columns(file: Path, opened: ParquetFile) -> Columns:
    """All of a file but images, paths and features.

    Raises:
        UserError: columns are missing, of another type or empty, or a label has no name.
        BadParquet: the file cannot be what it says.
    """
    there = opened.schema.names
    if "label" not in there:
        raise UserError(f"stream {str(file)!r} has no column 'label'; it has {', '.join(there)}")
    if not opened.rows:
        raise UserError(f"stream {str(file)!r} has no rows")
    payloads = [p for p in PAYLOADS if p in there]
    if len(payloads) > 1:
        raise UserError(f"stream {str(file)!r} has columns {' and '.join(payloads)}: leave all but one of them out")
    labels, names = _labels(file, opened)
    times = _whole(file, opened, "time", np.int64) if "time" in there else None
    parts = _parts(file, opened) if "part" in there else None
    return Columns(names, narrow(labels, len(names)), times, parts, "".join(payloads), _dim(opened))


def _labels(file: Path, opened: ParquetFile) -> tuple[NDArray[np.int32], tuple[str, ...]]:
    """Labels ``[n]``, and the names of their classes ``[C]``."""
    import pyarrow as pa

    kind = opened.schema.field("label").type
    if not pa.types.is_integer(kind):
        codes, texts = _texts(file, opened, "label")
        order = sorted(range(len(texts)), key=texts.__getitem__)
        rank = np.empty(len(texts), dtype=np.int32)
        rank[order] = np.arange(len(texts))
        return rank[codes], tuple(printable(texts[i]) for i in order)
    said = _said_names(opened)
    labels = _whole(file, opened, "label", np.int32, MOST_CLASSES - 1 if said is None else len(said) - 1)
    if said is not None:
        return labels, said
    occurs = np.flatnonzero(np.bincount(labels))  # without names: those that occur, numbered through
    names = _class_names(file, opened, labels, occurs) if "class_name" in opened.schema.names else map(str, occurs)
    rank = np.zeros(int(occurs[-1]) + 1, dtype=np.int32)
    rank[occurs] = np.arange(len(occurs))
    return rank[labels], tuple(names)


def _class_names(file: Path, opened: ParquetFile, labels: NDArray[np.int32], occurs: NDArray[np.int64]) -> list[str]:
    """The name of each class that occurs, which must be one."""
    codes, texts = _texts(file, opened, "class_name")
    first = np.full(int(occurs[-1]) + 1, -1, dtype=np.int32)
    first[labels[::-1]] = codes[::-1]  # the name that comes with the first sample of a class
    if (other := np.flatnonzero(first[labels] != codes)).size:
        at = int(other[0])
        raise UserError(
            f"stream {str(file)!r}: label {labels[at]} is called {brief(texts[first[labels[at]]])} first and "
            f"{brief(texts[codes[at]])} in row {at}: give a class one name"
        )
    return [printable(texts[code]) for code in first[occurs]]


def _said_names(opened: ParquetFile) -> tuple[str, ...] | None:
    """Names of classes in the metadata; None if there are none.

    Raises:
        BadParquet: they are no names.
    """
    names = _noted(opened).get("classes")
    if names is None:
        return None
    if not isinstance(names, list) or not all(isinstance(n, str) and len(n) <= LONGEST_NAME for n in names):
        raise BadParquet("its metadata names classes by something else than names")
    if len(set(names)) < len(names):
        raise BadParquet("its metadata gives two classes one name")
    return tuple(printable(n) for n in names)


def _dim(opened: ParquetFile) -> int:
    found = _noted(opened).get("dim", 0)
    return found if isinstance(found, int) and 0 <= found <= WIDEST else 0


def _noted(opened: ParquetFile) -> dict[str, Any]:
    """Return the metadata that seqsearch's builder wrote; empty for files of other programs.

    Raises:
        BadParquet: it cannot be read.
    """
    noted = (opened.metadata.metadata or {}).get(METADATA)
    try:
        found = parsed(noted) if noted is not None else {}
    except ValueError:
        raise BadParquet("its metadata is none of seqsearch") from None
    return found if isinstance(found, dict) else {}


def _parts(file: Path, opened: ParquetFile) -> NDArray[np.uint8]:
    codes, texts = _texts(file, opened, "part")
    known: dict[str, int] = {name: code for code, name in enumerate(STREAM_PARTS)}
    if odd := [t for t in texts if t not in known]:
        raise UserError(f"stream {str(file)!r}: part {brief(odd[0])} must be one of {', '.join(STREAM_PARTS)}")
    return np.array([known[t] for t in texts], dtype=np.uint8)[codes]


def _whole(file: Path, opened: ParquetFile, name: str, kind: Any, most: int = 2**63 - 1) -> NDArray[Any]:
    """A column of whole numbers ``[n]``, none negative if they are labels."""
    import pyarrow as pa

    said = opened.schema.field(name).type
    if not pa.types.is_integer(said):
        raise UserError(f"stream {str(file)!r}: column {name!r} is of type {said}, must be whole numbers")
    found, at = np.empty(opened.rows, dtype=kind), 0
    for piece in opened.pieces([name]):
        values = _values(file, piece.column(0), name, at)
        if name == "label" and len(values) and (values.min() < 0 or values.max() > most):
            odd = int(np.flatnonzero((values < 0) | (values > most))[0])
            raise UserError(f"stream {str(file)!r}: row {at + odd} has label {values[odd]}, must be from 0 to {most}")
        found[at : at + len(values)], at = values, at + len(values)
    _check_rows(opened, name, at)
    return found


def _texts(file: Path, opened: ParquetFile, name: str) -> tuple[NDArray[np.int32], list[str]]:
    """A column of texts that come again: codes ``[n]`` and what they stand for."""
    import pyarrow as pa

    said = opened.schema.field(name).type
    said = said.value_type if pa.types.is_dictionary(said) else said
    if not (pa.types.is_string(said) or pa.types.is_large_string(said)):
        kinds = "whole numbers or text" if name == "label" else "text"
        raise UserError(f"stream {str(file)!r}: column {name!r} is of type {said}, must be {kinds}")
    found, at, known = np.empty(opened.rows, dtype=np.int32), 0, dict[str, int]()
    for piece in opened.pieces([name], as_dictionary=pa.types.is_string(said)):
        column = piece.column(0)
        with damage_reported():
            column = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
            own = [str(t) for t in column.dictionary.to_pylist()]
        if (longest := max(map(len, own), default=0)) > LONGEST_NAME:
            raise UserError(
                f"stream {str(file)!r}: column {name!r} holds a text of {longest} characters, too long for a name"
            )
        codes = np.array([known.setdefault(t, len(known)) for t in own], dtype=np.int32)
        indices = _values(file, column.indices, name, at)
        with damage_reported():
            found[at : at + len(indices)], at = codes[indices] if len(indices) else 0, at + len(indices)
    _check_rows(opened, name, at)
    return found, list(known)


def _values(file: Path, column: Any, name: str, at: int) -> NDArray[Any]:
    """Whole numbers ``[m]`` of a piece that begins at row ``at``."""
    if column.null_count:
        first = int(np.flatnonzero(np.asarray(column.is_null().to_numpy(zero_copy_only=False)))[0])
        raise UserError(f"stream {str(file)!r}: column {name!r} is empty in row {at + first}: give it a value")
    kind = np.dtype(str(column.type))
    return np.frombuffer(column.buffers()[1], kind)[column.offset : column.offset + len(column)]


def _check_rows(opened: ParquetFile, name: str, rows: int) -> None:
    if rows != opened.rows:
        raise BadParquet(f"column {name} has another number of rows than its metadata says")
