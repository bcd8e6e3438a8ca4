"""The image files below a folder, in little memory: of millions of files their paths, sizes and times, not an object each."""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from seqsearch.core.errors import UserError
from seqsearch.core.text import printable
from seqsearch.pools.parts.decode import FORMATS

IGNORED_SHOWN = 100
"""Names of ignored files that are kept to be shown."""
DEEPEST = 3
"""Folders above an image: split, group and class."""
MOST_VISITS = 1000
"""Times that one folder is there under different names, at most: links to links to links are more than can ever be listed."""


@dataclass(frozen=True)
class Listing:
    """The images of one folder, sorted by name.

    Attributes:
        above: the folders between the root and the images.
        paths: of the images below the root, one after the other.
        lengths: of each path ``[n]``.
        sizes: bytes of each image ``[n]``.
        times: when each was changed ``[n]`` [ns].
    """

    above: tuple[str, ...]
    paths: bytes
    lengths: NDArray[np.int32]
    sizes: NDArray[np.int64]
    times: NDArray[np.int64]

    @property
    def example(self) -> str:
        return os.fsdecode(self.paths[: int(self.lengths[0])])

    @property
    def names(self) -> list[str]:
        """Path of each image below the root ``[n]``, as texts name it (`below`)."""
        ends = np.cumsum(self.lengths, dtype=np.int64).tolist()
        return [printable(os.fsdecode(self.paths[low:high])) for low, high in zip([0, *ends[:-1]], ends, strict=True)]


@dataclass
class Found:
    """Files below a root: images folder by folder, and the files that were left out."""

    listings: list[Listing] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)
    """The first files that are no images by their names."""
    ignored_count: int = 0


def scan(root: Path, *, anywhere: bool = False) -> Found:
    """All images below ``root``; folders come in the order of their names. Links that stay below ``root`` are followed, those
    that leave it only if they may lead ``anywhere``.

    Raises:
        UserError: a folder cannot be listed, a file cannot be looked at, a link leads out or back up, an image lies far too deep.
    """
    inside = None if anywhere else os.path.realpath(root)
    found, visits = Found(), Counter[tuple[int, int]]()
    todo: list[tuple[Path, tuple[str, ...], frozenset[tuple[int, int]]]] = [(root, (), frozenset())]
    while todo:  # not by recursion: folders may be nested deeper than Python goes
        folder, above, seen = todo.pop()
        state = _looked_at(root, folder)
        itself = state.st_dev, state.st_ino
        visits[itself] += 1
        if itself in seen:
            raise UserError(f"pool {str(root)!r}: {folder} links back to a folder above it: remove the link")
        if visits[itself] > MOST_VISITS:
            raise UserError(
                f"pool {str(root)!r}: {folder} is linked to more than {MOST_VISITS} times: remove the links"
            )
        folders = _listed(root, folder, above, found, inside)
        todo += [(folder / name, (*above, name), seen | {itself}) for name in reversed(folders)]
    return found


def _listed(root: Path, folder: Path, above: tuple[str, ...], found: Found, inside: str | None) -> list[str]:
    """Take the images of one folder; the names of the folders in it. Links must stay ``inside`` a folder, if one is given."""
    prefix, folders, images = "".join(f"{name}/" for name in above), [], []
    for entry in _entries(folder):
        entry_state = _looked_at(root, entry)
        is_folder = stat.S_ISDIR(entry_state.st_mode)
        is_image = stat.S_ISREG(entry_state.st_mode) and os.path.splitext(entry.name)[1].lower() in extensions()
        if (is_folder or is_image) and inside is not None and entry.is_symlink():
            check_link(root, Path(entry), inside)
        if is_folder:
            folders.append(entry.name)
        elif is_image:
            images.append((os.fsencode(prefix + entry.name), entry_state.st_size, entry_state.st_mtime_ns))
        else:
            found.ignored_count += 1
            if len(found.ignored) < IGNORED_SHOWN:
                found.ignored.append(prefix + entry.name)
    if images:
        paths, sizes, times = zip(*images, strict=True)
        lengths = np.array([len(p) for p in paths], dtype=np.int32)
        listing = Listing(above, b"".join(paths), lengths, np.array(sizes, np.int64), np.array(times, np.int64))
        if len(above) > DEEPEST:  # at once: this may be the root of a disk
            raise misplaced(root, "too deep", listing)
        found.listings.append(listing)
    return folders


def check_link(root: Path, entry: Path, inside: str) -> None:
    """Raises UserError: an entry of the pool ``root`` is a link that leads out of the folder ``inside``, its real path."""
    target = os.path.realpath(entry)
    if os.path.commonpath([inside, target]) != inside:
        path = os.path.relpath(entry, root)
        raise UserError(
            f"pool {str(root)!r}: {path} is a link out of it, to {target}: put what is meant there, or name the pool "
            f"{root}:links=anywhere if you trust whoever made it"
        )


def misplaced(root: Path, where: str, listing: Listing) -> UserError:
    """One line on images that are in no class folder."""
    return UserError(
        f"pool {str(root)!r} has images {where}, e.g. {listing.example}: they must be in root/class/image or "
        "root/group/class/image"
    )


def _entries(folder: Path) -> Iterator[os.DirEntry[str]]:
    """Yield the entries of a folder that are not hidden, sorted by the bytes of the names."""
    try:
        with os.scandir(folder) as entries:
            there = sorted((e for e in entries if not e.name.startswith(".")), key=lambda e: os.fsencode(e.name))
    except OSError as error:
        raise UserError(
            f"pool: folder {folder} cannot be listed ({error.strerror}): allow it, or leave it out"
        ) from None
    yield from there


def _looked_at(root: Path, entry: os.DirEntry[str] | Path) -> os.stat_result:
    try:
        return entry.stat()
    except OSError as error:
        path = os.path.relpath(entry, root)
        raise UserError(f"pool {str(root)!r}: {path} cannot be read ({error.strerror}): remove it") from None


def below(path: str) -> str:
    r"""A path below the root of a pool, as a file of texts may write it, in the form of `Listing.names`.

    >>> below(".\\owl\\1.jpg")
    'owl/1.jpg'
    """
    return printable(path.replace("\\", "/")).removeprefix("./")


@cache
def extensions() -> frozenset[str]:
    """Of the formats that are read, e.g. ``.jpg``."""
    from PIL import Image

    return frozenset(e for e, kind in Image.registered_extensions().items() if kind in FORMATS)
