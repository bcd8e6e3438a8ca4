"""What a stream is made of: lists, CSV files, folders, arrays of features, Parquet files; each as labels, times and payload."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqsearch.core.errors import UserError
from seqsearch.core.text import printable
from seqsearch.pools.parts.scan import scan
from seqsearch.streams.columns import MOST_CLASSES, WIDEST

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

    def __len__(self) -> int:
        return len(self.codes)

    def taken(self, order: Positions) -> Source:
        """Some samples of it, or all in another order."""
        times, parts = (
            None if self.times is None else self.times[order],
            None if self.parts is None else self.parts[order],
        )
        read = self.read
        return replace(self, codes=self.codes[order], times=times, parts=parts, read=lambda at: read(order[at]))

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
                f"{self.name}: sample {at + 1} is of time {self.times[at + 1]}, before sample {at} of time {self.times[at]}: "
                "sort it, or have it sorted with --sort"
            )
        return self.taken(np.argsort(self.times, kind="stable"))


def of_list(file: Path, images: Path) -> Source:
    """``label<TAB>path`` and perhaps further columns, which are ignored; a line is a sample, in order of time.

    Raises:
        UserError: it cannot be read, or a line is none of these.
    """
    table = _csv(file, header=False)
    if table.num_columns < 2:
        raise UserError(f"{file}: a line must be label<TAB>path")
    return _of_paths(file, images, table.column(0), table.column(1), None)


def of_csv(file: Path, images: Path) -> Source:
    """A header and ``path,time[,label]``, in any order of columns; without labels the folder that an image is in is its class.

    A time is a whole number, or a date and time, which becomes seconds since 1970.

    Raises:
        UserError: it cannot be read, columns are missing, or a time is none.
    """
    table = _csv(file, header=True)
    if lacking := [n for n in ("path", "time") if n not in table.column_names]:
        raise UserError(f"{file} has no column {lacking[0]!r}: its header must be path,time or path,time,label")
    paths, times = table.column("path"), _times(file, table.column("time"))
    labels = table.column("label") if "label" in table.column_names else _folders(file, paths)
    return _of_paths(file, images, labels, paths, times)


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
        str(root), np.array(codes, np.int32), tuple(names), times, "path", lambda at: [paths[i] for i in at.tolist()], root
    )  # fmt: skip
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


def _of_paths(file: Path, images: Path, labels: Any, paths: Any, times: NDArray[np.int64] | None) -> Source:
    if not len(paths):
        raise UserError(f"{file} has no sample")
    for what, column in (("label", labels), ("path", paths)):
        if column.null_count:
            at = int(np.flatnonzero(column.is_null().to_numpy())[0])
            raise UserError(f"{file}: sample {at} has no {what}")
    whole = labels.combine_chunks().dictionary_encode()
    names = tuple(printable(str(n)) for n in whole.dictionary.to_pylist())
    codes = np.asarray(whole.indices.to_numpy(zero_copy_only=False), dtype=np.int32)

    def read(at: Positions) -> list[bytes]:
        import pyarrow as pa

        return [os.fsencode(p) for p in paths.take(pa.array(at)).to_pylist()]

    return Source(str(file), codes, names, times, "path", read, images)


def _folders(file: Path, paths: Any) -> Any:
    """The folder that each image is in."""
    import pyarrow.compute as pc

    found = pc.replace_substring_regex(paths, r"^(?:.*/)?([^/]+)/[^/]+$", r"\1")
    if (alone := pc.equal(found, paths).to_numpy()).any():
        raise UserError(
            f"{file}: sample {int(alone.argmax())} is in no folder, and there is no column 'label': add one"
        )
    return found


def _times(file: Path, column: Any) -> NDArray[np.int64]:
    import pyarrow as pa

    if pa.types.is_timestamp(column.type) or pa.types.is_date(column.type):
        column = column.cast(pa.timestamp("s"), safe=False).cast(pa.int64())
    if column.null_count or not pa.types.is_integer(column.type):
        raise UserError(
            f"{file}: column 'time' is of type {column.type}, with {column.null_count} empty: must be whole numbers"
        )
    return np.asarray(column.to_numpy(), dtype=np.int64)


def _csv(file: Path, header: bool) -> Any:
    """All columns, paths and labels as text."""
    import pyarrow as pa
    from pyarrow import csv

    with _arrow(file), open(file, "rb") as opened:
        read = csv.ReadOptions(autogenerate_column_names=not header, use_threads=False)
        parse = csv.ParseOptions(delimiter="," if header else "\t", quote_char='"' if header else False)
        text = dict.fromkeys(("path", "label", "f0", "f1"), pa.string())
        table = csv.read_csv(opened, read, parse, csv.ConvertOptions(column_types=text, strings_can_be_null=True))
        str(table.column_names)  # names that are no UTF-8 are found out here
        return table


@contextlib.contextmanager
def _arrow(file: Path) -> Iterator[None]:
    """Raises UserError: a text cannot be read as a table."""
    import pyarrow as pa

    try:
        yield
    except (OSError, pa.ArrowException, ValueError) as error:
        said = getattr(error, "strerror", None) or " ".join(str(error).split())[:160]
        raise UserError(f"{file} cannot be read: {said}") from None


def _array(file: Path, dimensions: int, kinds: str) -> NDArray[Any]:
    """A memory-mapped array of so many dimensions and one of these kinds.

    Raises:
        UserError: it is none.
    """
    try:
        found: NDArray[Any] = np.load(file, mmap_mode="r", allow_pickle=False)
    except Exception as error:  # numpy parses the header as Python, and raises what that does
        said = getattr(error, "strerror", None) or " ".join(str(error).split())[:120]
        raise UserError(f"{file} cannot be read as a .npy array ({said})") from None
    if not isinstance(found, np.ndarray) or found.ndim != dimensions or found.dtype.kind not in kinds:
        what = f"{found.dtype} of shape {found.shape}" if isinstance(found, np.ndarray) else "no array"
        raise UserError(f"{file} is {what}: must be {'whole numbers [n]' if dimensions == 1 else 'floats [n, d]'}")
    return found
