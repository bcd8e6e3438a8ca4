"""Files of captions: how sound ones are made, and how seqsearch reads them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from seqsearch.building.caption_files import read_captions
from seqsearch.building.caption_tables import columns_of, read_coded, sentences
from seqsearch.building.leaks import without_leaks
from seqsearch.building.matching import matched
from seqsearch.building.writing import Image as Written
from seqsearch.building.writing import Writer
from seqsearch.pools.base import ClassInfo
from tests.unit.pools.test_parquet import png


def captioned_pool(folder: Path) -> list[Path]:
    """A pool whose images have captions, and are bound together."""
    writer = Writer(folder / "x.parquet", captioned=True, bound=True)
    for i in range(8):
        writer.add(0, "g", "class", Written(png(i), f"{i}.png", None, (f"image {i}", "no\u00e9l"), f"advert {i // 2}"))
    writer.close([("g", "class", 8)])
    return [folder / "x.parquet"]


def texts_in(name: str) -> Callable[[Path], list[Path]]:
    """Captions in a file, or a folder, of this name."""

    def make(folder: Path) -> list[Path]:
        records = [{"image": f"a/{i}.png", "text": f"image {i}", "ad": i, "size": i / 2} for i in range(4)]
        if name.endswith(".csv"):
            lines = ["image,text,ad,size", *(",".join(map(str, r.values())) for r in records)]
            (folder / name).write_text("\n".join(lines))
        elif name.endswith(".jsonl"):
            (folder / name).write_text("\n".join(map(json.dumps, records)))
        elif name.endswith(".parquet"):
            pq.write_table(pa.Table.from_pylist(records), folder / name)
        else:
            (folder / name / "a").mkdir(parents=True)
            (folder / name / "a" / "0.txt").write_text("one\ntwo")
        return [folder / name / "a" / "0.txt"] if "." not in name else [folder / name]

    return make


def read_texts(folder: Path) -> None:
    """As `seqsearch pool build --captions` reads them: records, clauses, whose they are, leaks."""
    path = next(folder.iterdir())
    records = read_captions(path, None if path.is_dir() else "ad", as_table=False)
    if records.table is not None:
        names, _ = columns_of(records.table, "size,text", [])
        sentences({name: read_coded(records.table, name) for name in names})
    matched(records, [f"a/{i}.png" for i in range(4)], "root", captioned_only=True)
    without_leaks([ClassInfo("image", "g", len(records.texts))], records.texts, "full")
