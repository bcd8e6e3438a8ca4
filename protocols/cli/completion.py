"""Shell completion on TAB, by click's own scripts: names, run folders and files.

Nothing that computes is imported.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from itertools import islice
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from seqsearch.core.kinds import ItemKind
from seqsearch.core.kinds import names as names_of
from seqsearch.core.settings import Names
from seqsearch.storage.inside import Inside

Complete = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]
"""For ``shell_complete`` of click."""
LOOKED_AT = 10_000
"""Entries of a folder."""
_PLAIN = re.compile(r"[\w./@%+-]+")
"""Of the names of folders that are offered: a shell acts on no character in them."""
FILE = "file"
"""The type of an item for which a shell offers its own files and folders."""


def named(kind: ItemKind, *left_out: str) -> Complete:
    """Names of ours behind the last comma of a list, but for those ``left_out``; where none begins so, files."""

    def complete(_context: click.Context, _parameter: click.Parameter, begun: str) -> list[CompletionItem]:
        before, comma, last = begun.rpartition(",")
        found = [n for n in names_of(kind) if n.startswith(last) and n not in left_out]
        return [CompletionItem(before + comma + n) for n in found] or [CompletionItem(begun, type=FILE)]

    return complete


def runs(_context: click.Context, _parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """Run folders where ``begun`` leads, else in this folder and in ``runs``; where there are none, files."""
    places = [begun[: begun.rfind("/") + 1]] if "/" in begun else ["", "runs/"]
    found = [run for place in places for run in _runs_in(place) if run.startswith(begun)]
    return [CompletionItem(run) for run in sorted(found)] or [CompletionItem(begun, type=FILE)]


def _runs_in(place: str) -> Iterable[str]:
    folder = Path(place or ".")
    if folder.is_dir():
        for entry in islice(folder.iterdir(), LOOKED_AT):
            if (
                _PLAIN.fullmatch(entry.name)
                and not entry.name.startswith("-")
                and Inside.below(entry).has("config.json")
            ):
                yield place + entry.name


def learning(context: click.Context, parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """Methods, or learners after ``--learner``."""
    return named("learner" if context.params.get("learner") else "method")(context, parameter, begun)


POOLS = named("pool", "folder", "parquet", "cifar")
"""A folder or file is named by its path."""
OF_SETTINGS: dict[Names, Complete | None] = {
    "": None,
    "methods": named("method"),
    "learners": named("learner"),
    "backbone": named("backbone", "given"),
    "pools": POOLS,
    "grown": None,
    "stream": named("stream", "pool", "parquet"),
    "run": runs,
}
"""By what a setting names; None: click knows what there is to choose from."""
