"""Images of a zip file with entries ``class/image``: ``--pool pool.py:ZippedImages:file=photos.zip``"""

import io
import zipfile
from collections import Counter
from pathlib import Path, PurePosixPath

import numpy as np
from PIL import Image

from seqsearch.core.digests import digest_of
from seqsearch.core.errors import UserError
from seqsearch.pools.base import ClassInfo, SplitSizes, checked_rows
from seqsearch.pools.parts.decode import MAX_BYTES, decoded

SUFFIXES = (".jpg", ".jpeg", ".png", ".webp", ".bmp")


class ZippedImages:
    native_size = 0  # side of the images in pixels; 0 if it varies
    given = None  # no split comes with the images, so seqsearch draws one
    split_sizes = SplitSizes(train=0.5, reward=0.25, test=0.25)  # shares of each class

    def __init__(self, file: str = "") -> None:
        # Each worker makes the pool again, in a folder of its own. A relative path therefore starts at this file.
        path = Path(__file__).parent / Path(file).expanduser() if file else drawn_zip()
        try:
            self.zip = zipfile.ZipFile(path)
        except (OSError, zipfile.BadZipFile) as error:
            raise UserError(f"file={file}: {error}") from None
        entries = [e for e in self.zip.infolist() if PurePosixPath(e.filename).suffix.lower() in SUFFIXES]
        self.entries = sorted(entries, key=lambda e: (class_of(e), e.filename))  # rows: class by class, in this order
        if large := next(
            (e for e in self.entries if e.file_size > MAX_BYTES), None
        ):  # a zip bomb would fill the memory
            raise UserError(f"file={file}: {large.filename} claims {large.file_size} bytes: remove it")
        counts = Counter(class_of(e) for e in self.entries)
        self.classes = tuple(ClassInfo(name, group="zip", count=count) for name, count in counts.items())
        self.name = file or "drawn"
        # Results are stored under the digest: other images must give another one, and the path must not matter.
        self.digest = digest_of("zip", [(e.filename, e.CRC, e.file_size) for e in self.entries])

    def images(self, rows, view):  # uint8 [n, 3, view.size, view.size], one image for each row
        return decoded(self, checked_rows(rows, self.name, len(self.entries)), view)

    def encoded(self, rows):  # for decoded(): the bytes of image files
        return [self.zip.read(self.entries[row]) for row in rows]

    def where(self, row):  # for decoded(): which image it is, if it is corrupt
        return self.entries[row].filename


def class_of(entry):
    return PurePosixPath(entry.filename).parent.name


def drawn_zip():
    """Eight classes of drawn patterns, so that this file works without images of yours; delete it when you have some."""
    file, draw = io.BytesIO(), np.random.default_rng(0)
    across, down = np.meshgrid(np.arange(32), np.arange(32))
    with zipfile.ZipFile(file, "w") as made:
        for number in range(8):
            waves = np.sin(across * (number % 4 + 1) / 4 + down * (number // 4))
            for image in range(24):
                pixels = (128 + 80 * waves[..., None] + draw.normal(0, 30, (32, 32, 3))).clip(0, 255).astype(np.uint8)
                png = io.BytesIO()
                Image.fromarray(pixels).save(png, "PNG")
                made.writestr(f"pattern {number}/{image:02d}.png", png.getvalue())
    return file
