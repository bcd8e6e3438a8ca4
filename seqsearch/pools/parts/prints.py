"""Fingerprints of images, by which the same image is found again in another pool, whatever kind of file it lies in.

A fingerprint is a hash of the pixels at one small size, so that a JPEG in a folder, the same JPEG in a Parquet file and a PNG of
it have the same. What was compressed again, cut or turned is another image. Decoding is what takes time: fingerprints are kept in
the cache, a file for each pool.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import PIL
from numpy.typing import NDArray
from xxhash import xxh3_64_intdigest, xxh3_128_digest

from seqsearch.core.digests import digest_of
from seqsearch.pools.base import Pool, Rows, View, row_offsets
from seqsearch.pools.parts.subset import Subset
from seqsearch.storage.files import atomic_file
from seqsearch.storage.inside import Inside

LOOK = View(32, interpolation="box", crop_mode="squash")
"""How an image is looked at: all of it, 32 pixels wide and high."""
BATCH = 64
"""Images decoded at a time by a thread."""
THREADS = 8
KEEP = 20_000
"""Fingerprints that may be lost when a process is killed; a twentieth of the pool's, if that is more."""

Prints = NDArray[np.uint64]
"""Fingerprints ``[n]``; 0 is none."""
Observe = Callable[[int, int], None]
"""Called with images done, and all that are to do."""


def fingerprints(
    pool: Pool, classes: Sequence[int], cache: Path, observe: Observe = lambda done, total: None
) -> list[Prints]:
    """Of all images ``[count]`` of each of these classes, row by row; those that the cache has are not decoded.

    Args:
        cache: folder; they lie in ``cache/prints``. Those of a `Subset` are those of the whole pool.

    Raises:
        UserError: an image cannot be read, or the cache cannot be written.
    """
    offsets = row_offsets(pool.classes)
    wanted: list[Rows] = [np.arange(offsets[c], offsets[c + 1]) for c in classes]
    whole: Pool = pool
    while isinstance(whole, Subset):
        wanted = [whole.base_rows(rows) for rows in wanted]
        whole = whole.base
    kept, rows = _Kept(whole, cache), np.concatenate([np.zeros(0, np.int64), *wanted])
    todo = rows[kept.prints[rows] == 0]
    batches = [todo[low : low + BATCH] for low in range(0, len(todo), BATCH)]
    threads = min(THREADS, os.cpu_count() or 1) if getattr(whole, "concurrent", False) else 1
    with warnings.catch_warnings(), ThreadPoolExecutor(threads) as readers:  # decoders change warnings in their threads
        found = readers.map(lambda batch: printed(whole, batch), batches)
        for number, (batch, prints) in enumerate(zip(batches, found, strict=True)):
            kept.add(batch, prints)
            observe(min((number + 1) * BATCH, len(todo)), len(todo))
    kept.write()
    return [kept.prints[rows] for rows in wanted]


def printed(pool: Pool, rows: Rows) -> Prints:
    """Fingerprints of ``rows``, computed."""
    hashes = [xxh3_64_intdigest(np.ascontiguousarray(pixels).data) or 1 for pixels in pool.images(rows, LOOK)]
    return np.array(hashes, dtype=np.uint64)


class _Kept:
    """The fingerprints of a pool that are known, and their file: 8 bytes a row, then a hash of all, which shows damage.

    Two processes that write at once may lose each other's, which costs time alone.
    """

    def __init__(self, pool: Pool, cache: Path) -> None:
        self._folder, self._name = Inside(cache).at("prints"), digest_of("prints", LOOK, PIL.__version__, pool.digest)
        self._rows, self._new = int(row_offsets(pool.classes)[-1]), 0
        self.prints = self._read()

    def add(self, rows: Rows, prints: Prints) -> None:
        """Note them, and write what is known if there is much that is not written."""
        self.prints[rows] = prints
        self._new += len(rows)
        if self._new > max(KEEP, self._rows // 20):
            self.write()

    def write(self) -> None:
        """Write what is known, with what others have written in the meantime."""
        if self._new:
            there = self._read()
            self.prints = np.where(self.prints == 0, there, self.prints)
            data = self.prints.astype("<u8").tobytes()
            with atomic_file(self._folder, self._name) as file:
                file.write(data + xxh3_128_digest(data))
        self._new = 0

    def _read(self) -> Prints:
        try:
            data = self._folder.read(self._name, 8 * self._rows + 16)
        except OSError:
            data = b""
        whole = len(data) == 8 * self._rows + 16 and xxh3_128_digest(data[:-16]) == data[-16:]
        return np.frombuffer(data[:-16], "<u8").astype(np.uint64) if whole else np.zeros(self._rows, np.uint64)
