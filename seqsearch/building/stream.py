"""Make the Parquet file of a stream (`seqsearch.streams.layout`) of sources that are each in order of time."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqsearch.building.stream_sources import Positions, Source
from seqsearch.building.writing import strings
from seqsearch.core.errors import UserError
from seqsearch.pools.parts.decode import MAX_BYTES
from seqsearch.storage.files import atomic_path
from seqsearch.storage.inside import Inside
from seqsearch.streams import layout
from seqsearch.streams.base import STREAM_PARTS, Stream, StreamPart, checked
from seqsearch.streams.rows import counted
from seqsearch.streams.vectors import WithoutImages

AT_A_TIME = 4096
"""Samples whose payload is read at a time."""


@dataclass(frozen=True)
class Report:
    """Report of a build: samples written, classes, and samples that were left out because their images are missing."""

    samples: int
    classes: int
    missing: int


def build_stream_file(
    sources: dict[StreamPart, Source], out: Path, embed: bool = False, skip_missing: bool = False
) -> Report:
    """Write the stream of ``sources`` by part (of ``main`` alone: parted as it says itself, or not) to ``out``, all or nothing.

    Args:
        embed: put the bytes of images into the file, and not their paths.
        skip_missing: leave samples out whose image is not there.

    Raises:
        UserError: no sample; sources that do not go together; unsorted times; a class that only the holdout has; an image
            that is missing, behind a link, or outside of the folder of ``out``; features that are no finite numbers.
    """
    main = sources["main"]
    for other in sources.values():
        if (other.payload, other.dim, other.times is None) != (main.payload, main.dim, main.times is None):
            raise UserError(
                f"{other.name} and {main.name} do not go together: features of as many values, times in all or in none"
            )
    there = {p: _there(s, skip_missing) if s.payload == "path" else s for p, s in sources.items()}
    whole, names = _joined(there)
    if not len(whole):
        raise UserError(f"{main.name}: no sample is left")
    _check(whole, names, out)
    lost = sum(map(len, sources.values())) - len(whole)
    with atomic_path(out, durable=True) as temporary:
        _write(_embedded(whole) if embed and whole.payload == "path" else _relative(whole, out), names, temporary)
    return Report(len(whole), len(names), lost)


def _joined(sources: dict[StreamPart, Source]) -> tuple[Source, tuple[str, ...]]:
    """All parts as one source, and the names of all classes: numbers in their order, else alphabetically."""
    known = {n for part, s in sources.items() for n in s.names if part != "holdout" or len(sources) == 1}
    if (held := sources.get("holdout")) is not None and (
        new := [c for c, n in enumerate(held.names) if n not in known]
    ):
        at = int(np.isin(held.codes, new).argmax())
        raise UserError(
            f"{held.name}: {held.place(at)} is of class {held.names[held.codes[at]]!r}, which no sample outside of the holdout "
            "has: leave such samples out"
        )
    numbers = all(n.isascii() and n.isdigit() for n in known)
    names = tuple(sorted(known, key=(lambda n: (int(n), n)) if numbers else None))
    place = {n: i for i, n in enumerate(names)}
    first = [sources[p] for p in STREAM_PARTS if p in sources]
    codes = np.concatenate([np.array([place.get(n, -1) for n in s.names], np.int32)[s.codes] for s in first])
    parts = sources["main"].parts
    if len(first) > 1:
        parts = np.repeat(
            [STREAM_PARTS.index(p) for p in STREAM_PARTS if p in sources], [len(s) for s in first]
        ).astype(np.uint8)
    times = None if first[0].times is None else np.concatenate([s.times for s in first if s.times is not None])
    whole = replace(sources["main"], codes=codes, names=names, times=times, parts=parts, read=_read_all(first))
    if (
        times is not None and len(first) > 1
    ):  # the search part comes first, whatever its times; `checked` evaluates them
        begin = len(sources["search"]) if "search" in sources else 0
        order = np.concatenate([np.arange(begin), begin + np.argsort(times[begin:], kind="stable")])
        whole = whole.taken(order)
    return whole, names


def _read_all(sources: Sequence[Source]) -> Any:
    starts = np.cumsum([0, *map(len, sources)])

    def read(at: Positions) -> list[bytes]:
        found: list[bytes] = [b""] * len(at)
        of = np.searchsorted(starts, at, side="right") - 1
        for number in np.unique(of).tolist():
            own = np.flatnonzero(of == number)
            for place, said in zip(own.tolist(), sources[number].read(at[own] - starts[number]), strict=True):
                found[place] = said
        return found

    return read if len(sources) > 1 else sources[0].read


def _check(whole: Source, names: tuple[str, ...], out: Path) -> None:
    """As the file will be checked when it is opened."""
    n = len(whole)
    nothing = WithoutImages(str(out), "", counted(names, whole.codes, ""))
    times = np.arange(n) if whole.times is None else whole.times
    checked(Stream(str(out), "", names, whole.codes, times, nothing, np.arange(n), whole.parts))


def _there(source: Source, skip_missing: bool) -> Source:
    """The source with those samples alone whose images are there.

    Raises:
        UserError: one is not, and none is to be skipped; or a path leads elsewhere.
    """
    kept = np.ones(len(source), dtype=np.bool_)
    for at in _pieces(len(source)):
        for sample, path in zip(at.tolist(), source.read(at), strict=True):
            folder, name = _inside(source, sample, path)
            if not folder.has(name):
                if not skip_missing:
                    raise UserError(
                        f"{source.name}: the image of {source.place(sample)}, {os.fsdecode(path)}, is not in {source.root}, "
                        "or a link: --images DIR says where they are, --skip-missing leaves such samples out"
                    )
                kept[sample] = False
    return source if kept.all() else source.taken(np.flatnonzero(kept))


def _inside(source: Source, sample: int, path: bytes) -> tuple[Inside, str]:
    *above, name = os.fsdecode(path).split("/")
    if name in ("", ".", "..") or any(p in ("", ".", "..") for p in above):
        raise UserError(
            f"{source.name}: {source.place(sample)} has path {os.fsdecode(path)!r}: it must lead down from {source.root} "
            "(--images)"
        )
    return Inside(source.root, tuple(above)), name


def _embedded(source: Source) -> Source:
    """With the bytes of images instead of their paths."""

    def read(at: Positions) -> list[bytes]:
        found = []
        for sample, path in zip(at.tolist(), source.read(at), strict=True):
            folder, name = _inside(source, sample, path)
            try:
                found.append(folder.read(name, MAX_BYTES))
            except OSError as error:
                raise UserError(f"{source.name}: {os.fsdecode(path)} cannot be read ({error.strerror})") from None
        return found

    return replace(source, payload="image", read=read)


def _relative(source: Source, out: Path) -> Source:
    """With paths from the folder that ``out`` is in.

    Raises:
        UserError: they lie outside of it.
    """
    if source.payload != "path":
        return source
    above, root = out.parent.resolve(), source.root.resolve()
    if not root.is_relative_to(above):
        raise UserError(
            f"the images are in {root}, outside of the folder of {out}: write it above them, or take them in with --embed"
        )
    prefix = os.fsencode(root.relative_to(above).as_posix() + "/") if root != above else b""
    return replace(source, read=lambda at: [prefix + p for p in source.read(at)])


def _pieces(n: int) -> Iterator[Positions]:
    for first in range(0, n, AT_A_TIME):
        yield np.arange(first, min(n, first + AT_A_TIME))


def _write(source: Source, names: tuple[str, ...], path: Path) -> None:
    import pyarrow.parquet as pq

    schema = layout.schema(source.payload, source.times is not None, source.parts is not None)
    content = hashlib.blake2b(digest_size=16)
    with pq.ParquetWriter(path, schema, **layout.options(source.payload)) as file:
        first, held, size = 0, list[bytes](), 0
        for at in _pieces(len(source)):
            for sample, said in enumerate(source.read(at) if source.payload else (), int(at[0])):
                content.update(len(said).to_bytes(8, "little") + said)
                if held and (len(held) == layout.MAX_ROWS or size + len(said) > layout.MAX_BYTES):
                    file.write_table(_table(source, schema, slice(first, sample), held), row_group_size=layout.MAX_ROWS)
                    first, held, size = sample, [], 0
                held.append(said)
                size += len(said)
        for begin in range(first, len(source), layout.MAX_ROWS):
            rows = slice(begin, min(begin + layout.MAX_ROWS, len(source)))
            file.write_table(_table(source, schema, rows, held), row_group_size=layout.MAX_ROWS)
        file.add_key_value_metadata(layout.metadata(names, content.hexdigest(), source.dim))


def _table(source: Source, schema: Any, rows: slice, held: Sequence[bytes]) -> Any:
    """The rows of a row group, whose payload is ``held``."""
    import pyarrow as pa

    columns = [_numbers(source.codes[rows], pa.int32())]
    if source.times is not None:
        columns.append(_numbers(source.times[rows], pa.int64()))
    if source.parts is not None:
        columns.append(strings([STREAM_PARTS[p] for p in source.parts[rows]]))
    if source.payload:
        columns.append(strings(held, pa.binary()))
    if source.payload in ("image", "path"):
        columns.append(_numbers(np.array([len(h) for h in held], np.int32), pa.int32()))
    return pa.Table.from_arrays(columns, schema=schema)


def _numbers(values: NDArray[Any], kind: Any) -> Any:
    import pyarrow as pa

    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(np.ascontiguousarray(values))])
