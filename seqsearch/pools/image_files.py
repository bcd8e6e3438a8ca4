"""Images of pools as files, for programs that read paths: the pool's own bytes where readers show them as we do, else PNG."""

from __future__ import annotations

import io
import re
from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from PIL import Image

from seqsearch.core.errors import UserError
from seqsearch.pools.base import Pool, Rows, View
from seqsearch.pools.parts.decode import ORIENTATION, BadImage, picture
from seqsearch.pools.union import Union
from seqsearch.storage.files import atomic_file
from seqsearch.storage.inside import Inside

SUFFIXES = {"JPEG": ".jpg", "PNG": ".png", "BMP": ".bmp", "WEBP": ".webp"}
"""Formats that are left as they are: every toolbox reads them."""
IN_A_FOLDER = 1000
_NAME = re.compile(r"\d{10}\.(?:jpg|png|bmp|webp)")


class ImageFiles:
    """Files of images below ``folder``: ``POOL/NNNNNNN/ROW.SUFFIX``, the pool by the end of its digest, the row within that pool.

    An image that is there is not written again: names say what is in the files.
    """

    def __init__(self, images: Union, folder: Inside) -> None:
        self.images, self.folder = images, folder

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
            there = {int(name[:10]): name for name in folder.names(_NAME)}
            for at, own in members:
                if own not in there:
                    there[own] = _written(pool, own, folder)
                paths[at] = "/".join((*names, there[own]))
        return paths


def _written(pool: Pool, row: int, folder: Inside) -> str:
    data, suffix = _file(pool, row)
    name = f"{row:010d}{suffix}"
    with atomic_file(folder, name) as file:
        file.write(data)
    return name


def _file(pool: Pool, row: int) -> tuple[bytes, str]:
    """The bytes of an image and the suffix of their format."""
    rows = np.array([row], dtype=np.int64)
    encoded = getattr(pool, "encoded", None)
    if encoded is None:
        if not pool.native_size:
            raise UserError(f"pool {pool.name!r} has neither files nor a size: its images cannot be written as files")
        pixels = pool.images(rows, View(pool.native_size))[0].transpose(1, 2, 0)
        return _png(Image.fromarray(pixels)), ".png"
    data: bytes = encoded(rows)[0]
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
        paths.append(str(root.absolute() / _where(pool, own)))
    return paths
