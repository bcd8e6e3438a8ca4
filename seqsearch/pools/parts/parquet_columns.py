"""The small columns of one Parquet file of images, read and checked: labels, groups, splits, lengths, captions."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqsearch.core.digests import digest_of
from seqsearch.core.errors import UserError
from seqsearch.core.text import counted, nearest, printable
from seqsearch.pools.base import LONGEST_NAME
from seqsearch.pools.grouped_split import numbers_of
from seqsearch.pools.parts.layout import METADATA, SPLITS
from seqsearch.storage.files import atomic_file, cache_root
from seqsearch.storage.inside import Inside
from seqsearch.storage.parquet_file import BadParquet, ParquetFile, damage_reported
from seqsearch.storage.ranges import File
from seqsearch.storage.reading import parsed
from seqsearch.storage.servers import RemoteFile
from seqsearch.storage.unfinished import sweep

IMAGES = ("image", "img")
LABEL = "label"
"""Column of the classes, unless another one is asked for."""
TEXTS = ("class_name", "group", "split")
BOUND = "bound"
"""Column of the subject of an image (an advert, say). Images of a class with one value are never in two parts of a
drawn split."""
LONGEST = 2**31 - 8
"""Bytes of an image, at most, for its length to be believed."""
FOOTER = 8
"""Bytes at the end of a Parquet file: the size of its footer, and four letters."""


def read_columns(opened: ParquetFile, in_folder: bool, split: str, label: str = LABEL) -> dict[str, Any]:
    """The small columns of one file, checked: codes ``[n]`` and texts by column name; ``label`` is the column of the classes.

    Raises:
        BadParquet: the file is not what it says.
        UserError: it is no file of labelled images.
    """
    import pyarrow as pa

    file, schema, image = opened.path, opened.schema, image_column(opened)
    if label not in schema.names:
        raise UserError(
            f"pool {str(file)!r} has no column {label!r}; it has {', '.join(schema.names)}"
            + (
                ": name the one that says the class, as in :label=COLUMN"
                if label == LABEL
                else nearest(label, schema.names)
            )
        )
    if not opened.rows:
        raise UserError(f"pool {str(file)!r} has no rows")
    if all_null(opened, image):
        raise UserError(f"pool {str(file)!r} has no image bytes, in no row: embed the images, not their paths")
    # names of classes are those of the usual label
    wanted = [
        label,
        *(n for n in TEXTS if n in schema.names and (n != "class_name" or label == LABEL) and n != label),
    ]
    # an integer, or it is something else by the same name, perhaps all images
    if "image_bytes" in schema.names and pa.types.is_integer(schema.field("image_bytes").type):
        wanted.append("image_bytes")
    found: dict[str, Any] = {
        "rows": opened.rows,
        "names": _label_names(schema, label),
    }
    # One column after the other: of millions of rows each is some megabytes, and Arrow would keep the room of all.
    for name in wanted:
        column = opened.column(name, as_dictionary=pa.types.is_string(schema.field(name).type))
        with damage_reported():
            if name == "image_bytes":
                found |= _lengths(column)
            else:
                with lenient(name == "split" and split == "random"):
                    found[LABEL if name == label else name] = _codes(file, name, column, label)
        del column
        pa.default_memory_pool().release_unused()
    if BOUND in schema.names and _names_sets(schema.field(BOUND).type):
        column = opened.column(BOUND, as_dictionary=pa.types.is_string(schema.field(BOUND).type))
        with damage_reported():
            found[BOUND] = numbers_of(column)
    if "split" not in found and in_folder and (code := split_of_name(file)) is not None:
        found["file_split"] = code
    return found


@contextlib.contextmanager
def readable(file: File, mend: str = "") -> Iterator[None]:
    """Raises UserError: a file is no Parquet file that can be used."""
    try:
        yield
    except BadParquet as error:
        said = f"cannot be read any more ({error}): {mend}" if mend else f"is no readable Parquet file ({error})"
        raise UserError(f"pool {str(file)!r} {said}") from None


def lenient(yes: bool) -> contextlib.AbstractContextManager[None]:
    """A split that is not wanted may be as wrong as it likes."""
    return contextlib.suppress(UserError) if yes else contextlib.nullcontext()


def _lengths(column: Any) -> dict[str, NDArray[np.int32]]:
    """``lengths`` ``[n]``, if they can be those of images."""
    if column.null_count:
        return {}
    said = numbers_in(column)
    return {"lengths": said.astype(np.int32)} if said.min() >= 0 and said.max() <= LONGEST else {}


def all_null(file: ParquetFile, column: str) -> bool:
    """The footer says that no row has an image."""
    with damage_reported():
        for number, rows in enumerate(file.group_rows):
            chunk = file.chunk(number, column)
            said = chunk.statistics if chunk.is_stats_set else None
            if said is None or not said.has_null_count or said.null_count < rows:
                return False
    return True


def _codes(file: File, name: str, column: Any, label: str) -> tuple[NDArray[np.int64], list[str] | None] | None:
    """Integers ``[n]`` and, for a column of text, what they stand for; None for a column without any value."""
    import pyarrow as pa

    if column.null_count == len(column) and name != label:
        return None
    if column.null_count:
        first = int(np.flatnonzero(column.is_null().to_numpy())[0])
        raise UserError(
            f"pool {str(file)!r}: column {name!r} is null in {counted(column.null_count, 'row')}, the first is {first}"
        )
    kind = column.type
    if pa.types.is_integer(kind) and name == label:
        return numbers_in(column).astype(np.int64), None
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_dictionary(kind):
        whole = column.combine_chunks()
        whole = whole if pa.types.is_dictionary(whole.type) else whole.dictionary_encode()
        whole = whole.unify_dictionaries().combine_chunks() if isinstance(whole, pa.ChunkedArray) else whole
        texts = [str(t) for t in whole.dictionary.to_pylist()]
        if (longest := max(map(len, texts))) > LONGEST_NAME:
            raise UserError(
                f"pool {str(file)!r}: column {name!r} holds a text of {longest} characters, names have at most {LONGEST_NAME}"
            )
        order = np.argsort(np.array(texts, dtype=object), kind="stable")
        rank = np.empty(len(texts), dtype=np.int64)
        rank[order] = np.arange(len(texts))
        return rank[numbers_in(whole.indices)], [texts[i] for i in order]
    raise UserError(
        f"pool {str(file)!r}: column {name!r} is of type {kind}, must be {'integers or ' * (name == label)}text"
    )


def _names_sets(kind: Any) -> bool:
    """Texts or integers; a column of that name may be something else, of boxes perhaps."""
    import pyarrow as pa

    return any(is_(kind) for is_ in (pa.types.is_string, pa.types.is_large_string, pa.types.is_integer))


def numbers_in(column: Any) -> NDArray[Any]:
    """Integers ``[n]`` of a column without nulls; not by its to_numpy, which imports pandas where it is installed."""
    parts = [column] if not hasattr(column, "chunks") else column.chunks
    kinds = [np.dtype(str(p.type)) for p in parts]
    found = [np.frombuffer(p.buffers()[1], k)[p.offset : p.offset + len(p)] for p, k in zip(parts, kinds, strict=True)]
    return np.concatenate(found)


def _label_names(schema: Any, label: str) -> list[str] | None:
    """Names of a Hugging Face ``ClassLabel``.

    Raises:
        BadParquet: they are no names.
    """
    try:
        said = parsed((schema.metadata or {})[b"huggingface"])
        names = said["info"]["features"][label]["names"]
    except (KeyError, ValueError, TypeError):
        return None
    if not isinstance(names, list):
        return None
    found = [printable(str(n)) for n in names]
    if (longest := max(map(len, found), default=0)) > LONGEST_NAME:
        raise BadParquet(f"its metadata name a label in {longest} characters, names have at most {LONGEST_NAME}")
    return found


def image_column(file: ParquetFile) -> str:
    """Path of the column that holds image bytes.

    Raises:
        UserError: there is none.
    """
    import pyarrow as pa

    name = next((n for n in IMAGES if n in file.schema.names), None)
    if name is None:
        raise UserError(f"pool {str(file.path)!r} has no column 'image'; it has {', '.join(file.schema.names)}")
    kind = whole = file.schema.field(name).type
    if pa.types.is_struct(kind) and (at := kind.get_field_index("bytes")) >= 0:
        name, kind = f"{name}.bytes", kind.field(at).type
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        return name
    raise UserError(f"pool {str(file.path)!r}: column {name!r} is of type {whole}, must hold the bytes of image files")


def split_of_name(file: File) -> int | None:
    """Of a file name like ``train-00000-of-00003.parquet``."""
    head = file.stem.replace("_", "-").replace(".", "-").partition("-")[0]
    return SPLITS.get(head.lower())


# ------------------------------------------------------------------------------------------------ identity


def mark_of(state: os.stat_result) -> list[int]:
    """What changes when a file is written, or another one takes its place."""
    return [state.st_size, state.st_mtime_ns, state.st_ctime_ns, state.st_ino]


def content_of(file: File, opened: ParquetFile, key: bytes = METADATA) -> str:
    """Digest of a file's images: as our builder noted it under ``key``, else of the whole file, computed once per machine.

    Of another file on a server it is what the server says of the content. A program that edits our file may carry our note along:
    it is believed where the data end as it says.
    """
    noted = (opened.metadata.metadata or {}).get(key)
    if noted is not None:
        try:
            said = parsed(noted)
            if "end" not in said or said["end"] == opened.size - opened.metadata.serialized_size - FOOTER:
                return str(said["content"])
        except (ValueError, KeyError, TypeError):
            pass  # not ours
    if isinstance(file, RemoteFile):
        return digest_of("remote", file.size, file.state)
    state, path = file.stat(), file.resolve()
    memos, memo = Inside(cache_root()).at("pools"), f"{digest_of(str(path))}.json"
    mark = mark_of(state)
    try:
        known = parsed(memos.read(memo, 1 << 20))
        if known["mark"] == mark:
            return str(known["digest"])
    except (OSError, ValueError, KeyError, TypeError):
        pass  # not known yet
    with open(file, "rb") as bare:
        digest = hashlib.file_digest(bare, lambda: hashlib.blake2b(digest_size=16)).hexdigest()
    try:
        sweep(memos)
        with atomic_file(memos, memo) as written:
            written.write(json.dumps({"mark": mark, "digest": digest}).encode())
    except UserError:
        pass  # it is computed again next time
    return digest
