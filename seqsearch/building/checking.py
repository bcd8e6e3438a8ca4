"""Processes that read and decode every image of some pools once, and hand back the good ones in the order asked."""

from __future__ import annotations

import contextlib
import hashlib
import io
import itertools
import multiprocessing
import os
import signal
import threading
import warnings
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from types import TracebackType
from typing import Any, NamedTuple

import numpy as np
from PIL import Image, ImageOps
from PIL.JpegImagePlugin import JpegImageFile

from seqsearch.core.errors import UserError
from seqsearch.core.text import printable
from seqsearch.pools.base import Pool, Rows, View
from seqsearch.pools.open import MADE_FROM, build_pool
from seqsearch.pools.parts.decode import BadImage, check_size, picture
from seqsearch.pools.parts.subset import Subset

CHUNK_IMAGES = 256
"""Images that a process is given at a time, at most."""
CHUNK_BYTES = 2 << 20
"""Of image files, about, that a process hands back at a time: with `BATCH`, what bounds memory."""
BATCH = 16
"""Images read at a time."""

Piece = tuple[int, Rows]
"""Number of a pool, rows there."""


class Checked(NamedTuple):
    """One image: its file, or why it cannot be used."""

    where: str
    data: bytes
    mark: bytes
    """Digest of the file."""
    problem: str


class Checker:
    """Context manager: the processes live as long as it."""

    def __init__(self, pools: Sequence[Pool], min_side: int, workers: int) -> None:
        # Not forked: threads run here. Never torch: a process takes 60 MB as it is.
        context = multiprocessing.get_context("spawn")
        travelling = [_travelling(p) for p in pools]
        self._executor = ProcessPoolExecutor(workers, context, _start, (travelling, min_side))
        self._ahead = 2 * workers + 2

    def __enter__(self) -> Checker:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._executor.shutdown(cancel_futures=True)

    def stream(self, pieces: Iterable[Piece]) -> Iterator[Checked]:
        """All images in order; a few chunks are under way at a time, smaller ones the larger the images are.

        Raises:
            UserError: a process died.
        """
        todo = deque(p for p in pieces if len(p[1]))
        waiting: deque[tuple[Future[list[_Fields]], list[Piece]]] = deque()
        mean = CHUNK_BYTES / 16
        while todo or waiting:
            while todo and len(waiting) < self._ahead:
                chunk = _cut(todo, int(np.clip(CHUNK_BYTES / mean, 1, CHUNK_IMAGES)))
                waiting.append((self._submitted(chunk), chunk))
            future, chunk = waiting.popleft()
            with _mourned():
                found = future.result()
            rest = deque(chunk)
            _cut(rest, len(found))
            if rest:
                waiting.appendleft((self._submitted(list(rest)), list(rest)))
            mean = 0.7 * mean + 0.3 * max(1.0, sum(len(fields[1]) for fields in found) / len(found))
            yield from itertools.starmap(Checked, found)

    def _submitted(self, chunk: list[Piece]) -> Future[list[_Fields]]:
        with _mourned():
            return self._executor.submit(_check, chunk)


_Fields = tuple[str, bytes, bytes, str]
"""Of `Checked`: a plain tuple is cheaper to send."""


@contextlib.contextmanager
def _mourned() -> Iterator[None]:
    """Raises UserError: a process died."""
    try:
        yield
    except BrokenProcessPool:
        raise UserError(
            "a process that reads images died, most likely for lack of memory: take fewer with --workers"
        ) from None


def _cut(todo: deque[Piece], size: int) -> list[Piece]:
    """Take ``size`` images, or what is left, from the front."""
    taken: list[Piece] = []
    while todo and size:
        number, rows = todo.popleft()
        taken.append((number, rows[:size]))
        if len(rows) > size:
            todo.appendleft((number, rows[size:]))
        size -= len(taken[-1][1])
    return taken


def _travelling(pool: Pool) -> Any:
    """Our pools travel as they are; one of a user's own file is made again from its text where it arrives."""
    whole = pool
    while isinstance(whole, Subset):
        whole = whole.base
    return pool if type(whole).__module__.startswith("seqsearch.") else getattr(pool, MADE_FROM, pool.name)


# ------------------------------------------------------------------------------------------------ in a process

_pools: list[Any] = []
_min_side = 0


def _start(pools: list[Any], min_side: int) -> None:
    global _pools, _min_side
    _pools, _min_side = [build_pool(p) if isinstance(p, str) else p for p in pools], min_side
    warnings.simplefilter("ignore")  # Pillow's, of odd metadata
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that asked gets it as well, and ends us
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)  # else it would wait for work for ever


def _check(chunk: list[Piece]) -> list[_Fields]:
    """Read and decode the first of these images: as many as `CHUNK_BYTES` allow, one at least."""
    found: list[_Fields] = []
    size = 0
    for number, rows in chunk:
        pool = _pools[number]
        for low in range(0, len(rows), BATCH):
            batch = rows[low : low + BATCH]
            for row, read in zip(batch.tolist(), _read(pool, batch), strict=True):
                problem = read if isinstance(read, str) else _problem(read)
                data = read if isinstance(read, bytes) and not problem else b""
                found.append((_where(pool, row), data, mark_of(data), problem))
                size += len(data)
            if size >= CHUNK_BYTES:
                return found
    return found


def _read(pool: Any, rows: Rows) -> list[bytes | str]:
    """The files of ``rows``, or why one cannot be read."""
    if not hasattr(pool, "encoded"):
        return list(_drawn(pool, rows))
    try:
        return list(pool.encoded(rows))
    except UserError as error:
        if len(rows) == 1:
            return [f"unreadable ({error})"]
        return [r for row in rows for r in _read(pool, np.array([row]))]


def _drawn(pool: Pool, rows: Rows) -> Iterator[bytes]:
    """Images of a pool that has no files, as PNG."""
    for image in pool.images(rows, View(pool.native_size or 224)):
        buffer = io.BytesIO()
        Image.fromarray(np.ascontiguousarray(image.transpose(1, 2, 0))).save(buffer, "PNG")
        yield buffer.getvalue()


def _problem(data: bytes) -> str:
    """Why an image cannot be used; empty if it can."""
    try:
        width, height = _jpeg_size(data) or picture(data).size
    except BadImage as error:
        return str(error)
    if min(width, height) < _min_side:
        return f"tiny ({width} x {height} pixels, --min-side {_min_side})"
    return ""


def _jpeg_size(data: bytes) -> tuple[int, int] | None:
    """Width and height of a JPEG file that `picture` finds no fault with; None of any other.

    All of the file is read and decoded, but drawn at an eighth of its size: what can be wrong with it shows before it is drawn.
    It takes two thirds of the time, and a sixty-fourth of the memory.
    """
    if not data.startswith(b"\xff\xd8"):
        return None
    try:
        image = JpegImageFile(io.BytesIO(data))
        check_size(image, data)
        width, height = image.size
        image.draft(None, (max(1, width // 8), max(1, height // 8)))
        image.load()
        if "exif" in image.info or "xmp" in image.info:
            ImageOps.exif_transpose(image)
    except Exception:  # `picture` says it better
        return None
    return width, height


def _where(pool: Any, row: int) -> str:
    return printable(pool.where(row)) if hasattr(pool, "where") else f"{pool.name}, row {row}"


def mark_of(data: bytes) -> bytes:
    """Digest of a file."""
    return hashlib.blake2b(data, digest_size=16).digest()
