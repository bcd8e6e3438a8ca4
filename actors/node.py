"""Resources of the node that a worker runs on: a folder for states, and its part of the memory."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import stat
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from actors.processes import descendants
from seqsearch.core.memory import private_memory
from seqsearch.storage.inside import Inside
from seqsearch.storage.locks import lock_in
from seqsearch.storage.unfinished import host
from seqsearch.training.cache_budget import free_memory

STALE_SECONDS = 7 * 24 * 3600
"""A folder of states on a node's own disk that no worker uses is removed after so long; until then a resumed run may use it."""

TOKEN = re.compile("[0-9a-f]{32}")
"""The form of the names of such folders."""


@dataclass(frozen=True)
class NodeFolder:
    """Where a worker's states lie: the driver's folder if this node sees it, else one on the node's own disk."""

    path: Path
    key: str
    """``driver``, or empty for a folder of this node's own."""
    lock: IO[bytes] | None = None

    @property
    def own(self) -> bool:
        return not self.key

    def remove(self) -> None:
        if self.own:
            shutil.rmtree(self.path, ignore_errors=True)


def marker(token: str) -> str:
    """The name of the file in its folder on which the driver on this machine holds a shared lock (`storage.unfinished`)."""
    return f".driver-{host()}-{token}"


def _is_seen(states: Path, token: str) -> bool:
    """Whether this is the folder of the driver, on whatever machine that is."""
    with contextlib.suppress(OSError):
        return bool(Inside.below(states).names(re.compile(rf"\.driver-[0-9a-f]{{8}}-{re.escape(token)}")))
    return False


def node_folder(states: Path, token: str) -> NodeFolder:
    """``$SEQSEARCH_STATES`` where it is set on the node, the driver's folder where it is seen, else the temporary folder."""
    chosen = os.environ.get("SEQSEARCH_STATES")
    if not chosen and _is_seen(states, token):
        return NodeFolder(states, "driver")
    root = Path(chosen or tempfile.gettempdir()) / f"seqsearch-states-{os.getuid()}"
    with contextlib.suppress(FileExistsError):
        root.mkdir(parents=True, mode=0o700)
    if not _own_folder(root):  # somebody else put it there, and could put states into it
        root = Path(tempfile.mkdtemp(prefix="seqsearch-states-", dir=root.parent))
    path = root / token
    with contextlib.suppress(FileExistsError):
        path.mkdir(mode=0o700)
    if not _own_folder(path):
        path = Path(tempfile.mkdtemp(dir=root))
    held = _lock(path, shared=True)
    for other in root.iterdir():
        if other != path and TOKEN.fullmatch(other.name) and _is_stale(other) and (found := _lock(other, shared=False)):
            with found:
                shutil.rmtree(other, ignore_errors=True)  # follows no links
    return NodeFolder(path, "", held)


def _own_folder(path: Path) -> bool:
    """Whether it is a folder of this user, and no link to one."""
    found = path.lstat()
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()


def _is_stale(path: Path) -> bool:
    with contextlib.suppress(FileNotFoundError):  # another worker was faster
        return _own_folder(path) and time.time() - path.lstat().st_mtime > STALE_SECONDS
    return False


def part_of_memory(workers: int) -> int | None:
    """Bytes that this worker of a Ray may add to its own: its part of what all workers of this node have and can still get.

    None where processes cannot be looked at (macOS).
    """
    try:
        there = sum(map(private_memory, descendants(os.getppid())))
    except OSError:
        return None
    return max(0, (free_memory() + there) // workers - private_memory())


def _lock(folder: Path, shared: bool) -> IO[bytes] | None:
    """A lock on a folder; None if others hold it, or there can be none."""
    with contextlib.suppress(OSError):
        return lock_in(Inside.below(folder), ".lock", shared=shared)
    return None
