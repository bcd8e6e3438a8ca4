"""Locks on files that end with their process: of a run folder, of a node's states, of a shard of features."""

from __future__ import annotations

import errno
import fcntl
import os
from pathlib import Path
from typing import IO

from seqsearch.storage.inside import Inside


def lock(path: Path, *, shared: bool = False, wait: bool = False) -> IO[bytes] | None:
    """The file, made if need be, locked until it is closed or the process ends; None if another process holds it.

    Several processes may hold it ``shared``. With ``wait`` the call returns when the others are done.

    Raises:
        OSError: it cannot be opened, is a link, or lies on a file system without locks.
    """
    return lock_in(Inside(path.parent), path.name, shared=shared, wait=wait)


def lock_in(folder: Inside, name: str, *, shared: bool = False, wait: bool = False) -> IO[bytes] | None:
    """The same, of a file in a folder that is not reached through links."""
    file = os.fdopen(folder.open(name, os.O_RDWR | os.O_CREAT), "r+b")
    try:
        fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | (0 if wait else fcntl.LOCK_NB))
    except OSError as error:
        file.close()
        if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
            return None
        raise
    return file


def is_locked(path: Path) -> bool:
    """Whether a process holds it alone; nothing is made. Whoever wants it in this very instant finds it taken.

    False where there is no such file, or a file system without locks.
    """
    try:
        with Inside(path.parent).reader(path.name) as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False
