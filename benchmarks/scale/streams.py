"""Online continual learning on up to 40 million samples: time, memory and files, and where the time goes.

    python -m benchmarks.scale.streams [--samples 100000,...] [--features 10000,...] [--folder DIR] [--write]

- ``labels``: a Parquet file of labels (713 classes, bursts of mean length 10) with times. ``seqsearch stream show`` describes
  it. ``seqsearch online`` plays it to blind, majority and random with S = 256, first with two workers of Ray, then in one
  process, and the finished run is resumed. Phases begin with lines that the command prints.
- ``features``: the same with 64 features, through ``seqsearch stream build``, played to ncm, slda and fc_only in one process;
  acm up to `MOST_ACM` samples. Seconds of a learner are those that the run records, of learning and of evaluating at two
  shifts. ``arithmetic``: its products alone, over batches in memory.

Each command is a process of its own. Memory is the peak of all its processes, shared pages counted once.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import torch

from benchmarks.common.results import Memory, write_result
from seqsearch.training.device import pin_threads

CLASSES, LENGTH, DIM, BATCH, SHIFT, PIECE = 713, 10, 64, 64, 256, 1 << 16
LABELS, FEATURES = "blind,majority,random", "ncm,slda,fc_only"
MOST_ACM = 100_000
PHASES = {"run ": "open", "learning: ": "start", "writing tables": "play"}
"""What ends with the first line that begins so; the rest is ``write``."""
Value = dict[str, Any]


def make(path: Path, n: int, dim: int = 0) -> None:
    rng, prior = np.random.default_rng(0), 1 / np.arange(1, CLASSES + 1)
    centres = rng.standard_normal((CLASSES, dim), dtype=np.float32)
    fields = [pa.field("label", pa.uint16()), pa.field("time", pa.int64())]
    fields += [pa.field("features", pa.list_(pa.float32()))] * bool(dim)
    with pq.ParquetWriter(path, pa.schema(fields)) as out:
        for first in range(0, n, PIECE):
            size = min(PIECE, n - first)
            runs = rng.geometric(1 / LENGTH, size // LENGTH * 2 + 10)
            y = np.repeat(rng.choice(CLASSES, len(runs), p=prior / prior.sum()), runs)[:size]
            columns = [pa.array(y, pa.uint16()), pa.array(np.arange(first, first + size))]
            if dim:
                x = centres[y] + 1.5 * rng.standard_normal((size, dim), dtype=np.float32)
                ends = pa.array(np.arange(0, size * dim + 1, dim), pa.int32())
                columns.append(pa.ListArray.from_arrays(ends, pa.array(x.ravel())))
            out.write_table(pa.Table.from_arrays(columns, schema=out.schema))


def measured(*arguments: object) -> Value:
    """Seconds, peak memory [MB] and seconds by phase of a command."""
    begun, phases, last = time.perf_counter(), dict[str, float](), 0.0
    command = [sys.executable, "-u", "-m", "protocols.cli", *map(str, arguments)]
    with (
        subprocess.Popen(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as ended,
        Memory(pid=ended.pid) as memory,
    ):
        assert ended.stdout is not None
        for line in ended.stdout:
            phase = next((p for begins, p in PHASES.items() if line.startswith(begins)), None)
            if phase and phase not in phases:
                now = time.perf_counter() - begun
                phases[phase], last = round(now - last, 2), now
    seconds = time.perf_counter() - begun
    if ended.returncode:
        raise SystemExit(f"{' '.join(command)}: {ended.returncode}")
    parts = {"phases": {**phases, "write": round(seconds - last, 2)}} if phases else {}
    return {"seconds": round(seconds, 2), "mb": round(memory.peak / 1e6), **parts}


def labels(n: int, folder: Path) -> Value:
    stream, run, alone = folder / "labels.parquet", folder / "run", folder / "alone"
    make(stream, n)
    play = (
        "online",
        "--stream",
        stream,
        "--methods",
        LABELS,
        "--seeds",
        1,
        "--batch",
        BATCH,
        "--shift",
        SHIFT,
        "--out",
    )
    found = {
        "samples": n,
        "show": measured("stream", "show", stream),
        "workers": measured(*play, run, "--workers", 2),
        "alone": measured(*play, alone, "--workers", 0),
        "resume": measured("online", "--resume", run),
    }
    sizes = {p.name: p.stat().st_size for p in run.iterdir()}
    files = {"journal": sizes["journal.jsonl"], "page": sizes["report.html"], "all": sum(sizes.values())}
    return {**found, "files": files}


def features(n: int, folder: Path) -> Value:
    source, stream, found = folder / "source.parquet", folder / "features.parquet", dict[str, Value]()
    make(source, n, DIM)
    built = measured("stream", "build", source, stream)
    for methods in (FEATURES, *["acm"] * (n <= MOST_ACM)):
        play = ("--methods", methods, "--seeds", 1, "--batch", BATCH, "--shift", SHIFT, "--workers", 0)
        run = folder / methods
        whole = measured("online", "--stream", stream, *play, "--out", run)
        for row in pq.read_table(run / "figures.parquet").to_pylist():
            if row["learning_seconds"] is not None and row["shift"] == 0:
                seconds = row["learning_seconds"] + row["judging_seconds"]
                found[row["method_id"]] = {"seconds": seconds, "us": 1e6 * seconds / row["n"], "run_mb": whole["mb"]}
    return {"samples": n, "build": built, "learners": found}


def arithmetic(steps: int = 500) -> dict[str, float]:
    """Microseconds a sample of the products of a step: predictions for two batches, and what is learned of one."""
    pin_threads()
    x, weight, bias = torch.randn(BATCH, DIM), torch.randn(CLASSES, DIM), torch.zeros(CLASSES)
    y, sums = torch.randint(CLASSES, (BATCH,)), torch.zeros(CLASSES, DIM)
    sigma, means = torch.eye(DIM), torch.randn(DIM, CLASSES, dtype=torch.float64)

    def predict() -> torch.Tensor:
        return torch.addmm(bias, x, weight.T)

    def slda() -> None:
        sigma.addmm_(x.T, x, beta=1.0, alpha=1e-6)
        torch.cholesky_solve(means, torch.linalg.cholesky_ex(sigma.double())[0])

    learned: Mapping[str, Callable[[], object]] = {
        "ncm": lambda: sums.index_add_(0, y, x),
        "slda": slda,
        "fc_only": lambda: torch.mm(predict().T, x),
    }
    found = {}
    for name, learn in learned.items():
        times = []
        for _ in range(steps):
            begun = time.perf_counter()
            predict(), predict(), learn()
            times.append(time.perf_counter() - begun)
        found[name] = 1e6 * float(np.median(times)) / BATCH
    return found


def slopes(rows: Sequence[Value], seconds: Callable[[Value], float | None]) -> list[float]:
    """Of time against samples in log-log, from each size to the next where both were measured."""
    known = [(r["samples"], s) for r in rows if (s := seconds(r)) is not None]
    return [math.log(t / s) / math.log(m / n) for (n, s), (m, t) in pairwise(known)]


def in_folders(sizes: str, measure: Callable[[int, Path], Value], above: Path | None) -> list[Value]:
    rows = []
    for n in map(int, filter(None, sizes.split(","))):
        with tempfile.TemporaryDirectory(dir=above) as folder:
            rows.append(measure(n, Path(folder)))
        print(json.dumps(rows[-1]), flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", default="100000,1000000,10000000,40000000")
    parser.add_argument("--features", default="10000,100000,1000000")
    parser.add_argument("--folder", type=Path, help="for streams and runs, up to 2 GB; removed at the end")
    parser.add_argument("--write", action="store_true", help="write benchmarks/results/scale_streams.json")
    asked = parser.parse_args()
    played = in_folders(asked.samples, labels, asked.folder)
    of_features = in_folders(asked.features, features, asked.folder)
    kinds = {name: slopes(played, lambda r, name=name: r[name]["seconds"]) for name in ("show", "workers", "alone")}
    steep = {
        **kinds,
        "play": slopes(played, lambda r: r["alone"]["phases"]["play"]),
        **{
            m: slopes(of_features, lambda r, m=m: r["learners"].get(m, {}).get("seconds"))
            for m in (*FEATURES.split(","), "acm")
        },
    }
    result = {"labels": played, "features": of_features, "arithmetic_us": arithmetic(), "slopes": steep}
    print(json.dumps({n: result[n] for n in ("arithmetic_us", "slopes")}))
    if asked.write:
        write_result("scale_streams", result)


if __name__ == "__main__":
    main()
