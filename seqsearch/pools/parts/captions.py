"""The texts of images: which of an image's captions is its text, and the column of a pool's files that holds them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, get_args

import numpy as np

from seqsearch.core.errors import UserError
from seqsearch.core.text import printable
from seqsearch.core.typed import brief
from seqsearch.pools.base import Policy, Rows
from seqsearch.pools.parts.parquet_columns import all_null, readable
from seqsearch.storage.parquet_file import ParquetFile, damage_reported
from seqsearch.storage.ranges import File

if TYPE_CHECKING:
    import torch

POLICIES: tuple[Policy, ...] = get_args(Policy)
NAMES = ("captions", "caption", "texts", "text")
"""Columns that may hold the texts of an image, a text or a list of them each."""


class HasCaptions(Protocol):
    """A pool whose images have captions."""

    name: str

    def captions(self, rows: Rows) -> list[list[str]]: ...


def check_policy(name: str, policy: object, captioned: bool) -> None:
    """Raises UserError: there is no such policy, or no captions in the pool of this name."""
    if policy not in POLICIES:
        raise UserError(f"pool {name!r}: captions={brief(policy)} must be one of {', '.join(POLICIES)}")
    if policy != "first" and not captioned:
        raise UserError(f"pool {name!r} has no captions (captions={policy}): leave it out, or build it with --captions")


def texts_of(pool: HasCaptions, rows: Rows, policy: str) -> list[str]:
    """The text of each of ``rows`` ``[n]``, for evaluation.

    With the policy ``concat`` it is all captions, one after the other. With ``first`` and ``random`` it is the first caption, so
    that evaluation does not depend on chance.

    Raises:
        UserError: an image has none.
    """
    found = _said(pool, rows)
    return [" ".join(said) for said in found] if policy == "concat" else [said[0] for said in found]


def drawn_texts_of(pool: HasCaptions, rows: Rows, policy: str, generator: torch.Generator) -> list[str]:
    """Return the texts to train on. With ``random``, ``generator`` draws one caption an image; else they are
    `texts_of`.

    Raises:
        UserError: an image has none.
    """
    import torch

    if policy != "random":
        return texts_of(pool, rows, policy)
    found = _said(pool, rows)
    drawn = torch.rand(len(found), generator=generator, device=generator.device, dtype=torch.float64).tolist()
    return [said[int(at * len(said))] for said, at in zip(found, drawn, strict=True)]


def _said(pool: HasCaptions, rows: Rows) -> list[list[str]]:
    found = pool.captions(rows)
    for row, said in zip(rows, found, strict=True):
        if not said:
            raise UserError(
                f"pool {pool.name!r}: {image_at(pool, int(row))} has no caption: give it one, or leave it out"
            )
    return found


def image_at(pool: Any, row: int) -> str:
    """An image, for a message: its file, or its row where the pool knows no files."""
    where = getattr(pool, "where", None)
    return printable(str(where(row))) if where else f"image {row}"


class TextColumn:
    """The texts of images in some files, by row of the files numbered through; read when they are first asked for, then kept.

    Args:
        files: path, column (`text_column`) and rows of each file.
    """

    def __init__(self, files: Sequence[tuple[File, str | None, int]]) -> None:
        self._files = files
        self._read: Any = None

    @property
    def exists(self) -> bool:
        """Whether some file has such a column, and not all of its values are known to be missing."""
        return any(column for _, column, _ in self._files)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_read": None}

    def lists(self, places: Rows) -> list[list[str]]:
        """All texts of each row ``[n]``; blank ones are none.

        Raises:
            UserError: a file is gone, or was changed.
        """
        if not self.exists:
            return [[] for _ in places]
        if self._read is None:
            self._read = self._whole()
        taken = self._read.take(_array(places))
        return [[text for text in said or () if text and not text.isspace()] for said in taken.to_pylist()]

    def _whole(self) -> Any:
        """The columns of all files as one array of lists."""
        import pyarrow as pa

        found = [_lists(path, column, rows) for path, column, rows in self._files]
        return found[0] if len(found) == 1 else pa.concat_arrays(found)


def text_column(file: ParquetFile, names: Sequence[str] = NAMES, *, numbers: bool = False) -> str | None:
    """The first of these columns that is in the file and holds texts, or lists of texts; integers count with ``numbers``.

    None if there is none, or its values are all known to be missing.
    """
    import pyarrow as pa

    def holds_text(kind: Any) -> bool:
        return pa.types.is_string(kind) or pa.types.is_large_string(kind) or (numbers and pa.types.is_integer(kind))

    for name in (n for n in names if n in file.schema.names):
        kind = file.schema.field(name).type
        listed = pa.types.is_list(kind) or pa.types.is_large_list(kind)
        if holds_text(kind.value_type if listed else kind) and not any(
            all_null(file, leaf) for leaf in file.leaves(name)
        ):
            return name
    return None


def _lists(path: File, column: str | None, rows: int) -> Any:
    """The texts of one file as a ``pyarrow.LargeListArray`` of large strings ``[n]``."""
    import pyarrow as pa

    kind = pa.large_list(pa.large_string())
    if column is None:
        return pa.nulls(rows, kind)
    with readable(path, "restore it, then resume"):
        found = ParquetFile(path).column(column)
        with damage_reported():
            listed = pa.types.is_list(found.type) or pa.types.is_large_list(found.type)
            whole = pa.concat_arrays([c.cast(kind if listed else pa.large_string()) for c in found.chunks])
            whole.validate(full=True)  # its texts are UTF-8
            return whole if listed else pa.LargeListArray.from_arrays(_array(np.arange(rows + 1)), whole)


def _array(numbers: Rows) -> Any:
    """Integers as Arrow takes them; not by pyarrow.array, which imports pandas where it is installed."""
    import pyarrow as pa

    own = np.ascontiguousarray(numbers, dtype=np.int64)
    return pa.Array.from_buffers(pa.int64(), len(own), [None, pa.py_buffer(own)])
