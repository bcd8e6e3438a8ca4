"""CIFAR-10 or CIFAR-100 as published: ``cifar-100-python.tar.gz``, or the folder that it unpacks to.

Classes come in the order of their labels, those of CIFAR-100 in groups by superclass. The published split is the predefined one.
All images are in memory, 184 MB.
"""

from __future__ import annotations

import hashlib
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from seqsearch.core.digests import digest_of
from seqsearch.core.errors import UserError
from seqsearch.pools.base import GIVEN, ClassInfo, Rows, SplitSizes, View, checked_rows, row_offsets
from seqsearch.pools.folder import check_options
from seqsearch.pools.parts.cifar_files import PIXELS, Images, read_cifar
from seqsearch.pools.parts.decode import fitted


class CifarPool:
    """Images by class; see ``seqsearch.pools.base.Pool``."""

    native_size = PIXELS[1]
    concurrent = True

    def __init__(self, path: str, split: str, min_images: int) -> None:
        self.name, self._path = path, Path(path)
        layout, names, files = read_cifar(self._path)
        parts = list(files)
        labels = np.array([label for _, images in parts for label in images.labels], dtype=np.int64)
        codes = np.repeat(
            [GIVEN.index("train" if trained else "test") for trained, _ in parts], [len(i.labels) for _, i in parts]
        ).astype(np.uint8)
        counts = np.bincount(labels, minlength=len(names.classes))
        kept = np.flatnonzero(counts >= min_images)
        if not len(kept):
            raise UserError(f"pool {self.name!r}: no class has {min_images} images or more (min_images)")
        group_of = _groups(self.name, [i for _, i in parts], names.classes)
        self.classes = tuple(
            ClassInfo(names.classes[c], names.groups[group_of[c]], int(counts[c])) for c in kept.tolist()
        )
        order = np.argsort(labels, kind="stable").astype(np.int64)
        self._order = order[np.isin(labels[order], kept)]
        self._offsets, self.split_sizes = row_offsets(self.classes), SplitSizes()
        given = codes[self._order]
        if split == "given" and len(np.unique(given)) < 2:
            raise UserError(f"pool {self.name!r} has images of one part only (split=given): leave it out")
        self.given: NDArray[np.uint8] | None = None if split == "random" else given
        self._files = [
            f"{GIVEN[2 if not trained else 0]}/{called}"
            for trained, images in parts
            for called in (images.names or [str(row) for row in range(len(images.labels))])
        ]
        self._pixels = self._sorted([i for _, i in parts], len(labels))
        said = [(c.name, c.group, c.count) for c in self.classes]
        self._content = hashlib.blake2b(self._pixels.data, digest_size=16).hexdigest()
        self.digest = digest_of(
            layout.name, said, hashlib.blake2b(given.data, digest_size=16).hexdigest(), self._content
        )

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_pixels"}

    @cached_property
    def _pixels(self) -> NDArray[np.uint8]:
        """The images ``[n, 3, 32, 32]`` by row; read again where the pool was sent to another process.

        Raises:
            UserError: they are other images now.
        """
        parts = [images for _, images in read_cifar(self._path)[2]]
        if (total := sum(len(i.labels) for i in parts)) == len(self._files):
            found = self._sorted(parts, total)
            if hashlib.blake2b(found.data, digest_size=16).hexdigest() == self._content:
                return found
        raise UserError(f"pool {self.name!r} was changed since it was opened: restore it, then resume")

    def _sorted(self, parts: list[Images], total: int) -> NDArray[np.uint8]:
        """The images of all files by row."""
        row = np.full(total, -1)
        row[self._order] = np.arange(len(self._order))
        found, low = np.empty((len(self._order), *PIXELS), dtype=np.uint8), 0
        for images in parts:
            rows = row[low : low + len(images.labels)]
            found[rows[rows >= 0]] = images.pixels[rows >= 0]
            low += len(rows)
        return found

    def images(self, rows: Rows, view: View) -> NDArray[np.uint8]:
        """``rows`` as ``[n, 3, view.size, view.size]`` RGB.

        Raises:
            UserError: a row is not in the pool, or the files were changed.
        """
        rows = checked_rows(rows, self.name, int(self._offsets[-1]))
        out = np.empty((len(rows), 3, view.size, view.size), dtype=np.uint8)
        for target, row in zip(out, rows.tolist(), strict=True):
            picture = Image.fromarray(np.ascontiguousarray(self._pixels[row].transpose(1, 2, 0)))
            target[:] = np.asarray(fitted(picture, view)).transpose(2, 0, 1)
        return out

    def where(self, row: int) -> str:
        """Part of the published split, and the name of an image there."""
        return self._files[int(self._order[row])]


def build(path: str, split: str = "auto", min_images: int = 1) -> CifarPool:
    """The pool of an archive or folder.

    Args:
        path: ``cifar-100-python.tar.gz``, ``cifar-10-python.tar.gz`` or what they unpack to.
        split: ``auto`` and ``given`` keep the published split, ``random`` draws another one.
        min_images: classes with fewer are left out; from 1.

    Raises:
        UserError: it is neither data set, cannot be read, or holds what these files do not hold.
    """
    check_options(path, split, min_images)
    return CifarPool(path, split, min_images)


def _groups(name: str, parts: list[Images], classes: list[str]) -> list[int]:
    """Number of the group of each class.

    Raises:
        UserError: a class is in several.
    """
    found = [0] * len(classes)
    seen = [False] * len(classes)
    for images in parts:
        for label, group in zip(images.labels, images.groups, strict=False):
            if seen[label] and found[label] != group:
                raise UserError(f"pool {name!r} has images of class {classes[label]!r} in several groups: get it again")
            found[label], seen[label] = group, True
    return found
