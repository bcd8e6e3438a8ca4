"""Kinds of items that users can name: methods, learners, pools, streams, backbones, scenarios and formats, one module
each."""

from __future__ import annotations

import importlib
import os
import re
from functools import cache
from pathlib import Path
from typing import Literal

ItemKind = Literal["method", "learner", "pool", "stream", "backbone", "scenario", "format"]
PACKAGES: dict[ItemKind, str] = {
    "method": "seqsearch.methods",
    "learner": "seqsearch.learners",
    "pool": "seqsearch.pools",
    "stream": "seqsearch.streams",
    "backbone": "seqsearch.backbones",
    "scenario": "seqsearch.training.scenarios",
    "format": "seqsearch.formats",
}
LEARNING: tuple[ItemKind, ...] = ("method", "learner")
"""Kinds that may stand for each other in one place, as in ``seqsearch check``."""
_BUILDS = re.compile(rb"^(def build\(|build\b[^=\n]*= )", re.MULTILINE)
"""Pattern that matches only modules of items. It is searched in the text, so listing a kind imports none of its
modules."""


def names(kind: ItemKind) -> list[str]:
    """Return the names of all items of a kind, sorted, by listing its folder."""
    package = importlib.import_module(PACKAGES[kind])
    return sorted(name for folder in package.__path__ for name in _in_folder(folder, os.stat(folder).st_mtime_ns))


@cache
def _in_folder(folder: str, _: int) -> tuple[str, ...]:
    """Remembered until a file is added or removed: each job asks, and reading all files takes longer than a small job."""
    return tuple(p.stem for p in Path(folder).glob("*.py") if _BUILDS.search(p.read_bytes()))


def spelled(kind: str, name: str) -> str:
    """A name of ours in its own letters, whatever their case (``RanPAC`` is ``ranpac``); any other name as it is."""
    own = name.lower()
    return own if own != name and is_ours(kind, own) else name


def is_ours(kind: str, name: str) -> bool:
    """Whether there is something of this name; of methods and learners either will do."""
    return any(name in names(k) for k in (LEARNING if kind in LEARNING else [k for k in PACKAGES if k == kind]))
