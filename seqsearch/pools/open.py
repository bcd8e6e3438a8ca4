"""A pool from its text: a name, a folder of images, a Parquet file, or ``FILE.py:OBJECT``."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from seqsearch.core.errors import UserError
from seqsearch.core.grammar import Item, parse_item, parse_items
from seqsearch.core.paths import at_home
from seqsearch.core.registry import located_text, made, names
from seqsearch.pools.base import Pool

PATH_KINDS = ("folder", "parquet")
"""Kinds of pools that are named by their path."""

MEMBERS = ("name", "digest", "classes", "native_size", "split_sizes", "given", "images")
"""What an own pool must have."""


def build_pool(text: str) -> Pool:
    """A pool from the item grammar.

    Raises:
        UserError: unknown pool or option.
    """
    item = Item(text, text, None, ()) if os.path.exists(at_home(text)) else parse_item(text, "pool")
    if item.target in names("pool") or (":" in item.target and not os.path.exists(at_home(item.target))):
        pool: Pool = made("pool", item, MEMBERS)
        return pool
    path = at_home(item.target)
    if not os.path.exists(path):
        raise UserError(
            f"pool {item.target!r} does not exist: name a folder of images, a .parquet file, or one of "
            f"{', '.join(n for n in names('pool') if n not in PATH_KINDS)}"
        )
    kind = "parquet" if path.suffix == ".parquet" or (path.is_dir() and any(path.glob("*.parquet"))) else "folder"
    opened: Pool = made("pool", replace(item, target=kind, params=(("path", str(path)), *item.params)), MEMBERS)
    return opened


def pool_texts(text: str, directory: Path | None = None) -> list[str]:
    """The items of ``--pool``; a path that is there is one item, whatever is in its name."""
    there = os.path.exists((directory or Path()) / at_home(text))
    return [text] if there and text.strip() else [i.text for i in parse_items(text, "pool")]


def located_pool(text: str, directory: Path) -> str:
    """A pool item as workers find it: paths in it made absolute."""
    if os.path.exists(path := directory / at_home(text)) and text not in names("pool"):
        return str(path.absolute())
    item = parse_item(text, "pool")
    if ":" in item.target or item.target in names("pool"):
        return located_text(text, "pool", directory)
    return str((directory / at_home(item.target)).absolute()) + item.text[len(item.target) :]


def located_pools(text: str, directory: Path) -> str:
    """All items of ``--pool``, see `located_pool`."""
    return ",".join(located_pool(t, directory) for t in pool_texts(text, directory))
