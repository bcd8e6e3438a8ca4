"""A Ray of this process alone: its folder is readable by this user only, and its services listen on loopback."""

from __future__ import annotations

import os
import re
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from seqsearch.core.notices import warn
from seqsearch.storage.locks import is_locked, lock

PREFIX = "sq-"
FORM, WITHIN = re.compile(PREFIX + "[a-z0-9_]{8}"), {"lock", "new", "r", "t"}
"""Of the name of such a folder, and what is in it at most."""
UNLOCKED_SECONDS = 3600.0
"""After which a folder without a lock counts as left behind: it gets one when it is made."""
LONGEST_ROOT = 24
"""Bytes of a folder's path in which Ray's sockets still have names of at most 103 bytes (macOS; Linux: 107)."""


class LocalFolder:
    """A folder (0700) for the sockets, logs and spilled objects of one Ray; gone when it is closed.

    Those that killed processes of this user left behind are removed when the next one is made.
    """

    def __init__(self) -> None:
        root = _root()
        root.mkdir(parents=True, exist_ok=True)
        for path in root.glob(PREFIX + "*"):
            if _is_left(path):
                shutil.rmtree(path, ignore_errors=True)
        self.path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=root))
        self._lock: IO[bytes] | None = lock(self.path / "new")
        (self.path / "new").rename(self.path / "lock")  # locked from its first moment

    @property
    def ray(self) -> str:
        """Where Ray puts its session folders. Ray opens this very folder to everybody, so it lies inside the private one."""
        return str(self.path / "r")

    @contextmanager
    def temporary_files(self) -> Iterator[None]:
        """Processes that are started in this block, and those that these start, put temporary files into it.

        Not where it lies elsewhere than temporary files do: there may be no space.
        """
        before, own = os.environ.get("TMPDIR"), self.path / "t"
        if not own.is_relative_to(tempfile.gettempdir()):
            yield
            return
        own.mkdir()
        os.environ["TMPDIR"] = str(own)
        try:
            yield
        finally:
            os.environ.pop("TMPDIR")
            os.environ |= {} if before is None else {"TMPDIR": before}

    def close(self) -> None:
        """Remove it."""
        shutil.rmtree(self.path, ignore_errors=True)
        if self._lock is not None:
            self._lock.close()


@contextmanager
def on_loopback() -> Iterator[None]:
    """A Ray that is started in this block takes 127.0.0.1 for the address of its node, so that its services listen there alone.

    ``ray.init(_node_ip_address="127.0.0.1")`` is replaced by the machine's address in the network, but for macOS and Windows,
    where Ray has a setting for just this.
    """
    from ray._private import ray_constants

    before = ray_constants.ENABLE_RAY_CLUSTER
    ray_constants.ENABLE_RAY_CLUSTER = False
    try:
        yield
    finally:
        ray_constants.ENABLE_RAY_CLUSTER = before


def _root() -> Path:
    """The folder that Ray would take; ``/tmp``, with a warning, where sockets in it would have too long names."""
    from ray._common.utils import get_default_system_temp_dir

    root = Path(get_default_system_temp_dir()).absolute()
    if len(os.fsencode(root)) <= LONGEST_ROOT:
        return root
    warn(f"{root} is too long a path for Ray's sockets ({LONGEST_ROOT} bytes): its files of this run go to /tmp")
    return Path("/tmp")


def _is_left(path: Path) -> bool:
    """Whether a folder is this user's, and of a process that is gone."""
    try:
        found = path.lstat()
    except OSError:
        return False
    own = stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and stat.S_IMODE(found.st_mode) == 0o700
    own = own and FORM.fullmatch(path.name) is not None and set(os.listdir(path)) <= WITHIN
    if own and not (path / "lock").exists():  # killed before it had one
        return time.time() - found.st_mtime > UNLOCKED_SECONDS
    return own and not is_locked(path / "lock")
