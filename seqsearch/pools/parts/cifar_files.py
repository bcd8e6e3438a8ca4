"""CIFAR-10 and CIFAR-100 in the archives that their author publishes ("python version"), or in the folders of these.

The files are pickles of Python 2. Nothing that they name is called: numpy's arrays are rebuilt here from what they say of
themselves, and every other name is refused.
"""

from __future__ import annotations

import gzip
import io
import pickle
import re
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from seqsearch.core.errors import UserError
from seqsearch.core.text import counted, printable
from seqsearch.core.typed import brief
from seqsearch.storage.inside import Inside
from seqsearch.storage.pickles import BadPickle, check_calls
from seqsearch.storage.reading import open_regular

ENDINGS = (".tar.gz", ".tgz", ".tar")
PIXELS = (3, 32, 32)
"""Channels, rows and columns of an image."""
MOST_BYTES = 256 << 20
"""Of a file; the largest one has 155 MB. An archive unpacks to three times as much at most."""
MOST_MEMBERS = 1000
"""Of an archive; the published ones have ten."""
NAMED = re.compile(r"numpy\.core\.multiarray _reconstruct|numpy (ndarray|dtype)")
"""What the files name."""


@dataclass(frozen=True)
class Layout:
    """The files of a data set, and the keys in them."""

    name: str
    train: tuple[str, ...]
    test: tuple[str, ...]
    meta: str
    labels: str
    names: str
    groups: tuple[str, str] | None = None
    """Keys of the labels and of the names of groups; None: it has none."""

    @property
    def files(self) -> tuple[str, ...]:
        return (*self.train, *self.test, self.meta)


LAYOUTS = (
    Layout(
        "cifar-100",
        ("train",),
        ("test",),
        "meta",
        "fine_labels",
        "fine_label_names",
        ("coarse_labels", "coarse_label_names"),
    ),
    Layout(
        "cifar-10",
        tuple(f"data_batch_{i}" for i in range(1, 6)),
        ("test_batch",),
        "batches.meta",
        "labels",
        "label_names",
    ),
)


@dataclass
class Images:
    """Images ``[n]`` of one file, in its order.

    Attributes:
        pixels: ``[n, 3, 32, 32]`` RGB.
        labels: class of each image.
        groups: number of its group; empty if the data set has none.
        names: as the file calls each image; empty if it does not.
    """

    pixels: NDArray[np.uint8]
    labels: list[int]
    groups: list[int]
    names: list[str]


@dataclass
class Names:
    """Names of classes and of groups, by label."""

    classes: list[str]
    groups: list[str]


def is_cifar(path: Path) -> bool:
    """Whether a path is an archive, or a folder with the files of one of the data sets."""
    if path.is_dir():
        return layout_in(path) is not None
    return path.is_file() and path.name.lower().endswith(ENDINGS)


def layout_in(folder: Path) -> Layout | None:
    """The data set whose files are all in a folder."""
    return next((found for found in LAYOUTS if all(Inside(folder).has(name) for name in found.files)), None)


def read_cifar(path: Path) -> tuple[Layout, Names, Iterator[tuple[bool, Images]]]:
    """The data set, its names, and its files one by one, those of training (True) before those of test.

    Raises:
        UserError: it is neither of the data sets, cannot be read, or a file is not what it should be.
    """
    said = f"pool {str(path)!r}"
    files = _in_archive(said, path) if path.is_file() else {}
    layout = (
        next((found for found in LAYOUTS if all(n in files for n in found.files)), None) if files else layout_in(path)
    )
    if layout is None:
        raise UserError(
            f"{said} is neither CIFAR-10 nor CIFAR-100 in its python version: name cifar-100-python.tar.gz, "
            "cifar-10-python.tar.gz or what they unpack to, or another folder of images"
        )

    def content(name: str) -> dict[str, Any]:
        try:
            return _loaded(files.pop(name) if files else Inside(path).read(name, MOST_BYTES))
        except BadPickle as error:
            raise UserError(f"{said}: {name} is no file of CIFAR ({error}): get the archive again") from None
        except OSError as error:
            raise UserError(f"{said}: {name} cannot be read ({error.strerror}): get the archive again") from None

    names = _names(f"{said}: {layout.meta}", content(layout.meta), layout)
    return (
        layout,
        names,
        (
            (name in layout.train, _images(f"{said}: {name}", content(name), layout, names))
            for name in (*layout.train, *layout.test)
        ),
    )


# ------------------------------------------------------------------------------------------------ archives


class _Bounded(io.RawIOBase):
    """The beginning of a stream; what reads further is refused."""

    def __init__(self, stream: IO[bytes], most: int) -> None:
        self._stream, self._left = stream, most

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._stream.read(min(len(buffer), self._left + 1))
        self._left -= len(data)
        if self._left < 0:
            raise BadPickle("it unpacks to far more than the data set")
        buffer[: len(data)] = data
        return len(data)


def _in_archive(said: str, path: Path) -> dict[str, bytes]:
    """The files of the data sets in an archive, by name without folders. Nothing is written."""
    wanted, found = {name for layout in LAYOUTS for name in layout.files}, dict[str, bytes]()
    try:
        with open(open_regular(path), "rb") as raw:
            packed = raw.read(2) == b"\x1f\x8b"
            raw.seek(0)
            unpacked: Any = gzip.GzipFile(fileobj=raw) if packed else raw
            bounded = io.BufferedReader(_Bounded(unpacked, 3 * MOST_BYTES), 1 << 20)
            with tarfile.open(fileobj=bounded, mode="r|") as archive:
                for number, member in enumerate(archive):
                    if number == MOST_MEMBERS:
                        raise BadPickle(f"it has more than {MOST_MEMBERS} members")
                    name = member.name.rpartition("/")[2]
                    if name not in wanted or not member.isreg() or member.issparse():
                        continue
                    if name in found or member.size > MOST_BYTES:
                        raise BadPickle(f"{name} is in it twice, or has more than {MOST_BYTES >> 20} MB")
                    stream = archive.extractfile(member)
                    found[name] = stream.read() if stream is not None else b""
    except BadPickle as error:
        raise UserError(f"{said} is no archive of CIFAR ({error}): get it again") from None
    except Exception as error:  # gzip, zlib and tarfile raise what they like
        why = getattr(error, "strerror", None) or " ".join(str(error).split())[:100] or type(error).__name__
        raise UserError(f"{said} cannot be read ({why}): get the archive again") from None
    return found


# ------------------------------------------------------------------------------------------------ pickles


class _Said:
    """What a pickle says of an object of numpy: the arguments it is made with, and its state."""

    def __init__(self, *arguments: Any) -> None:
        self.arguments, self.state = arguments, None

    def __setstate__(self, state: Any) -> None:
        self.state = state


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if not NAMED.fullmatch(f"{module} {name}"):
            raise BadPickle(f"it asks for {module[:30]}.{name[:30]}")
        return _Said


def _loaded(data: bytes) -> dict[str, Any]:
    """The dictionary in a file. Arrays in it are `_Said`, texts of Python 2 are bytes.

    Raises:
        BadPickle: it holds something else, or what no file of the data sets needs.
    """
    check_calls(io.BytesIO(data), NAMED)
    try:
        found = _Unpickler(io.BytesIO(data), encoding="bytes").load()
    except BadPickle:
        raise
    except Exception as error:  # unpicklers raise what they like
        raise BadPickle(f"it is no good pickle, {type(error).__name__}") from None
    if not isinstance(found, dict):
        raise BadPickle("it holds no dictionary")
    return {text: value for key, value in found.items() if (text := _text(key)) is not None}


def _text(value: object) -> str | None:
    if isinstance(value, bytes):
        return printable(value.decode("utf-8", "surrogateescape"))
    return printable(value) if isinstance(value, str) else None


# ------------------------------------------------------------------------------------------------ contents


def _names(said: str, content: dict[str, Any], layout: Layout) -> Names:
    found = [_texts(said, content, key) for key in (layout.names, *(layout.groups[1:] if layout.groups else ()))]
    return Names(found[0], found[1] if layout.groups else [layout.name])


def _texts(said: str, content: dict[str, Any], key: str) -> list[str]:
    """Different names, none of them blank."""
    values = content.get(key)
    found = [_text(v) for v in values] if isinstance(values, list) else []
    texts = [t.strip() for t in found if t is not None and t.strip()]
    if not texts or len(texts) < len(found) or len(set(texts)) < len(texts):
        raise UserError(f"{said} must have different names in {key!r}: get the archive again")
    return texts


def _images(said: str, content: dict[str, Any], layout: Layout, names: Names) -> Images:
    pixels = _pixels(said, content.get("data"))
    labels = _numbers(said, content, layout.labels, len(pixels), len(names.classes))
    groups = _numbers(said, content, layout.groups[0], len(pixels), len(names.groups)) if layout.groups else []
    files = content.get("filenames")
    called = [_text(f) or "" for f in files] if isinstance(files, list) and len(files) == len(pixels) else []
    return Images(pixels, labels, groups, called)


def _pixels(said: str, array: object) -> NDArray[np.uint8]:
    """The array ``[n, 3, 32, 32]`` that a pickle describes."""
    version, shape, kind, fortran, data = _state(array, 5)
    size = int(np.prod(PIXELS))
    order = {False: "C", True: "F"}.get(fortran) if isinstance(fortran, bool) else None
    named = kind.arguments[:1] if isinstance(kind, _Said) else ()
    whole = isinstance(shape, tuple) and len(shape) == 2 and all(type(n) is int for n in shape) and shape[1] == size
    if version != 1 or order is None or not isinstance(data, bytes) or not whole:
        raise UserError(f"{said}: 'data' is no array [n, {size}]: get the archive again")
    if named not in ((b"u1",), ("u1",)):
        raise UserError(
            f"{said}: 'data' is of type {brief(named[0] if named else None)}, must be u1: get the archive again"
        )
    if len(data) != shape[0] * size or not len(data):
        raise UserError(f"{said}: 'data' says {shape[0]} images and has {len(data)} bytes: get the archive again")
    flat = np.frombuffer(data, np.uint8).reshape(shape, order="F" if order == "F" else "C")
    return flat.reshape(-1, *PIXELS)


def _state(array: object, length: int) -> tuple[Any, ...]:
    state = array.state if isinstance(array, _Said) else None
    return state if isinstance(state, tuple) and len(state) == length else (None,) * length


def _numbers(said: str, content: dict[str, Any], key: str, length: int, below: int) -> list[int]:
    """A label for each image."""
    values = content.get(key)
    if (
        not isinstance(values, list)
        or len(values) != length
        or not all(type(v) is int and 0 <= v < below for v in values)
    ):
        raise UserError(
            f"{said} must have a number from 0 to {below - 1} for each of {counted(length, 'image')} in {key!r}: get the "
            "archive again"
        )
    return values
