"""A stream from its text: ``glyphs``, a file that ``seqsearch stream build`` wrote, ``pool:POOL``, or ``FILE.py:OBJECT``."""

from __future__ import annotations

import inspect
import os
from dataclasses import replace
from pathlib import Path

from seqsearch.core.errors import UserError
from seqsearch.core.grammar import Item, parse_item
from seqsearch.core.once import once
from seqsearch.core.paths import at_home
from seqsearch.core.registry import check_options, declared, located_text, made, names
from seqsearch.core.text import did_you_mean
from seqsearch.pools.open import check_pool, located_pool, pool_item
from seqsearch.pools.stand_in import marked
from seqsearch.streams.base import Stream, checked
from seqsearch.streams.pool import OPTIONS

MEMBERS = ("name", "digest", "classes", "labels", "times", "pool", "rows")
"""Attributes that a custom stream must have."""
POOL = "pool:"
"""Prefix of the text of a pool that is played as a stream."""


def build_stream(text: str) -> Stream:
    """A stream from the item grammar.

    Raises:
        UserError: unknown stream or option, or one that is not as `checked` wants it.
    """
    return once("stream", text, _built)


def _built(text: str) -> Stream:
    found: Stream = checked(made("stream", _item(text), MEMBERS))
    digest = marked(found.digest, found.classes)
    return found if digest == found.digest else replace(found, digest=digest)


def check_stream(text: str) -> None:
    """Check the text that names a stream. No sample is looked for, and nothing heavy is imported.

    Raises:
        UserError: unknown stream, pool or option.
    """
    item = _item(text)
    if item.target in names("stream"):
        check_options("stream", item, inspect.signature(declared("stream", item.target)).parameters)
    if item.target == "pool":
        check_pool(str(dict(item.params)["pool"]))


def _item(text: str) -> Item:
    """Parse a stream's text into the item that `made` builds.

    Raises:
        UserError: there is no such stream.
    """
    if text.startswith(POOL):
        return _of_pool(text)
    if os.path.exists(path := at_home(text)):
        return Item(text, "parquet", None, (("path", str(path)),))
    item = parse_item(text, "stream")
    if item.target == "parquet" or item.target == "pool":
        raise UserError(f"stream {item.text!r}: write the file's path itself, or pool:POOL")
    if item.target in names("stream") or ":" in item.target:
        return item
    meant = did_you_mean(item.target, [n for n in names("stream") if n not in ("parquet", "pool")])
    raise UserError(
        f"stream {item.text!r} does not exist: {meant}name a .parquet file (seqsearch stream build), pool:POOL or glyphs; "
        "an own one is FILE.py:OBJECT"
    )


def _of_pool(text: str) -> Item:
    """The options of the stream are taken off those of the pool."""
    whole = pool_item(text[len(POOL) :])
    own = tuple(p for p in whole.params if p[0] in OPTIONS)
    rest = ",".join(f"{n}={v}" for n, v in whole.params if n not in OPTIONS)
    pool = whole.target + (f":{rest}" if rest else "")
    return replace(whole, text=POOL + whole.text, target="pool", params=(("pool", pool), *own))


def located_stream(text: str, directory: Path) -> str:
    """A stream's item as workers find it: paths in it made absolute."""
    if text.startswith(POOL):
        return POOL + located_pool(text[len(POOL) :], directory)
    if os.path.exists(path := directory / at_home(text)) and text not in names("stream"):
        return str(path.absolute())
    return located_text(text, "stream", directory)
