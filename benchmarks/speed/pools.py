"""How fast a pool is built, opened and read, against Pillow and plain reads alone; and a pool of millions of images.

    python -m benchmarks.speed.pools [--images 100000] [--large 2500000] [--workers 2] [--write]

Printed: images per second of ``pool build`` against a bare loop that reads, decodes and writes the same files with as many
processes; seconds to open the result; the time for a scattered batch of 64 against reading those bytes and decoding them
alone; and for the large pool the seconds to open it and the peak memory of a search step on it.
"""

from __future__ import annotations

import argparse
import io
import multiprocessing
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from PIL import Image

from benchmarks.common.results import Memory, seqsearch, write_result
from seqsearch.building import writing
from seqsearch.pools.base import View
from seqsearch.pools.open import build_pool
from seqsearch.pools.parquet import ParquetPool
from seqsearch.pools.parts.decode import decode

PER_CLASS = 100
CLASSES = 2403
"""Of the large pool, as many as in the paper's."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=100_000)
    parser.add_argument("--large", type=int, default=2_500_000, help="rows of the large pool; 0: leave it out")
    parser.add_argument("--side", type=int, default=64, help="of the JPEGs, pixels")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--write", action="store_true", help="write benchmarks/results/pools.json")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        root, out = Path(scratch) / "images", Path(scratch) / "pool.parquet"
        _write_jpegs(root, arguments.images, arguments.side)
        result = {"images": arguments.images, "workers": arguments.workers, **_build(root, out, arguments)}
        result |= {"open_seconds": _opening(out)} | _random_access(out)
        if arguments.large:
            out.unlink()
            result |= _large(Path(scratch), arguments.large, arguments.workers)
    for name, value in result.items():
        print(f"{name:28} {value if isinstance(value, int) else round(value, 3)}")
    if arguments.write:
        write_result("pools", result)


def _jpegs(number: int, side: int) -> Iterator[bytes]:
    """Distinct JPEGs: a few textures, each made its own by a comment behind the image."""
    rng = np.random.default_rng(0)
    textures = []
    for _ in range(50):
        coarse = Image.fromarray(rng.integers(0, 255, (8, 8, 3), dtype=np.uint8)).resize((side, side))
        noisy = np.asarray(coarse).astype(int) + rng.integers(-20, 20, (side, side, 3))
        buffer = io.BytesIO()
        Image.fromarray(noisy.clip(0, 255).astype(np.uint8)).save(buffer, "JPEG", quality=85)
        textures.append(buffer.getvalue())
    for i in range(number):
        yield textures[i % 50] + i.to_bytes(4, "little")


def _write_jpegs(root: Path, number: int, side: int) -> None:
    for i, data in enumerate(_jpegs(number, side)):
        folder = root / f"class {i // PER_CLASS:05d}"
        if i % PER_CLASS == 0:
            folder.mkdir(parents=True)
        (folder / f"{i:07d}.jpg").write_bytes(data)


# ------------------------------------------------------------------------------------------------ building


def _build(root: Path, out: Path, arguments: argparse.Namespace) -> dict[str, float]:
    """Both in turn, so that the machine is the same for both; the median of each."""
    files = sorted(str(p) for p in root.rglob("*.jpg"))
    ours, bare, peak = [], [], 0
    for _ in range(arguments.repeats):
        start = time.perf_counter()
        with multiprocessing.get_context("spawn").Pool(arguments.workers) as pool:
            pool.starmap(_bare_loop, [(files[i :: arguments.workers], f"{out}.{i}") for i in range(arguments.workers)])
        bare.append(time.perf_counter() - start)
        start = time.perf_counter()
        with Memory() as memory:
            flags = ["--workers", str(arguments.workers), "--force", "--json"]
            seqsearch("pool", "build", str(root), str(out), *flags)
        ours.append(time.perf_counter() - start)
        peak = max(peak, memory.peak)
    rates = [len(files) / statistics.median(times) for times in (ours, bare)]
    return {
        "build_images_per_second": rates[0],
        "bare_images_per_second": rates[1],
        "build_over_bare": rates[0] / rates[1],
        "build_peak_mb": peak / 1e6,
    }


def _bare_loop(files: list[str], out: str) -> None:
    with open(out, "wb") as target:
        for file in files:
            with open(file, "rb") as opened:
                data = opened.read()
            Image.open(io.BytesIO(data)).load()
            target.write(data)


# ------------------------------------------------------------------------------------------------ reading


def _opening(path: Path) -> float:
    """Seconds to open a pool in a fresh process, imports aside."""
    code = (
        "import sys, time, pyarrow.parquet; from seqsearch.pools.open import build_pool; import seqsearch.pools.parquet\n"
        "start = time.perf_counter(); pool = build_pool(sys.argv[1]); assert pool.verbatim\n"
        "print(time.perf_counter() - start)"
    )
    said = subprocess.run([sys.executable, "-c", code, str(path)], check=True, text=True, stdout=subprocess.PIPE)
    return float(said.stdout)


def _random_access(path: Path, rounds: int = 30) -> dict[str, float]:
    """A batch of 64 scattered images through the pool, and the same bytes read and decoded without it."""
    pool, view = build_pool(str(path)), View(64)
    assert isinstance(pool, ParquetPool)
    column = pool._columns[0]
    rng, file = np.random.default_rng(0), os.open(path, os.O_RDONLY)
    total = sum(c.count for c in pool.classes)
    ours, bare = [], []
    for _ in range(rounds):
        rows = rng.integers(0, total, 64)
        places = list(zip(column._places[rows].tolist(), column._lengths[rows].tolist(), strict=True))
        start = time.perf_counter()
        alone = np.stack([decode(os.pread(file, length, place + 4), view) for place, length in places])
        middle = time.perf_counter()
        through = pool.images(rows, view)
        ours.append(time.perf_counter() - middle)
        bare.append(middle - start)
        np.testing.assert_array_equal(alone, through)
    os.close(file)
    return {
        "batch_of_64_ms": 1e3 * statistics.median(ours),
        "batch_over_bare": statistics.median(ours) / statistics.median(bare),
    }


# ------------------------------------------------------------------------------------------------ millions


def _large(scratch: Path, rows: int, workers: int) -> dict[str, float]:
    """A pool of the paper's size: opened, and one step of a search on it."""
    path = scratch / "large.parquet"
    writer, per_class = writing.Writer(path), rows // CLASSES
    for i, data in enumerate(_jpegs(per_class * CLASSES, 16)):
        label = i // per_class
        writer.add(label, f"group {label % 26:02d}", f"class {label:04d}", writing.Image(data, f"{i}.jpg", None))
    writer.close([(f"group {c % 26:02d}", f"class {c:04d}", per_class) for c in range(CLASSES)])
    seconds = _opening(path)
    os.environ["SEQSEARCH_CACHE"] = str(scratch / "cache")
    start = time.perf_counter()
    with Memory() as memory:
        seqsearch(
            "cldyb",
            "--pool",
            str(path),
            "--methods",
            "simplecil",
            "--tasks",
            "2",
            "--classes-per-task",
            "10",
            "--probe-images",
            "5",
            "--random-sequences",
            "0",
            "--score-seeds",
            "1",
            "--workers",
            str(workers),
            "--out",
            str(scratch / "run"),
            "--quiet",
        )
    return {
        "large_rows": per_class * CLASSES,
        "large_open_seconds": seconds,
        "large_step_seconds": time.perf_counter() - start,
        "large_step_peak_gb": memory.peak / 1e9,
    }


if __name__ == "__main__":
    main()
