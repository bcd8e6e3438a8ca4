"""Files by name in a folder of this machine, without following links in it, or behind a URL."""

from __future__ import annotations

import contextlib
import errno
import io
import re
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Protocol

from seqsearch.core.errors import UserError
from seqsearch.storage.files import atomic_file
from seqsearch.storage.inside import Inside
from seqsearch.storage.remote import export_target, open_remote
from seqsearch.storage.unfinished import sweep

PIECE = 8 << 20
"""Bytes that are read or copied at a time."""


@dataclass(frozen=True)
class Listed:
    """A file: bytes, and when it was written (any unit, later is more)."""

    size: int
    written: int


class Store(Protocol):
    """Files below a folder; names may have a folder in front, as ``packs/x``. All raise ``OSError``."""

    def read(self, name: str, most: int) -> bytes:
        """The content of a file of at most ``most`` bytes."""
        ...

    def write(self, name: str, content: bytes) -> None:
        """Make or replace a file whose reader can see whether it is whole."""
        ...

    def copy(self, name: str, source: IO[bytes]) -> None:
        """Make or replace a file, which is whole when it has its name."""
        ...

    def remove(self, name: str) -> None:
        """Remove a file."""
        ...

    def files(self, folder: str, form: re.Pattern[str]) -> dict[str, Listed]:
        """Files in a folder (empty: the store's own) whose names are of this form; none if there is no such folder."""
        ...


class LocalStore:
    """In a folder of this machine; what writers that are dead left in it is removed."""

    def __init__(self, root: Path) -> None:
        self._root = Inside(root)
        sweep(self._root)

    def read(self, name: str, most: int) -> bytes:
        folder, own = self._at(name)
        return folder.read(own, most)

    def write(self, name: str, content: bytes) -> None:
        self.copy(name, io.BytesIO(content))

    def copy(self, name: str, source: IO[bytes]) -> None:
        folder, own = self._at(name)
        with atomic_file(folder, own) as file:
            shutil.copyfileobj(source, file, PIECE)

    def remove(self, name: str) -> None:
        folder, own = self._at(name)
        folder.remove(own)

    def files(self, folder: str, form: re.Pattern[str]) -> dict[str, Listed]:
        there = self._root.at(folder) if folder else self._root
        sweep(there)
        found = {name: there.stat(name) for name in there.names(form)}
        return {name: Listed(s.st_size, s.st_mtime_ns) for name, s in found.items() if s}

    def _at(self, name: str) -> tuple[Inside, str]:
        *folders, own = name.split("/")
        return self._root.at(*folders), own


class RemoteStore:
    """Behind a file system of pyarrow."""

    def __init__(self, system: Any, root: str) -> None:
        self._fs, self._root = system, root

    def read(self, name: str, most: int) -> bytes:
        pieces, size = [], 0
        with self._fs.open_input_stream(f"{self._root}/{name}") as stream:
            while piece := stream.read(min(PIECE, most + 1 - size)):
                pieces.append(piece)
                size += len(piece)
                if size > most:
                    raise OSError(errno.EFBIG, f"it has more than {most >> 20} MB", name)
        return b"".join(pieces)

    def write(self, name: str, content: bytes) -> None:
        path = f"{self._root}/{name}"
        self._fs.create_dir(path.rpartition("/")[0], recursive=True)
        with self._fs.open_output_stream(path) as target:
            target.write(content)

    def copy(self, name: str, source: IO[bytes]) -> None:
        path, part = f"{self._root}/{name}", f"{self._root}/.{name}.part"
        try:
            with self._fs.open_output_stream(part) as target:
                shutil.copyfileobj(source, target, PIECE)
            self._fs.move(part, path)
        except BaseException:
            with contextlib.suppress(OSError):
                self._fs.delete_file(part)
            raise

    def remove(self, name: str) -> None:
        self._fs.delete_file(f"{self._root}/{name}")

    def files(self, folder: str, form: re.Pattern[str]) -> dict[str, Listed]:
        from pyarrow import fs

        there = f"{self._root}/{folder}" if folder else self._root
        found = self._fs.get_file_info(fs.FileSelector(there, allow_not_found=True))
        return {
            f.base_name: Listed(f.size, f.mtime_ns or 0)
            for f in found
            if f.type == fs.FileType.File and form.fullmatch(f.base_name)
        }


def open_store(location: str, flag: str) -> Store:
    """The files of a path or URL, which is made if it is not there.

    Raises:
        UserError: no such file system, or it cannot be written; names ``flag``.
    """
    return _store(*open_remote(location, flag))


def copied(files: Iterable[Path], location: str, flag: str) -> None:
    """Copy files, none of them a link, to a path or URL, under their names.

    Raises:
        UserError: it cannot be written, or a link is in the way; names ``flag``.
    """
    store = _store(*export_target(location, flag))
    for path in files:
        try:
            with Inside(path.parent).reader(path.name) as source:
                store.copy(path.name, source)
        except UserError as error:
            raise UserError(f"{flag} {location}: {error}") from None
        except OSError as error:
            line = " ".join(str(error.strerror or error).split())[:200]
            raise UserError(f"{flag} {location}: could not write {path.name} ({line}); mend it, then resume") from None


def _store(system: Any, root: str) -> Store:
    return LocalStore(Path(root)) if system.type_name == "local" else RemoteStore(system, root)
