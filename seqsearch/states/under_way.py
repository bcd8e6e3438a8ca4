"""Folders that trainings under way keep beside the states, in case they are killed. Each training has one folder of
states (`states.folder`), named by the state to come. The folder is useless when that state exists or will never be
requested, and is then removed here.

No link is followed. Only files with seqsearch's own names are removed, and a folder only when it is then empty.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable
from pathlib import Path

from seqsearch.states.folder import MANIFEST, PACK
from seqsearch.storage.inside import Inside
from seqsearch.storage.unfinished import sweep

FOLDER = "unfinished"
"""Within the folder of states."""
NAME = re.compile(r"[0-9a-f]{32}")
"""The form of the name of a training's folder."""
PACKS = "packs"
"""Within each."""


def place(states: Path, digest: str) -> Path:
    """The folder of the training of one state."""
    return states / FOLDER / digest


def forget(states: Path, digests: Iterable[str]) -> None:
    """Remove the leftovers of the trainings of these states. Files that other processes are writing there stay."""
    for digest in filter(NAME.fullmatch, digests):
        here = Inside(states.parent, (states.name, FOLDER, digest))
        for folder, form in (
            (here, MANIFEST),
            (here.at(PACKS), PACK),
        ):  # a manifest has its packs as long as it is there
            with contextlib.suppress(OSError):
                for name in folder.names(form):
                    folder.remove(name)
            sweep(folder)
        here.at(PACKS).remove_if_empty()
        here.remove_if_empty()


def forget_all(states: Path) -> None:
    """Remove the leftovers of all trainings beside ``states``, where nobody trains any more."""
    here = Inside(states.parent, (states.name, FOLDER))
    with contextlib.suppress(OSError):
        forget(states, here.folders(NAME))
    here.remove_if_empty()
    Inside(states.parent, (states.name,)).remove_if_empty()
