"""A folder of images as a pool: ``root/class/image`` or ``root/group/class/image``, any format that Pillow reads.

A first level of split names only (``train``, ``validation``, ``test``, ...) is a given split, not a group. Images are decoded
when they are asked for; the pool itself holds their names only.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from seqsearch.errors import UserError
from seqsearch.pools._decode import decoded
from seqsearch.pools._layout import SPLITS
from seqsearch.pools.base import GIVEN, ClassInfo, Rows, SplitSizes, View, checked_rows, row_offsets

IGNORED_SHOWN = 100
"""Names of ignored files that are kept to be shown."""


@dataclass
class _Found:
    """What the walk saw: files by (group, class), and what it left out."""

    files: dict[tuple[str, str], list[tuple[str, int, int, int]]] = field(default_factory=dict)
    """Path below the root, size, time of change [ns], split."""
    ignored: list[str] = field(default_factory=list)
    ignored_count: int = 0


class FolderPool:
    """Images by class; see ``seqsearch.pools.base.Pool``."""

    native_size = 0

    def __init__(self, root: Path, found: _Found, split: str, min_images: int) -> None:
        self.name, self.root = str(root), root
        kept = {
            k: sorted(f, key=lambda e: (e[3], e[0])) for k, f in sorted(found.files.items()) if len(f) >= min_images
        }
        if not kept:
            raise UserError(f"pool {self.name!r}: no class has {min_images} images or more (min_images)")
        self.classes = tuple(ClassInfo(name, group, len(files)) for (group, name), files in kept.items())
        codes = np.array([e[3] for files in kept.values() for e in files], dtype=np.uint8)
        self.given: NDArray[np.uint8] | None = _given(self.name, codes, split)
        self.split_sizes = SplitSizes()
        self._empty = [e[0] for files in kept.values() for e in files if e[1] == 0]
        names = [e[0].encode("utf-8", "surrogateescape") for files in kept.values() for e in files]
        self._names, self._ends = b"".join(names), np.cumsum([len(n) for n in names])
        self._offsets = row_offsets(self.classes)
        self.ignored, self.ignored_count = tuple(found.ignored), found.ignored_count
        identity = hashlib.blake2b(repr((self.classes, self.given is not None)).encode(), digest_size=16)
        for files in kept.values():
            for path, size, modified, code in files:
                identity.update(f"{path}\0{size}\0{modified}\0{code}\n".encode("utf-8", "surrogateescape"))
        self.digest = "files-" + identity.hexdigest()

    def check(self) -> None:
        """What can be seen of bad images without decoding them all.

        Raises:
            UserError: a file is empty.
        """
        if self._empty:
            raise UserError(
                f"pool {self.name!r}: {self._empty[0]} is empty ({len(self._empty)} such): remove it, or make a pool without "
                "bad images: seqsearch pool build"
            )

    def images(self, rows: Rows, view: View) -> NDArray[np.uint8]:
        """Decode ``rows`` as ``[n, 3, view.size, view.size]`` RGB.

        Raises:
            UserError: a row is not in the pool, or its file is gone, unreadable or corrupt.
        """
        return decoded(self, rows, view)

    def encoded(self, rows: Rows) -> list[bytes]:
        """The files of ``rows`` as they are.

        Raises:
            UserError: one cannot be read.
        """
        return [self._read(self.where(int(row))) for row in checked_rows(rows, self.name, int(self._offsets[-1]))]

    def where(self, row: int) -> str:
        """Path of an image below the root."""
        begin = int(self._ends[row - 1]) if row else 0
        return self._names[begin : int(self._ends[row])].decode("utf-8", "surrogateescape")

    def captions(self, rows: Rows) -> list[str | None]:
        """A folder has none."""
        return [None] * len(rows)

    def _read(self, path: str) -> bytes:
        try:
            with open(os.path.join(self.root, path), "rb", buffering=0) as file:
                return file.readall()
        except OSError as error:
            raise UserError(
                f"pool {self.name!r}: {path} cannot be read any more ({error.strerror}): restore it, then resume"
            ) from None


def build(path: str, split: str = "auto", min_images: int = 1) -> FolderPool:
    """The pool of a folder; its images are looked at when they are asked for.

    Args:
        path: the folder.
        split: ``auto`` keeps a given split if there is one, ``given`` asks for one, ``random`` draws it in any case.
        min_images: classes with fewer are left out.

    Raises:
        UserError: no such folder, no images in it, images at odd depths, a folder that cannot be listed.
    """
    check_options(path, split, min_images)
    root = Path(path)
    if not root.is_dir():
        raise UserError(f"pool {path!r} is no folder")
    found = _Found()
    top = _entries(root)
    first = [e for e in top if e.is_dir() and not e.name.startswith(".")]
    splits = bool(first) and all(e.name.lower() in SPLITS for e in first)
    depths: dict[int, str] = {}
    for entry in first if splits else [None]:
        code = SPLITS[entry.name.lower()] if entry else 0
        _walk(root, Path(entry.path) if entry else root, [], found, code, depths, frozenset())
    if not found.files:
        raise UserError(
            f"pool {path!r} has no images in root/class/image or root/group/class/image"
            + (f" ({found.ignored_count} other files, e.g. {found.ignored[0]})" if found.ignored else "")
        )
    if len(depths) > 1:
        raise UserError(
            f"pool {path!r} has images at different depths ({depths[1]} and {depths[2]}): all must be in class folders, or "
            "all in group/class folders"
        )
    return FolderPool(root, found, split, min_images)


def check_options(path: str, split: str, min_images: int) -> None:
    """Raises UserError: an option that folder and Parquet pools share is out of range."""
    if split not in ("auto", "given", "random"):
        raise UserError(f"pool {path!r}: split={split!r} must be auto, given or random")
    if not isinstance(min_images, int) or isinstance(min_images, bool) or min_images < 1:
        raise UserError(f"pool {path!r}: min_images={min_images!r} must be a whole number of at least 1")


def _walk(
    root: Path, folder: Path, above: list[str], found: _Found, code: int, depths: dict[int, str], seen: frozenset[str]
) -> None:
    """Collect the images below ``folder``, whose path from the root (or from its split) is ``above``."""
    real = os.path.realpath(folder)
    if real in seen:
        raise UserError(f"pool {str(root)!r}: {folder} links back to a folder above it: remove the link")
    below = os.path.relpath(folder, root)
    prefix = "" if below == "." else below + os.sep
    group = above[0] if len(above) == 2 else root.resolve().name
    for entry in _entries(folder):
        if entry.name.startswith("."):
            continue
        path = prefix + entry.name
        if entry.is_dir():
            _walk(root, Path(entry.path), [*above, entry.name], found, code, depths, seen | {real})
        elif os.path.splitext(entry.name)[1].lower() not in _extensions():
            found.ignored_count += 1
            if len(found.ignored) < IGNORED_SHOWN:
                found.ignored.append(path)
        elif len(above) not in (1, 2):
            where = "directly in it" if not above else "too deep"
            raise UserError(
                f"pool {str(root)!r} has images {where}, e.g. {path}: they must be in root/class/image or "
                "root/group/class/image"
            )
        else:
            state = _stat(root, entry)
            depths.setdefault(len(above), path)
            found.files.setdefault((group, above[-1]), []).append((path, state.st_size, state.st_mtime_ns, code))


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda e: e.name)
    except OSError as error:
        raise UserError(
            f"pool: folder {folder} cannot be listed ({error.strerror}): allow it, or leave it out"
        ) from None


def _stat(root: Path, entry: os.DirEntry[str]) -> os.stat_result:
    try:
        return entry.stat()
    except OSError as error:
        raise UserError(
            f"pool {str(root)!r}: {os.path.relpath(entry.path, root)} cannot be read ({error.strerror}): remove it"
        ) from None


def _given(name: str, codes: NDArray[np.uint8], split: str) -> NDArray[np.uint8] | None:
    """The given split, if there is one and it is wanted."""
    there = len(np.unique(codes)) > 1
    if split == "given" and not there:
        raise UserError(
            f"pool {name!r} has no split of its own (split=given): leave it out, or give {', '.join(GIVEN)}"
        )
    return codes if there and split != "random" else None


_EXTENSIONS: frozenset[str] = frozenset()


def _extensions() -> frozenset[str]:
    """Of the formats that Pillow opens, e.g. ``.jpg``."""
    global _EXTENSIONS
    if not _EXTENSIONS:
        from PIL import Image

        _EXTENSIONS = frozenset(e for e, kind in Image.registered_extensions().items() if kind in Image.OPEN)
    return _EXTENSIONS
