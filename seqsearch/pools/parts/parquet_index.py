"""What a pool needs of its Parquet files to find any image: read from them once, then kept in the cache.

Files of millions of images have thousands of row groups, and their footers and small columns take seconds to read and check.
A pool has one index for each set of options. An index that is damaged, or of files that have changed since, is made anew.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqsearch.core.digests import digest_of
from seqsearch.core.errors import UserError
from seqsearch.pools.parts.captions import text_column
from seqsearch.pools.parts.parquet_columns import BOUND, content_of, image_column, mark_of, read_columns, readable
from seqsearch.pools.parts.parquet_join import Columns, joined
from seqsearch.pools.parts.verbatim import verbatim_ends
from seqsearch.storage.files import atomic_file, cache_root
from seqsearch.storage.inside import Inside
from seqsearch.storage.parquet_file import ParquetFile
from seqsearch.storage.ranges import File
from seqsearch.storage.servers import THREADS, RemoteFile
from seqsearch.storage.unfinished import sweep

VERSION = 1
"""Of the form of an index. It is in the names of indices, so versions of this package do not disturb each other."""
WIDE = {"label": np.int64, "group": np.int64, "split": np.uint8, "lengths": np.int32, "bound": np.int64}
"""Types of the columns in memory."""
MOST_BYTES = 1 << 32
"""Of an index: 40 million images take a quarter of it."""


@dataclass
class Shard:
    """One file of a pool.

    Attributes:
        images: the column of image bytes.
        captions: the column of their texts.
        sets: the column of what they are bound to.
        group_rows: rows of each row group ``[G]``.
        ends: see `seqsearch.pools.parts.verbatim.verbatim_ends`.
    """

    images: str
    captions: str | None
    sets: str | None
    group_rows: NDArray[np.int64]
    ends: NDArray[np.int64] | None


@dataclass
class Index:
    """Of all files of a pool, in order; ``content`` is the digest of their content."""

    columns: Columns
    shards: list[Shard]
    content: str


def index_of(files: Sequence[File], in_folder: bool, split: str, label: str) -> Index:
    """The index of some files, out of the cache or of the files themselves.

    Args:
        in_folder: they are those of a folder, whose names may say the split.
        split: the option of the pool.
        label: column of the classes.

    Raises:
        UserError: see `seqsearch.pools.parquet.build`.
    """
    names, states = [_name(f) for f in files], [_state(f) for f in files]
    folder, name = Inside(cache_root()).at("pools"), f"{digest_of(VERSION, names, in_folder, split, label)}.npz"
    try:
        return _unpacked(folder.read(name, MOST_BYTES), states)
    except Exception:  # there is none, it is of other files, or it is damaged: zip files have many ways to be
        index = _read(files, in_folder, split, label)
    try:
        sweep(folder)
        with atomic_file(folder, name) as written:
            written.write(_packed(index, states))
    except UserError:
        pass  # it is read from the files again next time
    return index


def _name(file: File) -> str:
    """As the pool has it: it may say a split or a group, also where it is a link."""
    return file.place if isinstance(file, RemoteFile) else os.path.abspath(file)


def _state(file: File) -> list[Any]:
    """What changes with a file. Its change time cannot be set, unlike the time of modification."""
    if isinstance(file, RemoteFile):
        return [file.size, file.state]
    try:
        return [*mark_of(file.stat())]
    except OSError as error:
        raise UserError(f"pool {str(file)!r} cannot be read ({error.strerror}): restore it, or leave it out") from None


def _read(files: Sequence[File], in_folder: bool, split: str, label: str) -> Index:
    remote = any(isinstance(f, RemoteFile) for f in files)
    with ThreadPoolExecutor(THREADS if remote else 1) as several:
        found = list(several.map(lambda f: _read_file(f, in_folder, split, label), files))
    parts = [part for part, _, _ in found]
    return Index(joined(files, parts, split), [shard for _, shard, _ in found], digest_of([c for _, _, c in found]))


def _read_file(file: File, in_folder: bool, split: str, label: str) -> tuple[dict[str, Any], Shard, str]:
    """Its small columns, how its images lie, and the digest of its content."""
    with readable(file):
        opened = ParquetFile(file)
        part, images = read_columns(opened, in_folder, split, label), image_column(opened)
        shard = Shard(
            images,
            text_column(opened),
            text_column(opened, (BOUND,), numbers=True),
            np.array(opened.group_rows, dtype=np.int64),
            verbatim_ends(opened, images, part.get("lengths")),
        )
        return part, shard, content_of(file, opened)


# ------------------------------------------------------------------------------------------------ as bytes


def _packed(index: Index, states: list[list[Any]]) -> bytes:
    """Arrays under their names, in the smallest type that holds them; all else as JSON."""
    shards = [[s.images, s.captions, s.sets] for s in index.shards]
    said: dict[str, Any] = {"states": states, "content": index.content, "shards": shards}
    arrays: dict[str, Any] = {
        "groups": np.array([len(s.group_rows) for s in index.shards]),
        "group_rows": np.concatenate([s.group_rows for s in index.shards]),
        "ends": np.concatenate([np.full(len(s.group_rows), -1) if s.ends is None else s.ends for s in index.shards]),
    }
    for name, value in vars(index.columns).items():
        if isinstance(value, np.ndarray):
            arrays[name] = _smallest(value)
        else:
            said[name] = value
    buffer = io.BytesIO()
    np.savez(buffer, said=np.frombuffer(json.dumps(said).encode(), np.uint8), **arrays)
    return buffer.getvalue()


def _smallest(array: NDArray[Any]) -> NDArray[Any]:
    """The same whole numbers in fewer bytes, where a type holds them all."""
    kind = np.result_type(np.min_scalar_type(array.min()), np.min_scalar_type(array.max()))
    return array.astype(kind) if kind.kind in "iu" else array


def _unpacked(data: bytes, states: list[list[Any]]) -> Index:
    """See `_packed`.

    Raises:
        Exception: it is damaged, or of files in other states.
    """
    with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
        said = json.loads(arrays["said"].tobytes())
        if said["states"] != states:
            raise ValueError("the files have changed")
        own = {f.name: said[f.name] if f.name in said else arrays[f.name] for f in fields(Columns)}
        cuts = np.cumsum(arrays["groups"])[:-1]
        rows, ends = np.split(arrays["group_rows"], cuts), np.split(arrays["ends"], cuts)
    for name, kind in WIDE.items():
        own[name] = None if own[name] is None else own[name].astype(kind)
    shards = [
        Shard(images, captions, sets, r, None if (e < 0).any() else e)
        for (images, captions, sets), r, e in zip(said["shards"], rows, ends, strict=True)
    ]
    return _checked(Index(Columns(**own), shards, str(said["content"])))


def _checked(index: Index) -> Index:
    """An index that can be used, whoever wrote it.

    Raises:
        ValueError: its parts do not fit each other.
    """
    c, shards = index.columns, index.shards
    arrays = [c.label, c.group, *(a for a in (c.split, c.lengths, c.bound) if a is not None)]
    fits = [len(a) == sum(c.rows) for a in arrays]
    fits += [a.min() >= 0 and a.max() < len(n) for a, n in ((c.label, c.names), (c.group, c.groups))]
    fits += [int(s.group_rows.sum()) == rows for s, rows in zip(shards, c.rows, strict=True)]
    if not all(fits):
        raise ValueError("its parts do not fit each other")
    return index
