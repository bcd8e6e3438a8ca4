"""Compares the data sets of an entry on disk with the ledger's record of them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from protocols.evaluate.published.records import Data, Entry, Ledger
from seqsearch.core.digests import digest_of
from seqsearch.core.errors import UserError
from seqsearch.pools.base import is_captioned
from seqsearch.pools.open import build_pool
from seqsearch.pools.stand_in import MARK, NAMED
from seqsearch.streams.open import build_stream


@dataclass(frozen=True)
class DatasetOnDisk:
    """A data set as it lies there.

    Attributes:
        digest: of the pool or stream; of names, sizes and times of files where the ledger counts no classes.
        odd: what is other than the ledger says, where that may be; empty: nothing.
    """

    digest: str
    odd: str = ""


def on_disk(ledger: Ledger, entry: Entry, data: Path) -> dict[str, DatasetOnDisk]:
    """The data sets of an entry in the folder ``data``, by name.

    Raises:
        UserError: one is no pool (no stream), is stand-in data, or has other classes or images than the ledger says, where that
            may not be.
    """
    return {d.name: _on_disk(entry, d, data / d.path) for d in ledger.needed(entry)}


def _on_disk(entry: Entry, data: Data, path: Path) -> DatasetOnDisk:
    if not data.classes:
        if any(p.name.startswith(NAMED) for p in path.glob("*/*")):
            raise _standing_in(entry, data, path)
        return DatasetOnDisk(_files(path))
    digest, classes, images = _counted(data, path)
    if digest.endswith(MARK):
        raise _standing_in(entry, data, path)
    counts = {"classes": (classes, data.classes), "images": (images, data.images)}
    odd = [
        (what, f"{there:,} {what}, not {said:,}") for what, (there, said) in counts.items() if said and there != said
    ]
    if wrong := [text for what, text in odd if what not in data.may_differ]:
        raise UserError(
            f"{entry.name} was not run: {path} is not {data.name} as the ledger has it: {'; '.join(wrong)}; {data.where}"
        )
    return DatasetOnDisk(digest, "; ".join(text for _, text in odd))


def _standing_in(entry: Entry, data: Data, path: Path) -> UserError:
    return UserError(
        f"{entry.name} was not run: {path} is stand-in data (reproduce --miniature), not {data.name}: {data.where}"
    )


def _counted(data: Data, path: Path) -> tuple[str, int, int]:
    """Digest, classes and images (samples of a stream, all parts together).

    Raises:
        UserError: it cannot be opened as what it should be.
    """
    if data.kind == "stream":
        stream = build_stream(str(path))
        return stream.digest, len(stream.classes), len(stream)
    pool = build_pool(str(path))
    if data.kind == "pairs" and not is_captioned(pool):
        raise UserError(f"{path} has no texts, and {data.name} is of images with texts: {data.where}")
    return pool.digest, len(pool.classes), sum(c.count for c in pool.classes)


def _files(path: Path) -> str:
    """Of the names, sizes and times of the files in a folder."""
    found = [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file())
    stats = [p.stat() for p in found]
    rows = [[str(p.relative_to(path)), s.st_size, s.st_mtime_ns] for p, s in zip(found, stats, strict=True)]
    return "files-" + digest_of(rows)
