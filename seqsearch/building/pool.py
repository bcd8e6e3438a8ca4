"""Make one Parquet pool of folders, Parquet files and other pools: every image is read and decoded once, and kept as it is.

Images that cannot be decoded, are tiny, or come twice in a class are left out, classes with too few images are dropped, and all
of it is reported. The result is the same whatever the number of workers.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqsearch.building.aliases import Alias, by_images, by_name, in_several
from seqsearch.building.captioned import Captioned, Found
from seqsearch.building.checking import CHUNK_IMAGES, Checked, Checker
from seqsearch.building.planned import ImageMetadata, Planned, plan
from seqsearch.building.writing import Image as _Image
from seqsearch.building.writing import TemporaryCopy
from seqsearch.building.writing import Writer as _Writer
from seqsearch.core.errors import UserError
from seqsearch.core.text import counted, printable
from seqsearch.pools.base import Pool
from seqsearch.pools.parquet import ParquetPool
from seqsearch.pools.parts.subset import Subset
from seqsearch.storage.files import atomic_path

Observe = Callable[[str, int, int, int], None]
"""Called now and then with what is done (copying, checking), images done, images in all, images skipped."""


@dataclass(frozen=True)
class Options:
    """Criteria for classes and images that the pool keeps.

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
    """Report of a build: the pool's contents, and all that was left out."""

    classes: list[tuple[str, str, int]] = field(default_factory=list)
    """Group, name, images."""
    content: str = ""
    """Digest of all images, labels, splits and captions, in order."""
    skipped: list[tuple[str, str]] = field(default_factory=list)
    """Image, reason."""
    duplicates: int = 0
    """Images that came again in their class."""
    shared: int = 0
    """Different images that are in several classes."""
    dropped: list[tuple[str, str, int]] = field(default_factory=list)
    """Group, name and usable images of classes that had too few."""
    emptied: list[tuple[str, str, int]] = field(default_factory=list)
    """Group and name of those of them that lost images since all their captions held the class's name, and how many."""
    aliases: list[Alias] = field(default_factory=list)
    merged: list[Alias] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)
    """Files that are no images by their names, the first of them."""
    ignored_count: int = 0
    notes: list[str] = field(default_factory=list)
    captions: dict[str, Found] = field(default_factory=dict)
    """Findings about captions by source: leaks, the audit of columns, omissions."""

    @property
    def images(self) -> int:
        return sum(n for _, _, n in self.classes)


def build_parquet(
    sources: Sequence[tuple[str, Pool]],
    out: Path,
    options: Options,
    workers: int,
    observe: Observe = lambda what, done, total, skipped: None,
) -> Report:
    """Write ``out`` from named pools and say what became of their images.

    Raises:
        UserError: no class is left, a source cannot be read, or the file cannot be written.
    """
    if 0 < options.max_images < options.min_images:
        raise UserError(
            f"--max-images {options.max_images} is below --min-images {options.min_images}: no class would be left"
        )
    report = Report()
    planned, report.merged = plan(sources, options.merge_aliases)
    for _, pool in sources:
        report.ignored += map(printable, getattr(pool, "ignored", ()))
        report.ignored_count += getattr(pool, "ignored_count", 0)
        report.notes += getattr(pool, "notes", ())
    with atomic_path(out) as temporary, contextlib.ExitStack() as stack:
        opened = [_readable(pool, out, stack, observe) for _, pool in sources]
        texts = ImageMetadata(sources)
        report.notes += [texts.note] * bool(texts.note)
        writer = _Writer(temporary, captioned=texts.captioned, bound=texts.bound)
        stack.callback(writer.abandon)
        checker = stack.enter_context(Checker(opened, options.min_side, workers))
        prints = _write(planned, checker, writer, texts, options, report, observe)
        if not report.classes:
            raise UserError(_none_left(report, options))
        report.content = writer.close(report.classes)
    kept = [(g, n) for g, n, _ in report.classes]
    named = by_name(kept)
    known = {(a.first, a.second) for a in named}
    report.aliases = named + [a for a in by_images(kept, prints) if (a.first, a.second) not in known]
    report.shared = in_several(prints)
    return report


def _none_left(report: Report, options: Options) -> str:
    """Why no class is left."""
    why = []
    if lost := sum(n for _, _, n in report.emptied):
        group, name, _ = report.emptied[0]
        why.append(
            f"all captions of {counted(lost, 'image')} hold the name of their class, e.g. {f'{group}/{name}'!r}: --leaks keep, "
            "or other captions or columns"
        )
    if report.skipped or not why:
        example = f", e.g. {': '.join(report.skipped[0])}" if report.skipped else ""
        why.append(f"{len(report.skipped)} images were unusable{example}")
    return f"no class is left: none has {options.min_images} usable images (--min-images); {'; '.join(why)}"


def _write(
    planned: Sequence[Planned],
    checker: Checker,
    writer: _Writer,
    texts: ImageMetadata,
    options: Options,
    report: Report,
    observe: Observe,
) -> list[NDArray[np.uint64]]:
    """All classes, one after the other; fingerprints of the images of those that are kept."""
    prints, done = [], 0
    chosen = [c.pieces(options.max_images, options.seed) for c in planned]
    total = sum(len(rows) for pieces in chosen for _, rows in pieces)
    checked = checker.stream(itertools.chain.from_iterable(chosen))
    for c, pieces in zip(planned, chosen, strict=True):
        own = _Class(c, options.min_images, writer, texts, report)
        for number, rows in pieces:
            found = zip(rows.tolist(), itertools.islice(checked, len(rows)), texts.texts(number, rows), strict=True)
            for row, image, captions in found:
                own.add(number, row, image, captions)
                done += 1
                if done % CHUNK_IMAGES == 0 or done == total:
                    observe("checking", done, total, len(report.skipped))
        spare = c.spare(options.max_images, options.seed) if own.count < options.max_images else []
        while spare and (missing := options.max_images - own.count) > 0:
            more, spare = spare[:missing], spare[missing:]
            for (number, row), image in zip(more, checker.stream((n, np.array([r])) for n, r in more), strict=True):
                own.add(number, row, image, next(texts.texts(number, np.array([row]))))
        if own.finish():
            prints.append(own.prints())
    return prints


def _readable(pool: Pool, out: Path, stack: contextlib.ExitStack, observe: Observe) -> Any:
    """The pool, or what stands for it where its images cannot be read one by one."""
    if isinstance(pool, Captioned):
        return _readable(pool.base, out, stack, observe)
    if isinstance(pool, Subset):
        return pool.over(_readable(pool.base, out, stack, observe))
    if not isinstance(pool, ParquetPool) or pool.verbatim:
        return pool
    handle, name = tempfile.mkstemp(dir=out.parent, prefix=f".{out.name}.", suffix=".images")
    os.close(handle)
    stack.callback(Path(name).unlink)
    total = sum(c.count for c in pool.classes)
    return TemporaryCopy(pool, Path(name), lambda done: observe("copying", min(done, total), total, 0))


# ------------------------------------------------------------------------------------------------ what comes out


class _Class:
    """A class on its way: held back until it is certain to have enough images, then written as they come."""

    def __init__(
        self, planned: Planned, min_images: int, writer: _Writer, texts: ImageMetadata, report: Report
    ) -> None:
        self._planned, self._min, self._writer, self._texts = planned, min_images, writer, texts
        self._report, self._label = report, len(report.classes)
        self._marks: set[bytes] = set()
        self._held: list[_Image] = []

    @property
    def count(self) -> int:
        """Usable images so far."""
        return len(self._marks)

    def add(self, number: int, row: int, image: Checked, captions: tuple[list[str], str | None]) -> None:
        """The next image, from that row of that source, with its captions and what it is bound to."""
        path = self._texts.path(number, image.where)
        if image.problem:
            self._report.skipped.append((path, image.problem))
        elif image.mark in self._marks:
            self._report.duplicates += 1
        else:
            self._marks.add(image.mark)
            self._held.append(self._texts.image(number, row, image, captions))
            if len(self._marks) >= self._min:
                self._release()

    def finish(self) -> bool:
        """Whether the class is in."""
        kept = self.count >= max(1, self._min)
        entry = self._planned.group, self._planned.name, self.count
        (self._report.classes if kept else self._report.dropped).append(entry)
        if not kept and self._planned.emptied:
            self._report.emptied.append((self._planned.group, self._planned.name, self._planned.emptied))
        return kept

    def prints(self) -> NDArray[np.uint64]:
        """Fingerprints of its images."""
        return np.frombuffer(b"".join(mark[:8] for mark in sorted(self._marks)), dtype=np.uint64)

    def _release(self) -> None:
        for image in self._held:
            self._writer.add(self._label, self._planned.group, self._planned.name, image)
        self._held = []
