"""From the bytes of an image file to the pixels that a backbone wants."""

from __future__ import annotations

import io
import math
import warnings
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from seqsearch.core.errors import UserError
from seqsearch.pools.base import ClassInfo, Rows, View

if TYPE_CHECKING:
    from PIL import Image

FORMATS = (
    "JPEG", "PNG", "WEBP", "AVIF", "GIF", "BMP", "DIB", "TIFF", "JPEG2000", "PPM", "QOI", "TGA", "PCX", "SGI",
)  # fmt: skip
"""Image formats that are read, by Pillow's names, the most frequent first. Formats for which Pillow starts other
programs are excluded, as EPS (Ghostscript). So are formats that unpack a whole file before they know its size, or that
hold pictures of another size than they declare."""
MAX_PIXELS = 100_000_000
"""A file that claims more is taken for a decompression bomb, and refused before anything is decoded."""
MAX_BYTES = 4 * MAX_PIXELS
"""Of a file: no picture of so many pixels needs more."""
SCAN = b"\xff\xda"
"""Bytes that begin a scan of a JPEG; they occur nowhere else in its pixels."""
MAX_WORK = 20 * MAX_PIXELS
"""Pixels times scans of a JPEG: a scan over all of them may take ten bytes, and a file may hold any number."""

MAX_RATIO = 64
"""Of a longer image only the middle is scaled: the rest would be cut away, and 8 x 60,000 pixels scaled are gigabytes."""
ORIENTATION = 0x0112
"""The EXIF tag that says how an image is to be turned."""


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
    from PIL import Image, UnidentifiedImageError

    if not data:
        raise BadImage("the file is empty")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of odd metadata; size is evaluated below
            image = Image.open(io.BytesIO(data), formats=FORMATS)
            check_size(image, data)
            image.load()
            return _rgb(_upright(image))
    except (BadImage, MemoryError):
        raise
    except UnidentifiedImageError:
        raise BadImage("not an image of a known format") from None
    except Image.DecompressionBombError:
        raise BadImage(f"more than {MAX_PIXELS // 10**6} million pixels") from None
    except Exception as error:  # decoders raise what they like on corrupt data
        raise BadImage(f"corrupt ({' '.join(str(error).split())[:100] or type(error).__name__})") from None


def check_size(image: Image.Image, data: bytes) -> None:
    """Before it is decoded.

    Raises:
        BadImage: it would take too much memory or time.
    """
    pixels = image.width * image.height
    if pixels > MAX_PIXELS:
        raise BadImage(f"{image.width} x {image.height} pixels, more than {MAX_PIXELS // 10**6} million")
    if image.format in ("JPEG", "MPO") and pixels * data.count(SCAN) > MAX_WORK:
        raise BadImage(f"too many scans ({data.count(SCAN)} of {image.width} x {image.height} pixels)")


def _upright(image: Image.Image) -> Image.Image:
    """As its EXIF data ask.

    Not by Pillow's ``exif_transpose``, which also writes these data anew, and so refuses good pixels for bad data.
    """
    from PIL.Image import Transpose

    try:
        orientation = image.getexif().get(ORIENTATION)
    except Exception:  # whatever is wrong with them, the pixels are good
        return image
    turned = {
        2: Transpose.FLIP_LEFT_RIGHT,
        3: Transpose.ROTATE_180,
        4: Transpose.FLIP_TOP_BOTTOM,
        5: Transpose.TRANSPOSE,
        6: Transpose.ROTATE_270,
        7: Transpose.TRANSVERSE,
        8: Transpose.ROTATE_90,
    }
    return image.transpose(turned[orientation]) if orientation in turned else image


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
    if view.crop_mode == "center":
        image = _not_too_long(image)
    width, height = image.size
    if view.crop_mode == "squash":
        wanted = scale, scale
    elif view.crop_mode == "border":
        ratio = max(height / scale, width / scale)
        wanted = max(1, round(width / ratio)), max(1, round(height / ratio))
    else:
        wanted = (scale, int(scale * height / width)) if width <= height else (int(scale * width / height), scale)
    if wanted != image.size:
        image = image.resize(wanted, Image.Resampling[view.interpolation.upper()])
    return _middle(image, view)


def _not_too_long(image: Image.Image) -> Image.Image:
    """The middle of an image that is more than `MAX_RATIO` times as long as it is wide."""
    width, height = image.size
    cut = (max(0, width - MAX_RATIO * height) // 2, max(0, height - MAX_RATIO * width) // 2)
    return image.crop((cut[0], cut[1], width - cut[0], height - cut[1])) if any(cut) else image


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
