"""What the shell offers on TAB: names, parameters, files and runs. Nothing that computes is imported, no own code is run.

Only what a shell takes as it is, and shows as it is, is offered: folders may have any names.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import inspect
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

import click

from seqsearch.core import command_line
from seqsearch.core.declared import module
from seqsearch.core.paths import at_home
from seqsearch.core.registry import ItemKind, declared
from seqsearch.core.registry import names as names_of
from seqsearch.core.settings import Names
from seqsearch.core.text import shows

MOST = 500
"""What is offered at a time."""
LOOKED_AT = 10_000
"""Entries of a folder."""
LARGEST = 1 << 20
"""Bytes of a file of own methods."""
_WORD = re.compile(r"(~/)?[\w./@%+:=,-]*")
"""What no shell acts on."""
_NAME = re.compile(r"[\w.@%+-]+")
"""Of a file or folder: nor does the grammar of methods and pools."""
_CONTINUES = re.compile(r"\w+=")
_CLASS = re.compile(rb"^class (\w+)", re.MULTILINE)
DATA = (".parquet",)
CODE = (".py",)

Find = Callable[[str], Iterable[str]]
"""From what is typed to what it may become; what does not begin with it is left out later."""
Complete = Callable[[click.Context, click.Parameter, str], list[str]]


def offered(find: Find) -> Complete:
    """For ``shell_complete`` of click; what goes wrong offers nothing and says nothing, since a line is being typed."""

    def complete(_context: click.Context, _parameter: click.Parameter, begun: str) -> list[str]:
        found: set[str] = set()
        with contextlib.suppress(Exception):
            found.update(w for w in find(begun) if (w.startswith(begun) and w != begun) or w == begun != "")
        return sorted(w for w in found if _WORD.fullmatch(w) and shows(w) and not w.startswith("-"))[:MOST]

    return complete


def for_setting(names: Names) -> Complete | None:
    """Of a setting by what it names; None if it names nothing, and click knows what there is to choose from."""
    return offered(FINDS[names]) if names else None


# ------------------------------------------------------------------------------------------------ files


def paths(begun: str, suffixes: tuple[str, ...]) -> Iterator[str]:
    """Folders, and files that end so, as ``begun`` names their folder."""
    place, slash, name = begun.rpartition("/")
    for entry in _entries(place + slash):
        if not entry.name.startswith(name) or (entry.name.startswith(".") and not name):
            continue
        if entry.is_dir():
            yield f"{place}{slash}{entry.name}/"
        elif entry.name.endswith(suffixes):
            yield place + slash + entry.name


def runs(begun: str) -> Iterator[str]:
    """Run folders where ``begun`` leads, else in this folder and in ``runs``; where there are none, folders on the way."""
    from seqsearch.storage.inside import Inside

    places = [begun[: begun.rfind("/") + 1]] if "/" in begun else ["", "runs/"]
    inside = (place + e.name for place in places for e in _entries(place) if e.is_dir(follow_symlinks=False))
    found = [f for f in inside if f.startswith(begun) and Inside.below(at_home(f)).has("config.json")]
    yield from found or paths(begun, ())


def sequences(begun: str) -> Iterator[str]:
    """Runs, and files of sequences."""
    yield from runs(begun)
    yield from paths(begun, (".json", ".csv", ".txt"))


def _entries(place: str) -> Iterator[os.DirEntry[str]]:
    with contextlib.suppress(OSError), os.scandir(at_home(place or ".")) as found:
        yield from (e for e in islice(found, LOOKED_AT) if _NAME.fullmatch(e.name))


# ------------------------------------------------------------------------------------------------ items


def methods(begun: str, kind: ItemKind = "method") -> Iterator[str]:
    """Methods, or learners, with commas: names, files and their classes, backbones behind ``@``, parameters behind ``:``."""
    if not command_line.in_list(begun):
        yield from _each(kind, begun, lambda piece: _method(kind, piece))


def pools(begun: str) -> Iterator[str]:
    """Pools with commas: names, folders, files, options behind ``:``."""
    yield from _each("pool", begun, lambda piece: (*_but(("folder", "parquet"), "pool"), *paths(piece, (*DATA, *CODE))))


def grown(begun: str) -> Iterator[str]:
    """``STEP:POOL``."""
    step, colon, pool = begun.partition(":")
    if colon:
        yield from (f"{step}:{w}" for w in pools(pool))


def streams(begun: str) -> Iterator[str]:
    """Names, files, ``pool:POOL``."""
    if begun.startswith("pool:"):
        yield from (f"pool:{w}" for w in pools(begun.removeprefix("pool:")))
        item, _, rest = begun.rpartition(":")
        yield from (f"{item}:{name}=" for name in _arguments("stream", "pool") if item != "pool" and "=" not in rest)
    yield from _each(
        "stream", begun, lambda piece: ("pool:", *_but(("pool", "parquet"), "stream"), *paths(piece, (*DATA, *CODE)))
    )


def backbones(begun: str) -> Iterator[str]:
    """Ours, ``scratch:NETWORK`` and own files."""
    yield from _but(("scratch", "given"), "backbone")
    yield from (f"scratch:{network}" for network in module("seqsearch.backbones.scratch").NETWORKS)
    yield from paths(begun, CODE)
    if ":" in begun and not begun.startswith("scratch:"):
        yield from _options("backbone", begun)


def named(kind: ItemKind) -> Find:
    """The names of a kind."""
    return lambda _: names_of(kind)


def written(_: str) -> Iterator[str]:
    """Toolboxes that sequences are written for."""
    yield from (name for name in names_of("format") if declared("format", name)().files is not None)


def _but(left_out: tuple[str, ...], kind: ItemKind) -> list[str]:
    return [n for n in names_of(kind) if n not in left_out]


def _each(kind: ItemKind, begun: str, first: Find) -> Iterator[str]:
    """Of a list with commas its last piece: an item, or a parameter of the item before."""
    pieces = begun.split(",")
    piece, before = pieces[-1], pieces[:-1]
    lead = begun[: len(begun) - len(piece)]
    at = next((i for i in range(len(before) - 1, -1, -1) if not _CONTINUES.match(before[i])), None)
    if at is not None and _CONTINUES.match(before[at].rpartition(":")[2]):
        item = before[at].rpartition(":")[0]
        yield from (lead + w for w in _parameters(kind, item, piece, ",".join(before[at:])))
    if not _CONTINUES.match(piece):
        yield from (lead + w for w in (*first(piece), *_options(kind, piece)))


def _method(kind: ItemKind, piece: str) -> Iterator[str]:
    target, at, backbone = piece.partition("@")
    if at:
        yield from (f"{target}@{w}" for w in backbones(backbone))
        return
    yield from names_of(kind)
    yield from paths(piece, CODE)


def _options(kind: ItemKind, piece: str) -> Iterator[str]:
    """What may stand behind the last colon of an item: its parameters, or the classes of its file."""
    item, colon, rest = piece.rpartition(":")
    if colon and item.endswith(CODE):
        from seqsearch.storage.reading import content

        yield from (f"{item}:{name.decode()}" for name in _CLASS.findall(content(at_home(item), LARGEST)))
    elif colon:
        yield from (f"{item}:{w}" for w in _parameters(kind, item, rest, ""))


def _parameters(kind: ItemKind, item: str, begun: str, given: str) -> Iterator[str]:
    """``name=`` of those that are not ``given``, or ``name=value`` of one that has few values."""
    known = _known(kind, item.partition("@")[0] if kind in ("method", "learner") else item)
    name, equals, _ = begun.partition("=")
    if equals:
        yield from (f"{name}={value}" for value in known.get(name, ()))
    else:
        yield from (f"{n}=" for n in known if not re.search(rf"\b{n}=", given))


def _known(kind: ItemKind, target: str) -> Mapping[str, tuple[Any, ...]]:
    """The parameters of an item of ours, with their values where they are few."""
    ours = target in names_of(kind)
    if kind in ("method", "learner"):
        return {f.name: _few(f) for f in dataclasses.fields(declared(kind, target).Config)} if ours else {}
    if kind != "pool":
        return _arguments(kind, target) if ours else {}
    path = at_home(target)
    if not ours and not path.exists():
        return {}
    of_path = (
        "parquet" if path.suffix == ".parquet" or any(e.name.endswith(DATA) for e in _entries(target)) else "folder"
    )
    return {**_arguments("pool", target if ours else of_path), "half": (1, 2), "half_seed": ()}


def _few(parameter: dataclasses.Field[Any]) -> tuple[Any, ...]:
    if isinstance(parameter.default, bool):
        return "true", "false"
    choices: tuple[Any, ...] = parameter.metadata.get("choices") or ()
    return choices


def _arguments(kind: ItemKind, target: str) -> dict[str, tuple[Any, ...]]:
    """Of a ``build``, without what the text itself says."""
    known = inspect.signature(declared(kind, target)).parameters
    return {n: () for n in known if n not in ("path", "pool", "network")}


FINDS: dict[Names, Find] = {
    "methods": methods,
    "learners": functools.partial(methods, kind="learner"),
    "backbone": backbones,
    "pools": pools,
    "grown": grown,
    "stream": streams,
    "run": sequences,
}


def to_check(context: click.Context, parameter: click.Parameter, begun: str) -> list[str]:
    """Methods, or learners after ``--learner``."""
    kind: ItemKind = "learner" if context.params.get("learner") else "method"
    return offered(functools.partial(methods, kind=kind))(context, parameter, begun)
