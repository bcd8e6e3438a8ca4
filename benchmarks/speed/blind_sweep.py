"""Blind classifiers over a stream of the size of CLOC: seconds and memory, beside a bare pass over the labels.

    python -m benchmarks.speed.blind_sweep [--labels 39000000] [--write]

Labels of 713 classes by Zipf's law, in bursts of mean length 10, are written to a Parquet column and read back in chunks. All
16 windows and 19 shifts of the paper's code, by sample; then by batch as well (B = 128). ``bare``: seconds of one thread to
count the labels of a sliding window of 10, with no mode looked for; ``ratio``: processor seconds of the sweep by sample over
those of 17 bare passes (16 windows and the majority). ``--write`` stores benchmarks/results/blind_sweep.json.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from benchmarks.common.results import Memory, write_result
from seqsearch.core.compiled import compiled
from seqsearch.stats.blind import WINDOWS, sweep
from seqsearch.stats.blind_kernels import Labels

CLASSES, LENGTH, BATCH = 713, 10, 128


def write(path: Path, n: int) -> None:
    rng = np.random.default_rng(0)
    prior = 1 / np.arange(1, CLASSES + 1)
    with pq.ParquetWriter(path, pa.schema([("label", pa.uint16())])) as out:
        for left in range(n, 0, -1_000_000):
            size = min(left, 1_000_000)
            runs = rng.geometric(1 / LENGTH, size // LENGTH * 2 + 10)
            y = np.repeat(rng.choice(CLASSES, len(runs), p=prior / prior.sum()), runs)[:size]
            out.write_table(pa.table({"label": pa.array(y, pa.uint16())}))


def read(path: Path) -> Iterator[NDArray[np.integer]]:
    for batch in pq.ParquetFile(path).iter_batches(1 << 20, columns=["label"]):
        yield batch.column(0).to_numpy()


@compiled
def bare(labels: Labels, k: int, counts: NDArray[np.int64]) -> None:
    for j in range(k, labels.size):
        counts[labels[j]] += 1
        counts[labels[j - k]] -= 1


def timed(path: Path, batch: int | None) -> dict[str, Any]:
    with Memory() as memory:
        wall, used = time.perf_counter(), time.process_time()
        sweep(read(path), batch=batch, classes=CLASSES)
        found = {"seconds": time.perf_counter() - wall, "processor_seconds": time.process_time() - used}
    return {**found, "peak_mb": memory.peak / 1e6}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--labels", type=int, default=39_000_000)
    parser.add_argument("--write", action="store_true", help="write benchmarks/results/blind_sweep.json")
    a = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "labels.parquet"
        write(path, a.labels)
        small = np.zeros(300_000, np.uint16)  # compiles
        sweep(small, batch=BATCH)
        counts = np.zeros(CLASSES, np.int64)
        bare(small[:100], 10, counts)
        y = np.concatenate(list(read(path)))
        start = time.thread_time()
        bare(y, 10, counts)
        once = time.thread_time() - start
        del y
        by_sample, both = timed(path, None), timed(path, BATCH)
    ratio = by_sample["processor_seconds"] / (once * (len(WINDOWS) + 1))
    result = {"labels": a.labels, "bare": once, "by_sample": by_sample, "both": both, "ratio": ratio}
    print(result)
    if a.write:
        write_result("blind_sweep", result)


if __name__ == "__main__":
    main()
