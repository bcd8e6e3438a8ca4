"""Pools of up to two million images in Parquet shards: seconds to open them, for the first batch and for the next, and memory.

    python -m benchmarks.scale.pools [--images 20000,200000,2000000] [--photos 20000] [--write]

Two measurements, each in processes of their own:

- **opening**: small images, 200 a class, in shards of 20,000 as data sets on the Hugging Face hub have them (row groups of 100 or
  of 1,000 images, shuffled), and in a file of ``seqsearch pool build``. "first" reads the files and writes the index, "again"
  uses it. A batch has 64 random images of 20 classes.
- **photos**: images of 100 kB, and a batch of 64 random images of 20 classes, beside decoding them alone. Row groups of 100 or
  of 1,000, shuffled or class by class, and a file of ``seqsearch pool build``.

Files are in the page cache: what is measured is reading and unpacking, not the disk.
"""

from __future__ import annotations

import argparse
import io
import json
import multiprocessing
import os
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from benchmarks.common.results import write_result
from seqsearch.building import writing
from seqsearch.pools.base import View, row_offsets
from seqsearch.pools.open import build_pool
from seqsearch.pools.parquet import ParquetPool
from seqsearch.pools.parts.decode import decode

PER_CLASS, SHARD, TASK, BATCH = 200, 20_000, 20, 64
TEXTURES = 50
LAYOUTS = {
    "hub, groups of 100": (100, True),
    "hub, groups of 1000": (1000, True),
    "hub, by class": (1000, False),
    "pool build": None,
}
"""Rows of a row group, and whether images are shuffled."""


def textures(side: int, quality: int) -> list[bytes]:
    """JPEGs of coarse noise under fine noise."""
    rng, made = np.random.default_rng(0), []
    for _ in range(TEXTURES):
        coarse = np.asarray(Image.fromarray(rng.integers(0, 255, (8, 8, 3), dtype=np.uint8)).resize((side, side)))
        noisy = (coarse.astype(int) + rng.integers(-20, 20, (side, side, 3))).clip(0, 255).astype(np.uint8)
        buffer = io.BytesIO()
        Image.fromarray(noisy).save(buffer, "JPEG", quality=quality)
        made.append(buffer.getvalue())
    return made


def image(made: list[bytes], number: int) -> bytes:
    """A texture that a number behind its end makes one of its own."""
    return made[number % TEXTURES] + number.to_bytes(4, "little")


def write_hub(root: Path, images: int, group: int, shuffled: bool, made: list[bytes]) -> None:
    """Shards as the library ``datasets`` writes them."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    kind = pa.struct([pa.field("bytes", pa.binary()), pa.field("path", pa.string())])
    classes = images // PER_CLASS
    names = [f"class {i}" for i in range(classes)]
    features = {"image": {"_type": "Image"}, "label": {"names": names, "_type": "ClassLabel"}}
    metadata = {"huggingface": json.dumps({"info": {"features": features}})}
    schema = pa.schema([pa.field("image", kind), pa.field("label", pa.int64())], metadata)
    labels = np.repeat(np.arange(classes), PER_CLASS)
    labels = np.random.default_rng(1).permutation(labels) if shuffled else labels
    root.mkdir()
    shards = -(-images // SHARD)
    for shard in range(shards):
        with pq.ParquetWriter(root / f"data-{shard:05d}-of-{shards:05d}.parquet", schema, write_page_index=True) as out:
            for low in range(shard * SHARD, min(images, (shard + 1) * SHARD), group):
                rows = [{"bytes": image(made, i), "path": f"{i}.jpg"} for i in range(low, low + group)]
                out.write_table(
                    pa.table([pa.array(rows, kind), labels[low : low + group]], schema=schema), row_group_size=group
                )


def write_own(path: Path, images: int, made: list[bytes]) -> None:
    """A file of ``seqsearch pool build``."""
    writer = writing.Writer(path)
    for i in range(images):
        label = i // PER_CLASS
        writer.add(label, "all", f"class {label}", writing.Image(image(made, i), f"{i}.jpg", None))
    writer.close([("all", f"class {i}", PER_CLASS) for i in range(images // PER_CLASS)])


def opened(path: str) -> dict[str, Any]:
    """Seconds to open a pool and for batches, in this process; its libraries are there already."""
    import pyarrow.parquet

    assert pyarrow.parquet
    Path("/proc/self/clear_refs").write_text("5")  # the peak of this process begins anew
    before = peak()
    start = time.perf_counter()
    pool = build_pool(path)
    ready = time.perf_counter()
    seconds = []
    for number in range(6):
        begun = time.perf_counter()
        pool.images(batch(pool, number), View(32))
        seconds.append(time.perf_counter() - begun)
    return {
        "open_seconds": ready - start,
        "first_batch_seconds": seconds[0],
        "batch_seconds": float(np.median(seconds[1:])),
        "mb": (peak() - before) / 1e6,
    }


def peak() -> int:
    """Bytes that this process has had at most (Linux)."""
    [line] = [n for n in Path("/proc/self/status").read_text().splitlines() if n.startswith("VmHWM")]
    return int(line.split()[1]) * 1024


def batch(pool: Any, number: int) -> Any:
    """Rows of random images of the first classes, as a task has them."""
    rows = int(row_offsets(pool.classes)[TASK])
    return np.random.default_rng(number).integers(rows, size=BATCH)


def photos(path: str) -> dict[str, Any]:
    """A batch of photos, beside decoding them alone."""
    pool, whole, alone = build_pool(path), [], []
    assert isinstance(pool, ParquetPool)
    for number in range(8):
        rows = batch(pool, number)
        begun = time.perf_counter()
        pool.images(rows, View(224))
        whole.append(time.perf_counter() - begun)
        files = pool.encoded(rows)
        begun = time.perf_counter()
        for data in files:
            decode(data, View(224))
        alone.append(time.perf_counter() - begun)
    return {"batch_seconds": float(np.median(whole)), "decode_seconds": float(np.median(alone))}


def fresh(function: Any, path: Path) -> dict[str, Any]:
    """Call it in a process of its own."""
    with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        found: dict[str, Any] = pool.apply(function, (str(path),))
    return found


def written(scratch: Path, layout: str, images: int, made: list[bytes]) -> Path:
    """The path of a pool that is written anew."""
    how = LAYOUTS[layout]
    path = scratch / ("pool.parquet" if how is None else "pool")
    if how is None:
        write_own(path, images, made)
    else:
        shutil.rmtree(path, ignore_errors=True)
        write_hub(path, images, *how, made)
    return path


def slopes(opening: list[dict[str, Any]]) -> dict[str, float]:
    """Of opening by the index: the exponent of the number of images, from the second largest to the largest."""
    found = {}
    for layout in LAYOUTS:
        same = [o for o in opening if o["layout"] == layout]
        if len(same) > 1:
            few, many = same[-2:]
            times = many["again"]["open_seconds"] / few["again"]["open_seconds"]
            found[layout] = float(np.log(times) / np.log(many["images"] / few["images"]))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", default="20000,200000,2000000")
    parser.add_argument("--photos", type=int, default=20_000, help="images of 100 kB")
    parser.add_argument("--write", action="store_true", help="write benchmarks/results/scale_pools.json")
    asked = parser.parse_args()
    opening, large = [], []
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        os.environ["SEQSEARCH_CACHE"] = f"{scratch}/cache"
        made = textures(32, 75)
        for images in map(int, asked.images.split(",")):
            for layout in ("hub, groups of 100", "hub, groups of 1000", "pool build"):
                path = written(scratch, layout, images, made)
                found = {"first": fresh(opened, path), "again": fresh(opened, path)}
                opening.append({"images": images, "layout": layout, **found})
                print(json.dumps(opening[-1]), flush=True)
        made = textures(520, 90)
        size = float(np.mean([len(m) for m in made])) / 1e3
        for layout in LAYOUTS:
            found = fresh(photos, written(scratch, layout, asked.photos, made))
            large.append({"images": asked.photos, "kb": size, "layout": layout, **found})
            print(json.dumps(large[-1]), flush=True)
    print(json.dumps(exponents := slopes(opening)))
    if asked.write:
        write_result("scale_pools", {"opening": opening, "slopes": exponents, "photos": large})


if __name__ == "__main__":
    main()
