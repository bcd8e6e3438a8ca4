"""Images of pools as files, for programs that read paths: the pool's own bytes where readers show them as we do, else PNG."""

from __future__ import annotations

import contextlib
import io
import os
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from PIL import Image
from xxhash import xxh3_64_hexdigest

from seqsearch.core.errors import UserError
from seqsearch.pools.base import Pool, Rows, View
from seqsearch.pools.parts.decode import MAX_BYTES, ORIENTATION, BadImage, picture
from seqsearch.pools.union import Union
from seqsearch.storage.files import atomic_file
from seqsearch.storage.inside import Inside

SUFFIXES = {"JPEG": ".jpg", "PNG": ".png", "BMP": ".bmp", "WEBP": ".webp"}
"""Formats that are left as they are: every toolbox reads them."""
IN_A_FOLDER = 1000
DRAWN = 128
"""Images without a file that are drawn at a time."""
NAME = re.compile(r"(?P<row>\d{10})-(?P<hash>[0-9a-f]{16})\.(?:jpg|png|bmp|webp)")
"""Row, hash of the bytes (xxh3), format."""


class ImageFiles:
    """Files of images below ``folder``: ``POOL/NNNNNNN/ROW-HASH.SUFFIX``; the pool by the end of its digest, the row within it.

    An image that is there is not written again, unless its bytes are not those of its hash, which is looked at once.
    """

    def __init__(self, images: Union, folder: Inside) -> None:
        self.images, self.folder = images, folder
        self._there: dict[Inside, dict[int, str]] = {}
        """Names of files by row, of folders that were looked into."""
        self._whole: set[tuple[Inside, str]] = set()
        """Those whose bytes were looked at."""

    def write(self, rows: Rows) -> list[str]:
        """Write the images of ``rows`` ``[n]`` that are not there; the paths of all, below the folder.

        Raises:
            UserError: an image cannot be read or written, or the folder is reached through a link.
        """
        paths: list[str] = [""] * len(rows)
        places: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
        for at, row in enumerate(np.asarray(rows, dtype=np.int64).tolist()):
            part, own = self.images.part_of_row(row)
            places[part, own // IN_A_FOLDER].append((at, own))
        for (part, number), members in places.items():
            pool = self.images.parts[part]
            names = (pool.digest[-32:], f"{number:07d}")
            folder = self.folder.at(*names)
            if folder not in self._there:
                self._there[folder] = {int(name[:10]): name for name in folder.names(NAME)}
            there = self._there[folder]
            missing = sorted({own for _, own in members if not self._is_whole(folder, there.get(own))})
            for own, (data, suffix) in zip(missing, _files(pool, missing), strict=True):
                there[own] = f"{own:010d}-{xxh3_64_hexdigest(data)}{suffix}"
                with atomic_file(folder, there[own]) as file:
                    file.write(data)
                self._whole.add((folder, there[own]))
            for at, own in members:
                paths[at] = "/".join((*names, there[own]))
        return paths

    def _is_whole(self, folder: Inside, name: str | None) -> bool:
        if name is None:
            return False
        if (folder, name) not in self._whole:
            said, found = NAME.fullmatch(name), b""
            with contextlib.suppress(OSError):
                found = folder.read(name, MAX_BYTES)
            if said is None or said["hash"] != xxh3_64_hexdigest(found):
                folder.remove(name)
                return False
            self._whole.add((folder, name))
        return True


def _files(pool: Pool, rows: Sequence[int]) -> Iterator[tuple[bytes, str]]:
    """The bytes of each image and the suffix of their format; what has to be drawn is drawn many at a time."""
    if hasattr(pool, "encoded"):
        yield from (_file(pool, row) for row in rows)
        return
    if not pool.native_size:
        raise UserError(f"pool {pool.name!r} has neither files nor a size: its images cannot be written as files")
    for first in range(0, len(rows), DRAWN):
        drawn = pool.images(np.array(rows[first : first + DRAWN], dtype=np.int64), View(pool.native_size))
        yield from ((_png(Image.fromarray(pixels)), ".png") for pixels in drawn.transpose(0, 2, 3, 1))


def _file(pool: Any, row: int) -> tuple[bytes, str]:
    """Of a pool that has its images encoded."""
    data: bytes = pool.encoded(np.array([row], dtype=np.int64))[0]
    try:
        upright = picture(data)  # checked: what cannot be decoded is refused here, not by the program that reads it
    except BadImage as error:
        raise UserError(f"pool {pool.name!r}: image {_where(pool, row)} is unusable: {error}: remove it") from None
    with Image.open(io.BytesIO(data)) as found:
        suffix = SUFFIXES.get(found.format or "", "")
        if suffix and found.mode in ("RGB", "L") and found.getexif().get(ORIENTATION, 1) == 1:
            return data, suffix
    return _png(upright), ".png"


def _where(pool: Pool, row: int) -> str:
    where = getattr(pool, "where", None)
    return str(where(row)) if where else str(row)


def _png(image: Image.Image) -> bytes:
    file = io.BytesIO()
    image.save(file, "PNG", compress_level=1)
    return file.getvalue()


def own_paths(images: Union, rows: Rows) -> Sequence[str]:
    """Absolute paths of the pool's own files of ``rows``, as they are: they may be turned by EXIF data, or not be RGB.

    Raises:
        UserError: a pool is no folder.
    """
    paths = []
    for row in np.asarray(rows, dtype=np.int64).tolist():
        part, own = images.part_of_row(row)
        pool = images.parts[part]
        root = getattr(pool, "root", None)
        if root is None:
            raise UserError(
                f"pool {pool.name!r} is no folder: its images have no paths of their own; let them be copied"
            )
        paths.append(os.path.join(root.absolute(), _where(pool, own)))
    return paths
