"""Ranges of bytes of a file, wherever it lies: on a disk, or on a server."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Protocol

from seqsearch.storage.reading import open_regular
from seqsearch.storage.servers import THREADS, RemoteFile

File = Path | RemoteFile


class Ranges(Protocol):
    """An open file.

    Attributes:
        size: in bytes.
        arrow: what Arrow opens to read it.
    """

    size: int
    arrow: Any

    def read_at(self, size: int, at: int) -> bytes:
        """``size`` bytes from the place ``at`` on; fewer at the end of the file."""
        ...

    def read_each(self, spans: Sequence[tuple[int, int]]) -> list[bytes]:
        """The same for each ``(size, at)``."""
        ...

    def close(self) -> None:
        """Release what it holds."""
        ...


def opened(file: File, ahead: int = 0) -> Ranges:
    """Open a file.

    Args:
        ahead: bytes that are read at once where fewer are asked for, of a file on a server.

    Raises:
        OSError: it cannot be read, or is no plain file.
    """
    return _Remote(file, ahead) if isinstance(file, RemoteFile) else _Local(file)


class _Local:
    def __init__(self, path: Path) -> None:
        self._file = open_regular(path)  # Arrow would wait for a pipe
        self.size, self.arrow = os.fstat(self._file).st_size, path

    def read_at(self, size: int, at: int) -> bytes:
        return os.pread(self._file, size, at)

    def read_each(self, spans: Sequence[tuple[int, int]]) -> list[bytes]:
        return [os.pread(self._file, size, at) for size, at in spans]

    def close(self) -> None:
        os.close(self._file)


class Sized(io.RawIOBase):
    """A file of Python's of so many bytes, which a subclass reads."""

    def __init__(self, size: int) -> None:
        self.size, self.place = size, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self.place

    def seek(self, to: int, whence: int = os.SEEK_SET) -> int:
        self.place = to + {os.SEEK_SET: 0, os.SEEK_CUR: self.place, os.SEEK_END: self.size}[whence]
        return self.place


class _Remote(Sized):
    """Keeps what it read last."""

    def __init__(self, file: RemoteFile, ahead: int) -> None:
        super().__init__(file.size)
        self.arrow, self._remote, self._ahead = self, file, ahead
        self._low, self._kept = 0, b""

    def read_at(self, size: int, at: int) -> bytes:
        if not self._low <= at <= at + size <= self._low + len(self._kept):
            self._low, self._kept = at, self._remote.read_at(max(size, self._ahead), at)
        return self._kept[at - self._low : at - self._low + size]

    def read_each(self, spans: Sequence[tuple[int, int]]) -> list[bytes]:
        with ThreadPoolExecutor(THREADS) as several:
            return list(several.map(lambda span: self._remote.read_at(*span), spans))

    def read(self, size: int = -1) -> bytes:
        found = self.read_at(self.size - self.place if size < 0 else size, self.place)
        self.place += len(found)
        return found
