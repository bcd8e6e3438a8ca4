"""Files of streams: how sound ones are made, and how seqsearch reads them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from seqsearch.building.stream import build_stream_file
from seqsearch.building.stream_lists import of_csv, of_list
from seqsearch.building.stream_sources import of_features
from seqsearch.pools.base import View
from seqsearch.streams.described import described
from seqsearch.streams.open import build_stream
from tests.unit.streams.made import features_file, photos


def of_features_file(folder: Path) -> list[Path]:
    """A stream of features."""
    return [features_file(folder, 40)[0]]


def of_photos(embed: bool) -> Callable[[Path], list[Path]]:
    """A stream of images, by path or in the file."""

    def make(folder: Path) -> list[Path]:
        lines = [f"{p[0]}\t{p}\n" for p in photos(folder, 12)]
        (folder / "list.txt").write_text("".join(lines))
        build_stream_file({"main": of_list(folder / "list.txt", folder)}, folder / "stream.parquet", embed=embed)
        return [folder / "stream.parquet"]

    return make


def of_others(folder: Path) -> list[Path]:
    """A file that no tool of ours wrote."""
    n = 60
    columns = {
        "label": ["owl", "cat"] * (n // 2), "time": list(range(n)), "part": ["search"] * 9 + ["main", "holdout", "main"] * 17,
    }  # fmt: skip
    pq.write_table(pa.table(columns), folder / "stream.parquet")
    return [folder / "stream.parquet"]


def read_stream(folder: Path) -> None:
    """Open it, describe it, and look at samples."""
    stream = build_stream(str(folder / "stream.parquet"))
    described(stream)
    rows = stream.rows[:30]
    given = getattr(stream.pool, "given_features", None)
    if given is None:
        stream.pool.images(rows, View(8))
    elif getattr(stream.pool, "dim", 0):
        given(rows)


def arrays(folder: Path) -> list[Path]:
    """Features and labels that a stream is made of."""
    features_file(folder, 40)
    return [folder / "f.npy", folder / "y.npy"]


def read_arrays(folder: Path) -> None:
    """Make a stream of them."""
    build_stream_file({"main": of_features(folder / "f.npy", folder / "y.npy", None)}, folder / "made.parquet")


def tables(folder: Path) -> list[Path]:
    """A list and a CSV file."""
    paths = photos(folder, 12)
    (folder / "list.txt").write_text("".join(f"{p[0]}\t{p}\t0\n" for p in paths))
    (folder / "t.csv").write_text("path,time\n" + "".join(f"{p},{i}\n" for i, p in enumerate(paths)))
    return [folder / "list.txt", folder / "t.csv"]


def read_tables(folder: Path) -> None:
    """Make a stream of each."""
    for source in (of_list(folder / "list.txt", folder), of_csv(folder / "t.csv", folder)):
        build_stream_file({"main": source.sorted(asked=True)}, folder / "made.parquet", skip_missing=True)
