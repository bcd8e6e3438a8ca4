"""A pool from its text: a name, a folder of images, Parquet files, or ``FILE.py:OBJECT``; all of it, or some of its images."""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqsearch.core.errors import UserError
from seqsearch.core.grammar import Item, Value, parse_item, parse_items
from seqsearch.core.once import once
from seqsearch.core.paths import at_home, beside
from seqsearch.core.registry import check_options, declared, located_text, made, names
from seqsearch.core.text import did_you_mean
from seqsearch.core.typed import brief
from seqsearch.pools.base import LONGEST_NAME, Pool, Rows, View
from seqsearch.pools.parts.cifar_files import is_cifar
from seqsearch.pools.parts.split_file import SPLIT_WORDS
from seqsearch.pools.parts.subset import BEFORE_OPTIONS, OPTIONS, halved, limited
from seqsearch.pools.stand_in import marked
from seqsearch.storage.servers import check_url, is_remote

PATH_KINDS = ("folder", "parquet", "cifar")
"""Kinds of pools that are named by their path."""

FILES = ("names", "split")
"""Options of these kinds that may name a file."""

MEMBERS = ("name", "digest", "classes", "native_size", "split_sizes", "given", "images")
"""Attributes that a custom pool must have."""


_ONE_SLASH = re.compile(r"(s3|hf):(?!//)")
MADE_FROM = "made_from"
"""Attribute of a custom pool with the text that it was made from, by which another process makes it again."""


def build_pool(text: str) -> Pool:
    """A pool from the item grammar; every kind takes the options of `seqsearch.pools.parts.subset` beside its own.

    Raises:
        UserError: unknown pool or option.
    """
    return once("pool", text, _built)


def _built(text: str) -> Pool:
    whole, asked = _parts(pool_item(text))
    item = _kind(whole)
    pool: Pool = made("pool", item, MEMBERS)
    custom = item.target not in names("pool") and hasattr(pool, "__dict__")
    if custom:
        vars(pool)["images"] = partial(_checked, pool.name, pool.images)
    pool = halved(pool, asked["half"], asked.get("half_seed", 0)) if "half" in asked else pool
    pool = limited(pool, asked["per_class"]) if "per_class" in asked else pool
    if custom:
        vars(pool)[MADE_FROM] = text
    if long := next((c for c in pool.classes if max(len(c.name), len(c.group)) > LONGEST_NAME), None):
        raise UserError(
            f"pool {pool.name!r}: class {brief(long.name)} has a name or group of more than {LONGEST_NAME} characters: shorten it"
        )
    if (digest := marked(pool.digest, (c.name for c in pool.classes))) != pool.digest:
        pool.digest = digest
    return pool


def _checked(name: str, images: Callable[[Rows, View], Any], rows: Rows, view: View) -> NDArray[np.uint8]:
    """What a custom pool returns.

    Raises:
        UserError: it is no array of images as `Pool.images` gives it.
    """
    found = np.asarray(images(rows, view))
    if found.dtype != np.uint8 or found.shape != (len(rows), 3, view.size, view.size):
        said = f"{found.dtype} {list(found.shape)}, must be uint8 {[len(rows), 3, view.size, view.size]}"
        raise UserError(f"pool {name!r}: images() returned {said} (image, channel, row, column); mend it")
    return found


def check_pool(text: str) -> None:
    """Check the text that names a pool. No image is looked for, and nothing heavy is imported.

    Raises:
        UserError: unknown pool or option.
    """
    whole, _ = _parts(pool_item(text))
    item = _kind(whole)
    if item.target in names("pool"):
        check_options("pool", item, inspect.signature(declared("pool", item.target)).parameters)
    elif item.target.partition(":")[0].endswith(".py") and not os.path.isfile(at_home(item.target.rpartition(":")[0])):
        raise UserError(f"pool file {item.target.rpartition(':')[0]!r} does not exist")


def _parts(item: Item) -> tuple[Item, dict[str, Any]]:
    """A pool's item without the options that any pool takes, and those.

    Raises:
        UserError: ``half_seed`` without a half.
    """
    asked = {n: v for n, v in item.params if n in OPTIONS}
    if "half_seed" in asked and asked.get("half") not in (1, 2):
        raise UserError(f"pool {item.text!r}: half_seed belongs to half=1 or half=2: give one of them, or leave it out")
    return replace(item, params=tuple(p for p in item.params if p[0] not in OPTIONS)), asked


def _kind(item: Item) -> Item:
    """The item that `made` builds: of a path with the kind that it is of.

    Raises:
        UserError: there is neither such a pool nor such a path.
    """
    if is_remote(item.target):
        check_url(item.target)
        return _at_path("parquet", item.target, item)
    if found := _ONE_SLASH.match(item.target):
        raise UserError(f"pool {item.target!r}: a URL has two slashes: write {found[1]}://")
    path = at_home(item.target)
    if item.target in (named := _named()) or (":" in item.target and not os.path.exists(path)):
        return item
    if not os.path.exists(path):
        meant = did_you_mean(path.name, [*named, *beside(path, lambda p: p.suffix == ".parquet" or p.is_dir())])
        raise UserError(
            f"pool {item.target!r} does not exist: {meant}name a folder of images, a .parquet file, or one of {', '.join(named)}"
            + "; of a data set name your copy: its folder, or the file that seqsearch pool build makes of it"
            * (not meant)
        )
    kind = "parquet" if path.suffix == ".parquet" or (path.is_dir() and any(path.glob("*.parquet"))) else "folder"
    kind = "cifar" if kind == "folder" and is_cifar(path) else kind
    return _at_path(kind, str(path), item)


def _at_path(kind: str, path: str, item: Item) -> Item:
    """The item of a pool of this kind.

    Raises:
        UserError: the item has another path among its options.
    """
    if "path" in dict(item.params):
        raise UserError(f"pool {path!r}: no option 'path': name the pool itself")
    return replace(item, target=kind, params=(("path", path), *item.params))


def _named() -> list[str]:
    """Names of the pools that have one; others are named by their path, which may be ``cifar``."""
    return [n for n in names("pool") if n not in PATH_KINDS]


def pool_item(text: str, directory: Path | None = None) -> Item:
    """A pool's item; a path that is there, with options or without, may have any signs in its name.

    Raises:
        UserError: see `parse_item`.
    """
    if (cut := _path_ends(text, directory)) is None:
        return parse_item(text, "pool")
    options = parse_item(f"path{text[cut:]}", "pool")
    return replace(options, text=text[:cut] + options.text[len("path") :], target=text[:cut])


def _path_ends(text: str, directory: Path | None) -> int | None:
    """Where a path that is there, with nothing but options behind it, ends; None if ``text`` is no such thing."""
    ends = [len(text), *(found.start() for found in reversed(list(BEFORE_OPTIONS.finditer(text))))]
    return next(
        (e for e in ends if text[:e].strip() and os.path.exists((directory or Path()) / at_home(text[:e]))), None
    )


def pool_texts(text: str, directory: Path | None = None) -> list[str]:
    """The items of ``--pool``; a path that is there is one item, whatever is in its name, and so it is with options."""
    return [text] if _path_ends(text, directory) is not None else [i.text for i in parse_items(text, "pool")]


def located_pool(text: str, directory: Path) -> str:
    """A pool item as workers find it: paths in it made absolute."""
    if os.path.exists(path := directory / at_home(text)) and text not in _named():
        return str(path.absolute())
    item = pool_item(text, directory)
    if is_remote(item.target):
        return item.text
    if item.target in _named() or (":" in item.target and not os.path.exists(directory / at_home(item.target))):
        return located_text(text, "pool", directory)
    options = ",".join(f"{name}={_located_option(name, value, directory)}" for name, value in item.params)
    return str((directory / at_home(item.target)).absolute()) + f":{options}" * bool(options)


def _located_option(name: str, value: Value, directory: Path) -> Value:
    """The value of an option of a folder or file, as workers find it.

    Raises:
        UserError: the path of a file has a comma, which separates options.
    """
    if name not in FILES or not isinstance(value, str) or value in SPLIT_WORDS:
        return value
    path = str((directory / at_home(value)).absolute())
    if "," in path:
        raise UserError(
            f"pool option {name}={value}: the path {path} has a comma, which separates options: move the file"
        )
    return path


def located_pools(text: str, directory: Path) -> str:
    """All items of ``--pool``, see `located_pool`."""
    return ",".join(located_pool(t, directory) for t in pool_texts(text, directory))
