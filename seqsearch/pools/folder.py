"""A folder of images as a pool: ``root/class/image`` or ``root/group/class/image``, in the usual formats.

A first level of split names only (``train``, ``validation``, ``test``, ...; folders without images do not count) is a given
split, not a group. Without a test folder, ``val`` is the test part. Images are decoded when they are asked for; the pool itself
holds their names only.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from seqsearch.core.errors import UserError
from seqsearch.core.paths import at_home
from seqsearch.core.text import printable
from seqsearch.core.typed import LARGEST, brief
from seqsearch.pools.base import GIVEN, ClassInfo, Rows, SplitSizes, View, checked_rows, row_offsets
from seqsearch.pools.parts.class_names import names_of
from seqsearch.pools.parts.decode import MAX_BYTES, decoded
from seqsearch.pools.parts.layout import SPLITS, with_test
from seqsearch.pools.parts.scan import Found, Listing, misplaced, scan
from seqsearch.pools.parts.split_file import SPLIT_WORDS, split_of
from seqsearch.storage.reading import content

_Classes = dict[tuple[str, str], list[tuple[int, Listing]]]
"""By group and name: the folders of a class, each with its position in `GIVEN`."""


class FolderPool:
    """Images by class; see ``seqsearch.pools.base.Pool``."""

    native_size = 0
    concurrent = True

    def __init__(self, root: Path, found: Found, split: str, min_images: int, names: object = None) -> None:
        self.name, self.root = str(root), root
        there = _classes(root, found)
        if names is not None:
            named = names_of(self.name, names, there)
            there = {
                key: there[old] for key, old in sorted(((group, named[group, f]), (group, f)) for group, f in there)
            }
        counts = {key: sum(len(listing.lengths) for _, listing in own) for key, own in there.items()}
        kept = {key: own for key, own in there.items() if counts[key] >= min_images}
        if not kept:
            raise UserError(f"pool {self.name!r}: no class has {min_images} images or more (min_images)")
        self.classes = tuple(ClassInfo(name, group, counts[group, name]) for group, name in kept)
        listings = [entry for own in kept.values() for entry in own]
        self.notes: tuple[str, ...] = ()
        if by_file := split not in SPLIT_WORDS:
            parts, self.notes = split_of(self.name, split, found.listings)
            codes = np.concatenate([parts[ls.above] for _, ls in listings])
        else:
            codes = np.repeat([c for c, _ in listings], [len(ls.lengths) for _, ls in listings]).astype(np.uint8)
        self.given: NDArray[np.uint8] | None = _given(self.name, codes, split)
        self.split_sizes = SplitSizes()
        self._names = b"".join(ls.paths for _, ls in listings)
        self._ends = np.cumsum(np.concatenate([ls.lengths for _, ls in listings]), dtype=np.int64)
        self._offsets = row_offsets(self.classes)
        sizes = np.concatenate([ls.sizes for _, ls in listings])
        self._empty = np.flatnonzero(sizes == 0)
        self.ignored, self.ignored_count = tuple(found.ignored), found.ignored_count
        # Paths below the root say group, class and split, but for the group that is named after the root: it may be renamed.
        identity = hashlib.blake2b(repr([c.count for c in self.classes]).encode(), digest_size=16)
        if names is not None:
            identity.update(repr([c.name for c in self.classes]).encode())
        if by_file:
            identity.update(codes.tobytes())
        times = np.concatenate([ls.times for _, ls in listings])
        identity.update(self._names)
        for numbers in (self._ends, sizes, times):
            identity.update(numbers.astype("<i8", copy=False).data)
        self.digest = "files-" + identity.hexdigest()

    def check(self) -> None:
        """Check for bad images as far as possible without decoding them all.

        Raises:
            UserError: a file is empty.
        """
        if len(self._empty):
            raise UserError(
                f"pool {self.name!r}: {self.where(int(self._empty[0]))} is empty ({len(self._empty)} such): remove it, or make "
                "a pool without bad images: seqsearch pool build"
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

    def _read(self, path: str) -> bytes:
        try:
            return content(os.path.join(self.root, path), MAX_BYTES)
        except OSError as error:
            raise UserError(
                f"pool {self.name!r}: {path} cannot be read any more ({error.strerror}): restore it, then resume"
            ) from None


def build(
    path: str, split: str = "auto", min_images: int = 1, links: str = "inside", names: str | None = None
) -> FolderPool:
    """The pool of a folder; its images are looked at when they are asked for.

    Args:
        path: the folder.
        split: ``auto`` keeps a predefined split if there is one, ``given`` asks for one, ``random`` draws it in any case; or
            the file that says it (`seqsearch.pools.parts.split_file`).
        min_images: classes with fewer are left out; from 1.
        links: ``inside`` follows links that stay in the folder and refuses others, ``anywhere`` follows all.
        names: file that names the classes of folders that are named by an id (`seqsearch.pools.parts.class_names`).
            Classes are sorted by these names.

    Raises:
        UserError: no such folder, no images in it, images at odd depths, a folder that cannot be listed, a link out of it,
            or names or a split that do not fit.
    """
    check_options(path, split, min_images, links, files=True)
    root = Path(path)
    if not os.path.isdir(root):
        raise UserError(f"pool {path!r} is no folder")
    return FolderPool(root, scan(root, anywhere=links == "anywhere"), split, min_images, names)


def check_options(path: str, split: str, min_images: int, links: str = "inside", *, files: bool = False) -> None:
    """Check the options that pools of a path share; ``files``: the split may be a file.

    Raises:
        UserError: an option is out of range.
    """
    if split not in SPLIT_WORDS and not (files and isinstance(split, str) and os.path.exists(at_home(split))):
        further = (
            ", or a file that is there"
            if files
            else " (a file is for folders: pool build makes a .parquet file of both)"
        )
        raise UserError(f"pool {path!r}: split={brief(split)} must be auto, given or random{further}")
    if not isinstance(min_images, int) or isinstance(min_images, bool) or not 1 <= min_images <= LARGEST:
        raise UserError(f"pool {path!r}: min_images={brief(min_images)} must be a whole number from 1 to {LARGEST}")
    if links not in ("inside", "anywhere"):
        raise UserError(f"pool {path!r}: links={brief(links)} must be inside or anywhere")


def _classes(root: Path, found: Found) -> _Classes:
    """The folders of images by class, sorted by group and name; those of a class in the order of `GIVEN`.

    Raises:
        UserError: no images, or images at odd depths.
    """
    if not found.listings:
        raise UserError(
            f"pool {str(root)!r} has no images in root/class/image or root/group/class/image"
            + (f" ({found.ignored_count} other files, e.g. {found.ignored[0]})" if found.ignored else "")
        )
    for listing in found.listings:
        if not listing.above:
            raise misplaced(root, "directly in it", listing)
    splits = all(listing.above[0].lower() in SPLITS for listing in found.listings)
    classes: _Classes = {}
    depths: dict[int, str] = {}
    for listing in found.listings:
        code = SPLITS[listing.above[0].lower()] if splits else 0
        above = listing.above[1:] if splits else listing.above
        if len(above) not in (1, 2):
            raise misplaced(root, "too deep" if above else "directly in a split", listing)
        depths.setdefault(len(above), listing.example)
        group = above[0] if len(above) == 2 else root.resolve().name
        # as they can be stored: in results, and in the Parquet file that is made of the folder
        classes.setdefault((printable(group), printable(above[-1])), []).append((code, listing))
    if len(depths) > 1:
        raise UserError(
            f"pool {str(root)!r} has images at different depths ({depths[1]} and {depths[2]}): all must be in class folders, "
            "or all in group/class folders"
        )
    return {key: sorted(classes[key], key=lambda entry: entry[0]) for key in sorted(classes)}


def _given(name: str, codes: NDArray[np.uint8], split: str) -> NDArray[np.uint8] | None:
    """The given split, if there is one and it is wanted."""
    there = len(np.unique(codes)) > 1
    if split == "given" and not there:
        raise UserError(
            f"pool {name!r} has no split of its own (split=given): leave it out, or give {', '.join(GIVEN)}"
        )
    return with_test(codes) if there and split != "random" else None
