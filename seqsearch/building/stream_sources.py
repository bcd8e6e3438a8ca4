"""Sources of streams: lists, CSV files, folders, arrays of features and Parquet files. Each gives labels, times and
payload."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqsearch.core.errors import UserError
from seqsearch.core.text import printable
from seqsearch.pools.parts.scan import scan
from seqsearch.storage.parquet_file import ParquetFile, damage_reported
from seqsearch.storage.reading import open_regular
from seqsearch.streams.columns import MOST_CLASSES, WIDEST, Columns, read_columns, readable
from seqsearch.streams.files import StreamImages
from seqsearch.streams.vectors import Vectors, features_are_bytes

Positions = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Source:
    """Samples in order of time.

    Attributes:
        name: for messages.
        codes: class of each sample ``[n]``, a position in ``names``.
        times: of each sample ``[n]``; None if there are none.
        payload: what `read` gives: ``image`` (bytes), ``path`` (below ``root``), ``features``, or empty.
        read: payload of some samples ``[m]``.
        root: folder that paths are in.
        parts: part of each sample ``[n]``, if the source says it.
        dim: values of a feature.
        place: what a sample is called in messages, by its number.
    """

    name: str
    codes: NDArray[np.int32]
    names: tuple[str, ...]
    times: NDArray[np.int64] | None
    payload: str
    read: Callable[[Positions], Sequence[bytes]]
    root: Path = Path()
    parts: NDArray[np.uint8] | None = None
    dim: int = 0
    place: Callable[[int], str] = "sample {}".format

    def __len__(self) -> int:
        return len(self.codes)

    def taken(self, order: Positions) -> Source:
        """Some samples of it, or all in another order."""
        times, parts = (
            None if self.times is None else self.times[order],
            None if self.parts is None else self.parts[order],
        )
        read, place = self.read, self.place
        return replace(
            self,
            codes=self.codes[order],
            times=times,
            parts=parts,
            read=lambda at: read(order[at]),
            place=lambda at: place(int(order[at])),
        )

    def sorted(self, asked: bool) -> Source:
        """In order of time, if it is that already or ``asked`` for.

        Raises:
            UserError: it is not.
        """
        if self.times is None or not (late := self.times[1:] < self.times[:-1]).any():
            return self
        if not asked:
            at = int(late.argmax())
            raise UserError(
                f"{self.name}: {self.place(at + 1)} is of time {self.times[at + 1]}, before {self.place(at)} of time "
                f"{self.times[at]}: sort it, or have it sorted with --sort"
            )
        return self.taken(np.argsort(self.times, kind="stable"))


def of_folder(root: Path) -> Source:
    """``root/class/image``: time is when a file was changed [ns], ties in order of paths.

    Raises:
        UserError: no images in it, images in no class folder, a link out of it.
    """
    listings = scan(root).listings
    if not listings or any(not ls.above for ls in listings):
        raise UserError(f"{root} has no images in root/class/image, or some in no class folder")
    paths, codes, names = list[bytes](), list[int](), dict[str, int]()
    for ls in listings:
        ends = np.cumsum(ls.lengths).tolist()
        paths += [ls.paths[a:b] for a, b in zip([0, *ends], ends, strict=False)]
        codes += [names.setdefault(printable("/".join(ls.above)), len(names))] * len(ls.lengths)
    times = np.concatenate([ls.times for ls in listings])
    found = Source(
        str(root),
        np.array(codes, np.int32),
        tuple(names),
        times,
        "path",
        lambda at: [paths[i] for i in at.tolist()],
        root,
    )
    by_path = np.array(sorted(range(len(paths)), key=paths.__getitem__), dtype=np.int64)
    return found.taken(by_path).sorted(asked=True)


def of_features(file: Path, labels: Path | None, times: Path | None) -> Source:
    """Arrays: features ``[n, d]``, labels ``[n]``, times ``[n]`` if there are any; a row is a sample, in order of time.

    Raises:
        UserError: one cannot be read, or is of another shape or type.
    """
    if labels is None:
        raise UserError(f"{file}: features need --labels FILE.npy")
    rows, said = _array(file, 2, "f"), _array(labels, 1, "iu")
    when = None if times is None else np.asarray(_array(times, 1, "iu"), dtype=np.int64)
    for other, array in ((labels, said), (times, when)):
        if array is not None and len(array) != len(rows):
            raise UserError(f"{file} has {len(rows)} samples, {other} has {len(array)}: they must be as many")
    if not rows.size or rows.shape[1] > WIDEST:
        raise UserError(f"{file} is of shape {rows.shape}: must be samples by values, at most {WIDEST} of these")
    if said.min() < 0 or said.max() >= MOST_CLASSES:
        raise UserError(f"{labels}: labels must be from 0 to {MOST_CLASSES - 1}")
    occurs, codes = np.unique(said, return_inverse=True)

    def read(at: Positions) -> list[bytes]:
        found = np.ascontiguousarray(rows[at], dtype="<f4")
        check_finite(str(file), found, at)
        return [v.tobytes() for v in found]

    return Source(
        str(file), codes.astype(np.int32), tuple(map(str, occurs)), when, "features", read, dim=int(rows.shape[1])
    )


def check_finite(name: str, features: NDArray[np.float32], samples: Positions) -> None:
    """Raises UserError: a feature ``[m, d]`` of these samples ``[m]`` is no finite number."""
    if not np.isfinite(features).all():
        at = int(np.flatnonzero(~np.isfinite(features).all(axis=1))[0])
        raise UserError(
            f"{name}: sample {samples[at]} has a feature that is no finite number: mend it, or leave it out"
        )


def _array(file: Path, dimensions: int, kinds: str) -> NDArray[Any]:
    """A memory-mapped array of so many dimensions and one of these kinds.

    Raises:
        UserError: it is none.
    """
    try:
        os.close(open_regular(file))
        found: NDArray[Any] = np.load(file, mmap_mode="r", allow_pickle=False)
    except Exception as error:  # numpy parses the header as Python, and raises what that does
        said = getattr(error, "strerror", None) or " ".join(str(error).split())[:120]
        raise UserError(f"{file} cannot be read as a .npy array ({said})") from None
    if not isinstance(found, np.ndarray) or found.ndim != dimensions or found.dtype.kind not in kinds:
        what = f"{found.dtype} of shape {found.shape}" if isinstance(found, np.ndarray) else "no array"
        raise UserError(f"{file} is {what}: must be {'whole numbers [n]' if dimensions == 1 else 'floats [n, d]'}")
    return found


def of_parquet(file: Path) -> Source:
    """Columns of `seqsearch.streams.layout`; ``features`` may be lists of floats, of which all are taken into memory.

    Raises:
        UserError: it cannot be read, columns are missing, or of another type, or features differ in length.
    """
    if not file.is_file():
        raise UserError(f"{file} is no file")
    with readable(file, "mend it"):
        opened = ParquetFile(file)
        found = read_columns(file, opened)
        read, dim = _payload(file, opened, found)
    root = file.parent.absolute()
    codes = found.labels.astype(np.int32)
    return Source(str(file), codes, found.names, found.times, found.payload, read, root, found.parts, dim)


def _payload(file: Path, opened: ParquetFile, found: Columns) -> tuple[Any, int]:
    """Return a reader of images, paths or features, and the number of values of a feature."""
    nothing, n = np.arange(len(found.labels)), len(found.labels)
    if found.payload in ("image", "path"):
        images = StreamImages(str(file), "", (), opened, found.payload, nothing)
        return images.stored, 0
    if not found.payload:
        return (lambda at: [b""] * len(at)), 0
    if features_are_bytes(opened):
        vectors = Vectors(str(file), "", (), opened, found.dim, nothing)
        return (lambda at: [v.tobytes() for v in vectors.given_features(at)]), found.dim
    table = _lists(file, opened, n)

    def read(at: Positions) -> list[bytes]:
        check_finite(str(file), table[at], at)
        return [v.tobytes() for v in table[at]]

    return read, table.shape[1]


def _lists(file: Path, opened: ParquetFile, n: int) -> NDArray[np.float32]:
    """Lists of floats as an array ``[n, d]``."""
    import pyarrow as pa

    kind = opened.schema.field("features").type
    if not ((pa.types.is_list(kind) or pa.types.is_large_list(kind)) and pa.types.is_floating(kind.value_type)):
        raise UserError(f"{file}: column 'features' is of type {kind}, must be lists of floats")
    parts, dim, at = list[NDArray[np.float32]](), 0, 0
    for piece in opened.pieces(["features"]):
        column = piece.column(0)
        with damage_reported():
            lengths = np.diff(column.offsets.to_numpy())
            values = np.asarray(column.flatten().to_numpy(zero_copy_only=False), dtype="<f4")
        dim = dim or int(lengths[0])
        if column.null_count or (lengths != dim).any() or not 0 < dim <= WIDEST:
            odd = at + int((lengths != dim).argmax())
            raise UserError(
                f"{file}: the features of sample {odd} are missing or not {dim} values like those of the first"
            )
        parts.append(values.reshape(-1, dim))
        at += len(column)
    if at != n:
        raise UserError(f"{file}: column 'features' has another number of rows than its metadata says")
    return np.concatenate(parts)
