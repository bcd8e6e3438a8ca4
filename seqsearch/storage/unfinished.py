"""Temporary files, and marks that end with their process: a lock shows that the writer was killed; they are swept.

A writer holds a lock on what it writes until it has its name. Where several machines share a folder whose locks they do not
share, the name says the machine: another's file is taken for dead only when it has not been written, or touched, for an hour.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import os
import re
import socket
import stat
import time
import uuid
from collections.abc import Iterator
from functools import cache
from typing import IO

from seqsearch.storage.inside import Inside
from seqsearch.storage.locks import lock_in

UNFINISHED = re.compile(r"\..+\.(?P<host>[0-9a-f]{8})-[0-9a-f]{12}\.part")
"""The form of the name of a file that is being written."""
MARK = re.compile(r"\.driver-(?P<host>[0-9a-f]{8})-[0-9a-f]{32}")
"""The form of the name of a mark: its owner holds a shared lock on it."""
ELSEWHERE_SECONDS, TRIES = 3600.0, 100


@contextlib.contextmanager
def replacing(folder: int, name: str, *, durable: bool) -> Iterator[tuple[int, str]]:
    """Descriptor and name of a temporary file in an open folder, which is renamed to ``name`` when the block ends well.

    ``durable``: it is on the disk, under its name, when this returns; else a loss of power may leave an empty file, or none.

    Raises:
        OSError: ``name`` is a link, or cannot be written.
    """
    with contextlib.suppress(FileNotFoundError):
        if stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
            raise OSError(errno.ELOOP, "it is a link")
    file, temporary = _begun(folder, name)
    try:
        yield file, temporary
        if durable:
            os.fsync(file)
        os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
        if durable:
            os.fsync(folder)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary, dir_fd=folder)
        raise
    finally:
        os.close(file)


def try_to_write(folder: Inside) -> None:
    """Make a temporary file in a folder, which is made if need be, and remove it.

    Raises:
        OSError: that cannot be done.
    """
    with folder.opened(make=True) as opened:
        file, temporary = _begun(opened, "trial")
        os.close(file)
        os.unlink(temporary, dir_fd=opened)


def sweep(folder: Inside) -> int:
    """Remove temporary files and marks whose writers are dead; bytes of those that are left."""
    with contextlib.suppress(OSError):  # it cannot be listed now: the next look will do
        return sum(_removed_if_dead(folder, name) for form in (UNFINISHED, MARK) for name in folder.names(form))
    return 0


def held_mark(folder: Inside, name: str) -> IO[bytes] | None:
    """A mark, made if need be, that is held with others until it is closed; None if somebody is about to remove it for long.

    Raises:
        OSError: it cannot be made, or locked.
    """
    for _ in range(TRIES):
        mark = lock_in(folder, name, shared=True)
        if mark is not None:
            if os.fstat(mark.fileno()).st_nlink:  # else it was swept before it had its lock
                return mark
            mark.close()
        time.sleep(0.01)
    return None


def _removed_if_dead(folder: Inside, name: str) -> int:
    """Bytes that it still takes."""
    try:
        file = folder.open(name)
    except OSError:
        return 0
    try:
        found = os.fstat(file)
        form = UNFINISHED.fullmatch(name) or MARK.fullmatch(name)
        if form and form["host"] != host() and time.time() - found.st_mtime < ELSEWHERE_SECONDS:
            return found.st_size
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return 0 if folder.remove(name) else found.st_size
    except OSError:  # its writer lives, or there are no locks here
        return found.st_size
    finally:
        os.close(file)


def _begun(folder: int, name: str) -> tuple[int, str]:
    while True:
        temporary = f".{name}.{host()}-{uuid.uuid4().hex[:12]}.part"
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        file = os.open(temporary, flags, 0o644, dir_fd=folder)
        with contextlib.suppress(OSError):  # no locks on this file system
            fcntl.flock(file, fcntl.LOCK_EX)
        if os.fstat(file).st_nlink:  # else it was swept before it had its lock
            return file, temporary
        os.close(file)


@cache
def host() -> str:
    """8 hexadecimal digits that stand for this machine."""
    return hashlib.blake2b(socket.gethostname().encode(), digest_size=4).hexdigest()
