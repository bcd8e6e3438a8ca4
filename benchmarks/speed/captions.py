"""How fast a pool of a million captioned images is opened, and texts of random images are read.

    python -m benchmarks.speed.captions [--rows 1000000] [--texts 1] [--write]

Printed: seconds to write the file, to open the pool, and to the first batch of 64 texts, which reads the column once; the
median time of a batch of 64 random ones after it, for each policy; seconds to split all classes by whole adverts; and the peak
memory of all that in a process of its own. Images are a few bytes each, and are not decoded.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.common.results import Memory, write_result
from seqsearch.building.writing import Image, Writer

CLASSES = 286
"""As many as in the paper's largest data set."""
PER_ADVERT = 4
LENGTH = 160
"""Characters of a text, about."""
COLOURS = ("blue", "red", "silver", "dark grey", "black")

READ = """
import json, resource, sys, time
import numpy as np, torch, pyarrow.parquet
from seqsearch.pools.base import Split
from seqsearch.pools.open import build_pool
import seqsearch.pools.parquet
path, start, said = sys.argv[1], time.perf_counter(), {}
pool = build_pool(path)
said["open_seconds"] = time.perf_counter() - start
total, rng = sum(c.count for c in pool.classes), np.random.default_rng(0)
start = time.perf_counter()
pool.texts(rng.integers(0, total, 64))
said["first_batch_seconds"] = time.perf_counter() - start
generator = torch.Generator().manual_seed(0)
for policy in ("first", "concat", "random"):
    pool.policy, times = policy, []
    for _ in range(200):
        rows = rng.integers(0, total, 64)
        start = time.perf_counter()
        texts = pool.drawn_texts(rows, generator)
        times.append(time.perf_counter() - start)
    said[f"batch_of_64_ms_{policy}"] = 1e3 * float(np.median(times))
said["characters"] = float(np.mean([len(t) for t in pool.texts(rng.integers(0, total, 1000))]))
start = time.perf_counter()
split = Split(pool, 0)
for index in range(len(pool.classes)):
    split.counts(index)
said["split_seconds"] = time.perf_counter() - start
print(json.dumps(said))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--texts", type=int, default=1, help="of each image")
    parser.add_argument("--write", action="store_true", help="write benchmarks/results/captions.json")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        path, start = Path(scratch) / "pool.parquet", time.perf_counter()
        rows = _write(path, arguments.rows, arguments.texts)
        result = {"rows": rows, "texts": arguments.texts, "write_seconds": time.perf_counter() - start}
        result["megabytes"] = path.stat().st_size / 1e6
        with Memory(0.05) as memory:
            command = [sys.executable, "-c", READ, str(path)]
            result |= json.loads(subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout)
        result["peak_gb"] = memory.peak / 1e9
    for name, value in result.items():
        print(f"{name:28} {value if isinstance(value, int) else round(value, 3)}")
    if arguments.write:
        write_result("captions", result)


def _write(path: Path, rows: int, texts: int) -> int:
    """A pool of sentences of about `LENGTH` characters, bound together by adverts; how many rows it has."""
    writer, rng = Writer(path, captioned=True, bound=True), np.random.default_rng(0)
    per_class = rows // CLASSES
    for label in range(CLASSES):
        numbers = rng.integers(0, 100_000, (per_class, texts))
        for i, own in enumerate(numbers.tolist()):
            said = [_sentence(n) for n in own]
            image = Image(b"%d" % i, f"{i}.jpg", None, said, f"{label}-{i // PER_ADVERT}")
            writer.add(label, "cars", f"class {label:03d}", image)
    writer.close([("cars", f"class {c:03d}", per_class) for c in range(CLASSES)])
    return per_class * CLASSES


def _sentence(number: int) -> str:
    text = f"the color is {COLOURS[number % 5]}, the runned miles is {number}, the price is {number * 7 % 40_000}, the reg "
    more = "year is 2012, the bodytype is saloon, the fuel type is diesel, the gearbox is manual."
    return text + more[: LENGTH - len(text)]


if __name__ == "__main__":
    main()
