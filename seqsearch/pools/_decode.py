"""From the bytes of an image file, in any format that Pillow reads, to the pixels that a backbone wants."""

from __future__ import annotations

import io
import math
import warnings
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from seqsearch.errors import UserError
from seqsearch.pools.base import ClassInfo, Rows, View

if TYPE_CHECKING:
    from PIL import Image

MAX_PIXELS = 100_000_000
"""A file that claims more is taken for a decompression bomb, and refused before anything is decoded."""


class BadImage(Exception):
    """An image file that cannot be used; the message says why, in a few words."""


def decode(data: bytes, view: View) -> NDArray[np.uint8]:
    """``[3, view.size, view.size]`` RGB: the first frame, upright, scaled and cropped as timm does it for evaluation.

    Raises:
        BadImage: no image, truncated, corrupt, or too large.
    """
    return np.ascontiguousarray(np.asarray(fitted(picture(data), view)).transpose(2, 0, 1))


class Files(Protocol):
    """A pool of image files."""

    name: str
    classes: tuple[ClassInfo, ...]

    def encoded(self, rows: Rows) -> list[bytes]: ...

    def where(self, row: int) -> str: ...


def decoded(pool: Files, rows: Rows, view: View) -> NDArray[np.uint8]:
    """``[n, 3, view.size, view.size]`` RGB of image files.

    Raises:
        UserError: one cannot be read, or is no good image.
    """
    rows = np.asarray(rows, dtype=np.int64)
    out = np.empty((len(rows), 3, view.size, view.size), dtype=np.uint8)
    for target, row, data in zip(out, rows.tolist(), pool.encoded(rows), strict=True):
        try:
            target[:] = decode(data, view)
        except BadImage as error:
            raise UserError(
                f"pool {pool.name!r}: image {pool.where(row)} is unusable: {error}: remove it, or make a pool without such "
                "images: seqsearch pool build"
            ) from None
    return out


def picture(data: bytes) -> Image.Image:
    """The first frame in RGB, turned as its EXIF data asks.

    Raises:
        BadImage: see `decode`.
    """
    from PIL import Image, ImageOps, UnidentifiedImageError

    if not data:
        raise BadImage("the file is empty")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of odd metadata; size is judged below
            image = Image.open(io.BytesIO(data))
            if image.width * image.height > MAX_PIXELS:
                raise BadImage(f"{image.width} x {image.height} pixels, more than {MAX_PIXELS // 10**6} million")
            image.load()
            return _rgb(ImageOps.exif_transpose(image))
    except BadImage:
        raise
    except UnidentifiedImageError:
        raise BadImage("not an image that Pillow reads") from None
    except Image.DecompressionBombError:
        raise BadImage(f"more than {MAX_PIXELS // 10**6} million pixels") from None
    except Exception as error:  # decoders raise what they like on corrupt data
        raise BadImage(f"corrupt ({' '.join(str(error).split())[:100] or type(error).__name__})") from None


def _rgb(image: Image.Image) -> Image.Image:
    """Any mode to RGB; 16-bit greys are scaled to 8 bits, transparency is dropped (as the toolboxes do)."""
    from PIL import Image

    if image.mode.startswith("I;16"):
        return Image.fromarray((np.asarray(image).astype(np.uint16) >> 8).astype(np.uint8)).convert("RGB")
    if image.mode == "I":
        return Image.fromarray((np.asarray(image).clip(0, 65535) >> 8).astype(np.uint8)).convert("RGB")
    if image.mode == "P" and "transparency" in image.info:
        image = image.convert("RGBA")
    return image if image.mode == "RGB" else image.convert("RGB")


def fitted(image: Image.Image, view: View) -> Image.Image:
    """An RGB image brought to ``view.size`` squared, pixel for pixel as timm's evaluation transform."""
    from PIL import Image

    scale = math.floor(view.size / view.crop_pct)
    width, height = image.size
    if view.crop_mode == "squash":
        wanted = scale, scale
    elif view.crop_mode == "border":
        ratio = max(height / scale, width / scale)
        wanted = round(width / ratio), round(height / ratio)
    else:
        wanted = (scale, int(scale * height / width)) if width <= height else (int(scale * width / height), scale)
    if wanted != image.size:
        image = image.resize(wanted, Image.Resampling[view.interpolation.upper()])
    return _middle(image, view)


def _middle(image: Image.Image, view: View) -> Image.Image:
    """The central square, padded with ``view.fill`` where the image is smaller."""
    from PIL import Image

    size, (width, height) = view.size, image.size
    if width < size or height < size:
        canvas = Image.new("RGB", (max(width, size), max(height, size)), view.fill)
        canvas.paste(image, (max(size - width, 0) // 2, max(size - height, 0) // 2))
        image, (width, height) = canvas, canvas.size
    if (width, height) == (size, size):
        return image
    left, top = round((width - size) / 2), round((height - size) / 2)
    return image.crop((left, top, left + size, top + size))
