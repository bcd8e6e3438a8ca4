"""The small columns of Parquet files of images, read and checked: labels, groups, splits, lengths, captions."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqsearch.core.digests import digest_of
from seqsearch.core.errors import UserError
from seqsearch.core.text import printable
from seqsearch.pools.parts.layout import METADATA, SPLITS
from seqsearch.storage.files import atomic_path, cache_root
from seqsearch.storage.parquet_file import BadParquet, ParquetFile, judged
from seqsearch.storage.reading import content, parsed

IMAGES = ("image", "img")
TEXTS = ("class_name", "group", "split")
CAPTIONS = ("caption", "text")
LONGEST = 2**31 - 8
"""Bytes of an image, at most, for its length to be believed."""
LONGEST_NAME = 1000
"""Characters of the name of a class, a group or a split."""


@dataclass
class Columns:
    """The small columns of all files ``[n]``: integer codes, and what they stand for."""

    rows: list[int]
    """In each file."""
    label: NDArray[np.int64]
    names: list[str]
    group: NDArray[np.int64]
    groups: list[str]
    grouped: bool
    """The files say the groups; else there is one, named after them."""
    split: NDArray[np.uint8] | None
    lengths: NDArray[np.int32] | None


def read_columns(file: Path, in_folder: bool, split: str) -> dict[str, Any]:
    """The small columns of one file, checked: codes ``[n]`` and texts by column name."""
    import pyarrow as pa

    with readable(file):
        opened = ParquetFile(file)
        schema, image = opened.schema, image_column(opened)
        if "label" not in schema.names:
            raise UserError(f"pool {str(file)!r} has no column 'label'; it has {', '.join(schema.names)}")
        if not opened.rows:
            raise UserError(f"pool {str(file)!r} has no rows")
        if _all_null(opened, image):
            raise UserError(f"pool {str(file)!r} has no image bytes, in no row: embed the images, not their paths")
        wanted = [n for n in ("label", *TEXTS) if n in schema.names]
        # an integer, or it is something else by the same name, perhaps all images
        if "image_bytes" in schema.names and pa.types.is_integer(schema.field("image_bytes").type):
            wanted.append("image_bytes")
        found: dict[str, Any] = {"rows": opened.rows, "names": _label_names(schema), "content": _content(file, opened)}
        # One column after the other: of millions of rows each is some megabytes, and Arrow would keep the room of all.
        for name in wanted:
            column = opened.column(name, as_dictionary=pa.types.is_string(schema.field(name).type))
            with judged():
                if name == "image_bytes":
                    found |= _lengths(column)
                else:
                    with _lenient(name == "split" and split == "random"):
                        found[name] = _codes(file, name, column)
            del column
            pa.default_memory_pool().release_unused()
    if "split" not in found and in_folder and (code := split_of_name(file)) is not None:
        found["file_split"] = code
    return found


@contextlib.contextmanager
def readable(file: Path, mend: str = "") -> Iterator[None]:
    """Raises UserError: a file is no Parquet file that can be used."""
    try:
        yield
    except BadParquet as error:
        said = f"cannot be read any more ({error}): {mend}" if mend else f"is no readable Parquet file ({error})"
        raise UserError(f"pool {str(file)!r} {said}") from None


def _lenient(yes: bool) -> contextlib.AbstractContextManager[None]:
    """A split that is not wanted may be as wrong as it likes."""
    return contextlib.suppress(UserError) if yes else contextlib.nullcontext()


def _lengths(column: Any) -> dict[str, NDArray[np.int32]]:
    """``lengths`` ``[n]``, if they can be those of images."""
    if column.null_count:
        return {}
    said = _numbers(column)
    return {"lengths": said.astype(np.int32)} if said.min() >= 0 and said.max() <= LONGEST else {}


def _all_null(file: ParquetFile, column: str) -> bool:
    """The footer says that no row has an image."""
    with judged():
        for number, rows in enumerate(file.group_rows):
            chunk = file.chunk(number, column)
            said = chunk.statistics if chunk.is_stats_set else None
            if said is None or not said.has_null_count or said.null_count < rows:
                return False
    return True


def _codes(file: Path, name: str, column: Any) -> tuple[NDArray[np.int64], list[str] | None] | None:
    """Integers ``[n]`` and, for a column of text, what they stand for; None for a column without any value."""
    import pyarrow as pa

    if column.null_count == len(column) and name != "label":
        return None
    if column.null_count:
        first = int(np.flatnonzero(column.is_null().to_numpy())[0])
        raise UserError(
            f"pool {str(file)!r}: column {name!r} is null in {column.null_count} row(s), the first is {first}"
        )
    kind = column.type
    if pa.types.is_integer(kind) and name == "label":
        return _numbers(column).astype(np.int64), None
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
        return rank[_numbers(whole.indices)], [texts[i] for i in order]
    raise UserError(
        f"pool {str(file)!r}: column {name!r} is of type {kind}, must be {'integers or ' * (name == 'label')}text"
    )


def _numbers(column: Any) -> NDArray[Any]:
    """Integers ``[n]`` of a column without nulls; not by its to_numpy, which imports pandas where it is installed."""
    parts = [column] if not hasattr(column, "chunks") else column.chunks
    kinds = [np.dtype(str(p.type)) for p in parts]
    found = [np.frombuffer(p.buffers()[1], k)[p.offset : p.offset + len(p)] for p, k in zip(parts, kinds, strict=True)]
    return np.concatenate(found)


def joined(files: list[Path], parts: list[dict[str, Any]], split: str) -> Columns:
    """One set of columns of all files."""
    labels, names = _labels(files, parts)
    group, groups = _texts(parts, "group", [printable(files[0].stem if len(files) == 1 else files[0].parent.name)])
    named, own = _texts(parts, "class_name", [])
    if own:
        names = _own_names(files[0], labels, names, named, own)
    lengths = [p["lengths"] for p in parts if "lengths" in p]
    given = None
    with _lenient(split == "random"):
        given = _split(files, parts)
    return Columns(
        [p["rows"] for p in parts],
        labels,
        names,
        group,
        groups,
        any(p.get("group") is not None for p in parts),
        given,
        np.concatenate(lengths) if len(lengths) == len(parts) else None,
    )


def _labels(files: list[Path], parts: list[dict[str, Any]]) -> tuple[NDArray[np.int64], list[str]]:
    """Labels ``[n]`` and the name of each: of the files' metadata, the texts themselves, or the numbers."""
    if any((p["label"][1] is None) != (parts[0]["label"][1] is None) for p in parts):
        raise UserError(f"pool {str(files[0].parent)!r}: some files have integer labels, others text")
    if parts[0]["label"][1] is not None:
        return _texts(parts, "label", [])
    for file, part in zip(files, parts, strict=True):
        if part["names"] != parts[0]["names"]:
            raise UserError(f"pool: {file} names its labels otherwise than {files[0]}: they are no one data set")
    labels = np.concatenate([p["label"][0] for p in parts])
    if (low := int(labels.min())) < 0:
        raise UserError(
            f"pool {str(files[0])!r} has label {low}: images without a label (as in hidden test sets) cannot be used, leave "
            "them out"
        )
    names = parts[0]["names"]
    if names is None:
        there, codes = np.unique(labels, return_inverse=True)  # labels may be any numbers, as large as they like
        return codes.astype(np.int64), [str(i) for i in there.tolist()]
    if (high := int(labels.max())) >= len(names):
        raise UserError(f"pool {str(files[0])!r} has label {high}, but names for {len(names)} labels only")
    return labels, names


def _texts(parts: list[dict[str, Any]], name: str, default: list[str]) -> tuple[NDArray[np.int64], list[str]]:
    """Codes ``[n]`` into one sorted list of texts; ``default`` where a file does not have the column."""
    texts = sorted({t for p in parts for t in ((p.get(name) or (None, default))[1] or default)})
    place = {t: i for i, t in enumerate(texts)}
    codes = []
    for p in parts:
        if p.get(name) is None:
            codes.append(np.zeros(p["rows"], dtype=np.int64) + (place[default[0]] if default else 0))
        else:
            own, said = p[name]
            codes.append(np.array([place[t] for t in said], dtype=np.int64)[own])
    return np.concatenate(codes), texts


def _own_names(
    file: Path, labels: NDArray[np.int64], names: list[str], named: NDArray[np.int64], own: list[str]
) -> list[str]:
    """Names of labels by the column ``class_name``, which must say one thing of each."""
    found = list(names)
    keys, first = np.unique(labels, return_index=True)
    of_label = np.zeros(int(labels.max()) + 1, dtype=np.int64)
    of_label[keys] = named[first]
    if not np.array_equal(of_label[labels], named):
        row = int(np.flatnonzero(of_label[labels] != named)[0])
        raise UserError(f"pool {str(file)!r}: row {row} names its label otherwise than an earlier row (class_name)")
    for key in keys.tolist():
        found[key] = own[of_label[key]]
    return found


def _split(files: list[Path], parts: list[dict[str, Any]]) -> NDArray[np.uint8] | None:
    """The given split ``[n]``: positions in `seqsearch.pools.base.GIVEN`; None if there is none, or one part only.

    Raises:
        UserError: a split of another name, or only some files have one.
    """
    codes, lacking = [], []
    for file, p in zip(files, parts, strict=True):
        if p.get("split") is not None:
            own, said = p["split"]
            if unknown := sorted(t for t in said if t.lower() not in SPLITS):
                raise UserError(
                    f"pool {str(file)!r}: unknown split {', '.join(map(repr, unknown[:5]))}: the column must hold train, "
                    "validation and test, or let the split be drawn (split=random)"
                )
            codes.append(np.array([SPLITS[t.lower()] for t in said], dtype=np.uint8)[own])
        elif "file_split" in p:
            codes.append(np.full(p["rows"], p["file_split"], dtype=np.uint8))
        else:
            lacking.append(file)
    if not codes:
        return None
    if lacking:
        has = next(f for f in files if f not in lacking)
        raise UserError(
            f"pool {str(files[0].parent)!r}: {has.name} has a split, {lacking[0].name} has none: give it one (train-*, "
            "validation-*, test-*), leave it out, or let the split be drawn (split=random)"
        )
    found = np.concatenate(codes)
    return found if len(np.unique(found)) > 1 else None


def _label_names(schema: Any) -> list[str] | None:
    """Names of a Hugging Face ``ClassLabel``.

    Raises:
        BadParquet: they are no names.
    """
    try:
        said = parsed((schema.metadata or {})[b"huggingface"])
        names = said["info"]["features"]["label"]["names"]
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


def captions_of(file: Path) -> Any:
    """The column of captions, None if there is none."""
    import pyarrow as pa

    with readable(file, "restore it, then resume"):
        opened = ParquetFile(file)
        texts = (pa.types.is_string, pa.types.is_large_string)
        there = (n for n in CAPTIONS if n in opened.schema.names)
        name = next((n for n in there if any(t(opened.schema.field(n).type) for t in texts)), None)
        if name is None:
            return None
        with judged():
            return opened.column(name).cast(pa.large_string())


def split_of_name(file: Path) -> int | None:
    """Of a file name like ``train-00000-of-00003.parquet``."""
    head = file.stem.replace("_", "-").replace(".", "-").partition("-")[0]
    return SPLITS.get(head.lower())


# ------------------------------------------------------------------------------------------------ identity


def _content(file: Path, opened: ParquetFile) -> str:
    """Digest of a file's images: as our builder noted it, else of the whole file, computed once per machine."""
    noted = (opened.metadata.metadata or {}).get(METADATA)
    if noted is not None:
        try:
            return str(parsed(noted)["content"])
        except (ValueError, KeyError, TypeError):
            pass  # not ours
    state, path = file.stat(), file.resolve()
    memo = cache_root() / "pools" / f"{digest_of(str(path))}.json"
    mark = [state.st_size, state.st_mtime_ns]
    try:
        known = parsed(content(memo, 1 << 20))
        if known["mark"] == mark:
            return str(known["digest"])
    except (OSError, ValueError, KeyError, TypeError):
        pass  # not known yet
    with open(file, "rb") as bare:
        digest = hashlib.file_digest(bare, lambda: hashlib.blake2b(digest_size=16)).hexdigest()
    try:
        memo.parent.mkdir(parents=True, exist_ok=True)
        with atomic_path(memo) as temporary:
            temporary.write_text(json.dumps({"mark": mark, "digest": digest}))
    except (OSError, UserError):
        pass  # it is computed again next time
    return digest
