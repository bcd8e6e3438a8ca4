"""Make one Parquet pool of folders, Parquet files and other pools: every image is read and decoded once, and kept as it is.

Images that cannot be decoded, are tiny, or come twice in a class are left out, classes with too few images are dropped, and all
of it is reported. The result is the same whatever the number of workers.
"""

from __future__ import annotations

import hashlib
import io
import itertools
import json
import multiprocessing
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqsearch.digests import seeded_numpy
from seqsearch.errors import UserError
from seqsearch.files import atomic_path
from seqsearch.pools import _layout as layout
from seqsearch.pools._decode import BadImage, picture
from seqsearch.pools.aliases import Alias, by_images, by_name
from seqsearch.pools.base import GIVEN, Pool, Rows, View, row_offsets

CHUNK_BYTES = 2 << 20
"""Of images, about, that a worker checks and hands back at a time."""
CHUNK_IMAGES = 256
SPLIT_NAMES = dict(zip(GIVEN, ("train", "validation", "test"), strict=True))

ClassName = tuple[str, str]
"""Group and name."""


@dataclass(frozen=True)
class Options:
    """What to keep.

    Attributes:
        min_images: classes with fewer usable images are dropped.
        max_images: at most so many are taken of a class, drawn by ``seed``; 0: all.
        min_side: images with a shorter side [pixel] are skipped.
        merge_aliases: classes of different groups with the same name become one.
    """

    min_images: int = 10
    max_images: int = 0
    min_side: int = 8
    merge_aliases: bool = False
    seed: int = 0


@dataclass
class Report:
    """What was made, and what was left out on the way."""

    classes: list[tuple[str, str, int]] = field(default_factory=list)
    """Group, name, images."""
    content: str = ""
    skipped: list[tuple[str, str]] = field(default_factory=list)
    """Image, reason."""
    duplicates: int = 0
    """Images that came twice in their class."""
    dropped: list[tuple[str, str, int]] = field(default_factory=list)
    """Group, name and usable images of classes that had too few."""
    aliases: list[Alias] = field(default_factory=list)
    merged: list[Alias] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)
    """Files that are no images by their names, the first of them."""
    ignored_count: int = 0
    notes: list[str] = field(default_factory=list)

    @property
    def images(self) -> int:
        return sum(n for _, _, n in self.classes)


@dataclass(frozen=True)
class _Image:
    """A usable image, ready to be written."""

    data: bytes
    name: str
    split: str | None
    caption: str | None


@dataclass(frozen=True)
class _Planned:
    """A class to be: where its images come from."""

    group: str
    name: str
    parts: tuple[tuple[int, Rows], ...]
    """Number of the source, rows there."""


def build_parquet(
    sources: Sequence[tuple[str, Pool]],
    out: Path,
    options: Options,
    workers: int,
    observe: Callable[[int, int, int], None] = lambda done, total, skipped: None,
) -> Report:
    """Write ``out`` from named pools and say what became of their images.

    Args:
        observe: called now and then with images done, images in all, images skipped.

    Raises:
        UserError: no class is left, or the file cannot be written.
    """
    report = Report()
    planned = _plan(sources, options, report)
    total = sum(len(rows) for c in planned for _, rows in c.parts)
    pools = [p for _, p in sources]
    splits = _splits(sources, report)
    context = multiprocessing.get_context("spawn")
    with (
        atomic_path(out) as temporary,
        ProcessPoolExecutor(workers, context, _start_worker, (pools, options.min_side)) as executor,
    ):
        writer = _Writer(temporary)
        try:
            checked = _checked(executor, planned, workers)
            prints, done = [], 0
            for c in planned:
                own = _Class(c, options.min_images, writer, report)
                for number, rows in c.parts:
                    for row, verdict in zip(rows.tolist(), itertools.islice(checked, len(rows)), strict=True):
                        own.add(verdict, None if splits is None else splits[number][row])
                        done += 1
                        if done % CHUNK_IMAGES == 0 or done == total:
                            observe(done, total, len(report.skipped))
                if own.finish():
                    prints.append(own.prints())
            if not report.classes:
                raise UserError(
                    f"no class is left: none has {options.min_images} usable images (--min-images); {len(report.skipped)} of "
                    f"{total} images were unusable"
                )
            report.content = writer.close(report.classes)
        except BaseException:
            executor.shutdown(wait=False, cancel_futures=True)
            writer.abandon()
            raise
    kept = [(g, n) for g, n, _ in report.classes]
    named = by_name(kept)
    known = {(a.first, a.second) for a in named}
    report.aliases = named + [a for a in by_images(kept, prints) if (a.first, a.second) not in known]
    return report


# ------------------------------------------------------------------------------------------------ what goes in


def _plan(sources: Sequence[tuple[str, Pool]], options: Options, report: Report) -> list[_Planned]:
    """The classes to be, sorted by group and name."""
    parts: dict[ClassName, list[tuple[int, Rows]]] = {}
    for number, (source, pool) in enumerate(sources):
        report.ignored += getattr(pool, "ignored", ())
        report.ignored_count += getattr(pool, "ignored_count", 0)
        offsets, groups = row_offsets(pool.classes), {c.group for c in pool.classes}
        for index, c in enumerate(pool.classes):
            group = c.group if len(sources) == 1 else source if len(groups) == 1 else f"{source}/{c.group}"
            rows = np.arange(offsets[index], offsets[index + 1])
            parts.setdefault((group, c.name), []).append((number, rows))
    if options.merge_aliases:
        for alias in by_name(sorted(parts)):
            parts[alias.first] += parts.pop(alias.second)
            report.merged.append(alias)
    return [_Planned(g, n, tuple(_capped(n, parts[g, n], options))) for g, n in sorted(parts)]


def _capped(name: str, parts: list[tuple[int, Rows]], options: Options) -> Iterator[tuple[int, Rows]]:
    """At most ``max_images`` of a class, drawn over all its parts."""
    total = sum(len(rows) for _, rows in parts)
    if not 0 < options.max_images < total:
        yield from parts
        return
    drawn = np.sort(seeded_numpy("pool build", options.seed, name).permutation(total)[: options.max_images])
    begin = 0
    for number, rows in parts:
        own = drawn[(drawn >= begin) & (drawn < begin + len(rows))] - begin
        begin += len(rows)
        yield number, rows[own]


def _splits(sources: Sequence[tuple[str, Pool]], report: Report) -> list[NDArray[np.uint8]] | None:
    """The given split of each source; None unless all have one."""
    given = [p.given for _, p in sources]
    found = [g for g in given if g is not None]
    if len(found) == len(given):
        return found
    if found:
        lacking = next(name for name, p in sources if p.given is None)
        report.notes.append(f"the sources' own splits were left out, since {lacking} has none")
    return None


# ------------------------------------------------------------------------------------------------ workers


Verdict = tuple[str, bytes, str | None, str]
"""Name of the image, its file, its caption, and why it is unusable (then without the file)."""

_pools: list[Any] = []
_min_side = 0


def _start_worker(pools: list[Pool], min_side: int) -> None:
    global _pools, _min_side
    _pools, _min_side = list(pools), min_side


def _check(number: int, rows: Rows) -> list[Verdict]:
    """Read and decode images of one source."""
    pool = _pools[number]
    if not hasattr(pool, "encoded"):
        return [(f"{pool.name}, row {row}", data, None, "") for row, data in zip(rows, _drawn(pool, rows), strict=True)]
    captions = pool.captions(rows)
    return [_verdict(pool, int(row), caption) for row, caption in zip(rows, captions, strict=True)]


def _verdict(pool: Any, row: int, caption: str | None) -> Verdict:
    where = pool.where(row)
    try:
        [data] = pool.encoded(np.array([row]))
        image = picture(data)
    except (BadImage, UserError) as error:
        return where, b"", None, str(error)
    if min(image.size) < _min_side:
        return where, b"", None, f"{image.width} x {image.height} pixels (--min-side {_min_side})"
    return where, data, caption, ""


def _drawn(pool: Pool, rows: Rows) -> Iterator[bytes]:
    """Images of a pool that has no files, as PNG."""
    from PIL import Image

    for image in pool.images(rows, View(pool.native_size or 224)):
        buffer = io.BytesIO()
        Image.fromarray(np.ascontiguousarray(image.transpose(1, 2, 0))).save(buffer, "PNG")
        yield buffer.getvalue()


def _checked(executor: ProcessPoolExecutor, planned: Sequence[_Planned], workers: int) -> Iterator[Verdict]:
    """All images in order; a few chunks are under way at a time, and small ones if images are large, to bound memory."""
    waiting: deque[Future[list[Verdict]]] = deque()
    mean = float(CHUNK_BYTES) / 16
    todo = deque((number, rows) for c in planned for number, rows in c.parts if len(rows))
    while todo or waiting:
        while todo and len(waiting) < 2 * workers + 2:
            number, rows = todo.popleft()
            size = int(np.clip(CHUNK_BYTES / mean, 1, CHUNK_IMAGES))
            waiting.append(executor.submit(_check, number, rows[:size]))
            if len(rows) > size:
                todo.appendleft((number, rows[size:]))
        verdicts = waiting.popleft().result()
        mean = 0.8 * mean + 0.2 * max(1.0, float(np.mean([len(v[1]) for v in verdicts])))
        yield from verdicts


# ------------------------------------------------------------------------------------------------ what comes out


class _Class:
    """A class on its way: held back until it is certain to have enough images, then written as they come."""

    def __init__(self, planned: _Planned, min_images: int, writer: _Writer, report: Report) -> None:
        self._planned, self._min, self._writer, self._report = planned, min_images, writer, report
        self._known: set[bytes] = set()
        self._held: list[_Image] = []
        self._label = len(report.classes)

    def add(self, verdict: Verdict, split: int | None) -> None:
        where, data, caption, problem = verdict
        if problem:
            self._report.skipped.append((where, problem))
            return
        mark = hashlib.blake2b(data, digest_size=8).digest()
        if mark in self._known:
            self._report.duplicates += 1
            return
        self._known.add(mark)
        self._held.append(_Image(data, where, None if split is None else SPLIT_NAMES[GIVEN[split]], caption))
        if len(self._known) >= self._min:
            self._release()

    def finish(self) -> bool:
        """Whether the class is in."""
        group, name, count = self._planned.group, self._planned.name, len(self._known)
        kept = count >= max(1, self._min)
        (self._report.classes if kept else self._report.dropped).append((group, name, count))
        return kept

    def prints(self) -> NDArray[np.uint64]:
        """Fingerprints of its images."""
        return np.frombuffer(b"".join(sorted(self._known)), dtype=np.uint64)

    def _release(self) -> None:
        for image in self._held:
            self._writer.add(self._label, self._planned.group, self._planned.name, image)
        self._held = []


class _Writer:
    """Rows into row groups into the file, and the digest of all of them."""

    def __init__(self, path: Path) -> None:
        import pyarrow.parquet as pq

        self._schema = layout.schema()
        plain = ["label", "class_name", "group", "split", "caption"]
        names = [*plain, "image_bytes", "image.path", "image.bytes"]
        self._file = pq.ParquetWriter(
            path, self._schema, use_dictionary=plain, write_statistics=plain,
            compression={n: "NONE" if n == "image.bytes" else "ZSTD" for n in names},
            data_page_size=2**30, store_schema=False,  # else what is added at the end is hidden behind the stored schema
        )  # fmt: skip
        self._rows: list[dict[str, Any]] = []
        self._bytes = 0
        self._content = hashlib.blake2b(digest_size=16)

    def add(self, label: int, group: str, name: str, image: _Image) -> None:
        head = json.dumps([group, name, image.split, image.caption, len(image.data)]).encode()
        self._content.update(head)
        self._content.update(image.data)
        self._rows.append(
            {
                "image": {"bytes": image.data, "path": image.name}, "label": label, "class_name": name, "group": group,
                "split": image.split, "caption": image.caption, "image_bytes": len(image.data),
            }
        )  # fmt: skip
        self._bytes += len(image.data)
        if len(self._rows) >= layout.MAX_ROWS or self._bytes >= layout.MAX_BYTES:
            self._flush()

    def _flush(self) -> None:
        import pyarrow as pa

        if self._rows:
            self._file.write_table(pa.Table.from_pylist(self._rows, self._schema), row_group_size=len(self._rows))
        self._rows, self._bytes = [], 0

    def close(self, classes: Sequence[tuple[str, str, int]]) -> str:
        """The digest of all images and their labels."""
        self._flush()
        content = self._content.hexdigest()
        self._file.add_key_value_metadata(layout.metadata(classes, content))
        self._file.close()
        return content

    def abandon(self) -> None:
        self._file.close()
