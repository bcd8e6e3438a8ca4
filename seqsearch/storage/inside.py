"""Files below a folder that somebody else may have made (an unpacked run, a shared cache): no link in it is followed.

The folder that the user named may be reached through links. Everything below it is opened relative to the folder above
(``openat`` with ``O_NOFOLLOW``), so that no name in it leads elsewhere, and only plain files are opened. A file that is
written in place must have one name only: a hard link would be another file's content.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
WRITES = os.O_WRONLY | os.O_RDWR
ABSENT = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP})
"""Errors that say that a file is not there, or is a link; all others (no descriptors, a broken disk) say nothing of it."""


@dataclass(frozen=True)
class Inside:
    """A folder: ``root``, as the user named it, or one that is ``parts`` below it and reached without following any link.

    Names are those of files in this folder, without slashes. Methods that open raise ``OSError``, whose ``filename`` is the
    path that is meant, and whose ``errno`` is ``ELOOP`` where that is a link.
    """

    root: Path
    parts: tuple[str, ...] = ()

    @classmethod
    def below(cls, path: Path) -> Inside:
        """The folder ``path``, which must not be a link itself, unlike those above it."""
        return cls(path.parent, (path.name,))

    @property
    def path(self) -> Path:
        """For messages."""
        return self.root.joinpath(*self.parts)

    def at(self, *names: str) -> Inside:
        """A folder in this one."""
        return Inside(self.root, (*self.parts, *names))

    @contextlib.contextmanager
    def opened(self, *, make: bool = False) -> Iterator[int]:
        """Descriptor of the folder; with ``make``, it is made if it is not there."""
        if make:
            self.root.mkdir(parents=True, exist_ok=True)
        folder, path = os.open(self.root, FOLDER), self.root
        try:
            for part in self.parts:
                path = path / _plain(part)
                if make:
                    with contextlib.suppress(FileExistsError):
                        os.mkdir(part, dir_fd=folder)
                try:
                    below = os.open(part, FOLDER | os.O_NOFOLLOW, dir_fd=folder)
                except OSError as error:
                    raise _with_path(error, folder, part, path) from None
                above, folder = folder, below  # each is closed once, whatever interrupts this
                os.close(above)
            yield folder
        finally:
            os.close(folder)

    def make(self) -> None:
        """Make the folder unless it is there."""
        with self.opened(make=True):
            return

    def open(self, name: str, flags: int = os.O_RDONLY) -> int:
        """Descriptor of a plain file, which is never emptied by this: it may turn out to be another's."""
        if flags & os.O_TRUNC:
            raise ValueError("a file is emptied after it was looked at: os.ftruncate")
        path = self.path / _plain(name)
        with self.opened() as folder:
            try:
                file = os.open(name, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o644, dir_fd=folder)
            except OSError as error:
                raise _with_path(error, folder, name, path) from None
        found = os.fstat(file)
        if not stat.S_ISREG(found.st_mode) or (flags & WRITES and found.st_nlink > 1):
            os.close(file)
            if stat.S_ISREG(found.st_mode):
                raise OSError(errno.EMLINK, "it has a second name", str(path))
            raise OSError(errno.EINVAL, "it is no plain file", str(path))
        return file

    def reader(self, name: str) -> IO[bytes]:
        """A plain file, opened for reading."""
        return open(self.open(name), "rb")

    def read(self, name: str, most: int) -> bytes:
        """The bytes of a plain file of at most ``most`` bytes."""
        with open(self.open(name), "rb", buffering=0) as file:
            if os.fstat(file.fileno()).st_size > most:
                raise OSError(errno.EFBIG, f"it has more than {most >> 20} MB", str(self.path / name))
            return file.readall()

    def stat(self, name: str) -> os.stat_result | None:
        """Of a plain file; None if there is none of this name.

        Raises:
            OSError: that could not be seen.
        """
        try:
            with self.opened() as folder:
                found = os.stat(_plain(name), dir_fd=folder, follow_symlinks=False)
                return found if stat.S_ISREG(found.st_mode) else None
        except OSError as error:
            if error.errno not in ABSENT:
                raise
        return None

    def has(self, name: str) -> bool:
        """Whether a plain file of this name is seen."""
        with contextlib.suppress(OSError):
            return self.stat(name) is not None
        return False

    def checked(self, name: str) -> Path:
        """The path of a plain file that no link leads to, for libraries that map a file by its path.

        Who could swap it between this look and theirs can write into the folder while we run, and needs no links.
        """
        os.close(self.open(name))
        return self.path / name

    def names(self, form: re.Pattern[str]) -> list[str]:
        """Plain files whose whole names are of this form; none if there is no such folder.

        Raises:
            OSError: they could not be listed.
        """
        return self._names(form, lambda entry: entry.is_file(follow_symlinks=False))

    def folders(self, form: re.Pattern[str]) -> list[str]:
        """As `names`, of the folders in this one."""
        return self._names(form, lambda entry: entry.is_dir(follow_symlinks=False))

    def _names(self, form: re.Pattern[str], kind: Callable[[os.DirEntry[str]], bool]) -> list[str]:
        try:
            with self.opened() as folder, os.scandir(folder) as entries:
                return sorted(e.name for e in entries if form.fullmatch(e.name) and kind(e))
        except OSError as error:
            if error.errno not in ABSENT:
                raise
        return []

    def remove(self, name: str) -> bool:
        """Remove a file, or a link, never what it leads to; whether it was there and could be removed."""
        try:
            with self.opened() as folder:
                os.unlink(_plain(name), dir_fd=folder)
        except OSError:
            return False
        return True

    def remove_if_empty(self) -> None:
        """Remove the folder, which must be below its root, if nothing is in it."""
        with contextlib.suppress(OSError), Inside(self.root, self.parts[:-1]).opened() as above:
            os.rmdir(self.parts[-1], dir_fd=above)

    def touch(self, name: str) -> None:
        """Say that a file was used just now, if it is there."""
        with contextlib.suppress(OSError), self.reader(name) as file:
            os.utime(file.fileno())


def _plain(name: str) -> str:
    if name in ("", ".", "..") or "/" in name or "\0" in name:
        raise OSError(errno.EINVAL, "it is no name of a file", name)
    return name


def _with_path(error: OSError, folder: int, name: str, path: Path) -> OSError:
    """The same, with the path that is meant; systems have several errors for a link where a folder is wanted."""
    with contextlib.suppress(OSError):
        if stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
            return OSError(errno.ELOOP, "it is a link", str(path))
    return OSError(error.errno or errno.EIO, error.strerror or "it cannot be opened", str(path))
