"""Data that stand in for those of an entry: the same layout, few classes, few images, each class a colour with noise on it."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from protocols.evaluate.published.records import Data
from seqsearch.core.digests import seeded_numpy
from seqsearch.pools.stand_in import NAMED
from seqsearch.storage.files import atomic_path

BURST = 4
"""Mean length of a burst of a stream."""
DIFFERENT = 6
"""Different images of a class of a stream."""


@dataclass(frozen=True)
class Size:
    """How large stand-in data are.

    Attributes:
        classes: of each data set; of one with groups at least one for each group.
        images: of a class of a pool.
        parts: samples of a stream to search on, to play, and to hold out.
        side: of an image, in pixels.
    """

    classes: int
    images: int
    parts: tuple[int, int, int] = (200, 400, 60)
    side: int = 24


def write_stand_in(path: Path, data: Data, size: Size) -> None:
    """Write stand-in data for ``data`` at ``path``, unless the path exists.

    The data are a stream or a Parquet pool, which lies in a folder if the name has no suffix. If the ledger counts no
    classes, they are a folder of images for each group.
    """
    if path.exists():
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    if data.kind == "stream":
        _write(path, _stream(data, size))
    elif not data.classes:
        _write_folders(path, data, size)
    elif path.suffix:
        _write(path, _pool(data, size))
    else:
        path.mkdir()
        _write(path / f"{path.name}.parquet", _pool(data, size))


def classes_of(data: Data, size: Size) -> list[tuple[str, str]]:
    """Group and name of each class; data without groups have one, which is empty."""
    groups = data.groups or ("",)
    return [
        (group, f"{NAMED}{group or data.name} {number:03d}")
        for at, group in enumerate(groups)
        for number in range(max(1, len(range(at, size.classes, len(groups)))))
    ]


def _images(name: str, count: int, side: int) -> list[bytes]:
    """Of a class, as files."""
    from PIL import Image

    rng, found = seeded_numpy("stand-in", name), []
    colour = rng.integers(60, 190, 3)
    for _ in range(count):
        pixels = np.clip(colour + rng.normal(0, 40, (side, side, 3)), 0, 255).astype(np.uint8)
        Image.fromarray(pixels).save(file := io.BytesIO(), "png")
        found.append(file.getvalue())
    return found


def _pool(data: Data, size: Size) -> dict[str, Sequence[Any]]:
    rows = [
        (group, name, image)
        for group, name in classes_of(data, size)
        for image in _images(name, size.images, size.side)
    ]
    columns: dict[str, Sequence[Any]] = {"image": [r[2] for r in rows], "label": [r[1] for r in rows]}
    if data.groups:
        columns["group"] = [r[0] for r in rows]
    if data.kind == "pairs":
        columns["caption"] = [f"a thing of shade {i % 7}" for i in range(len(rows))]
    return columns


def _stream(data: Data, size: Size) -> dict[str, Sequence[Any]]:
    names = [name for _, name in classes_of(data, size)]
    shown, total = [_images(name, DIFFERENT, size.side) for name in names], sum(size.parts)
    rng = seeded_numpy("stand-in stream", data.name)
    begins = np.where(rng.random(total) < 1 / BURST, np.arange(total), 0)
    labels = rng.integers(0, len(names), total)[np.maximum.accumulate(begins)].tolist()
    which = rng.integers(0, DIFFERENT, total).tolist()
    parts = [part for part, n in zip(("search", "main", "holdout"), size.parts, strict=True) for _ in range(n)]
    return {
        "label": [names[c] for c in labels],
        "part": parts,
        "image": [shown[c][i] for c, i in zip(labels, which, strict=True)],
    }


def _write(path: Path, columns: dict[str, Sequence[Any]]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with atomic_path(path) as temporary:
        pq.write_table(pa.table(columns), temporary, compression="none", use_dictionary=False)


def _write_folders(path: Path, data: Data, size: Size) -> None:
    for group, name in classes_of(data, size):
        folder = path / group / name
        folder.mkdir(parents=True)
        for number, image in enumerate(_images(name, size.images, size.side)):
            (folder / f"{number:02d}.png").write_bytes(image)
