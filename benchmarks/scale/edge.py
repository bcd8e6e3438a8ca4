"""Plans of EDGE on up to 100,000 classes: time against the budget, memory against the matrix, and the bound.

    python -m benchmarks.scale.edge [--classes 100,1000,5000,20000] [--budget 60] [--write]
    python -m benchmarks.scale.edge --features --classes 1000,20000,100000 [--write]

A matrix holds the cosines of features in groups of about 20 classes, in single precision; with ``--features`` the plan is made
from the features themselves. Each plan is a process of its own: ``seqsearch edge --plan-only --budget``.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.common.results import write_result

DIMENSIONS, GROUP, NOISE, ROWS = 64, 20, 0.7, 1000
TASKS = {100: 10, 1_000: 20, 5_000: 50, 20_000: 100, 100_000: 200}
"""Tasks, by classes."""


def features(classes: int) -> NDArray[np.float32]:
    """Of so many classes ``[N, d]``, of length 1."""
    rng = np.random.default_rng(classes)
    centres = rng.normal(size=(max(5, classes // GROUP), DIMENSIONS))
    x = centres[rng.integers(len(centres), size=classes)] + NOISE * rng.normal(size=(classes, DIMENSIONS))
    return np.asarray(x / np.linalg.norm(x, axis=1, keepdims=True), np.float32)


def written(folder: Path, classes: int) -> Path:
    """A matrix of so many classes, a part at a time."""
    x, path = features(classes), folder / f"{classes}.npy"
    matrix = np.lib.format.open_memmap(path, "w+", np.float32, (classes, classes))
    for i in range(0, classes, ROWS):
        matrix[i : i + ROWS] = x[i : i + ROWS] @ x.T
    for i in range(0, classes, ROWS):
        matrix[i:, i : i + ROWS] = matrix[i : i + ROWS, i:].T
    matrix.flush()
    return path


def planned(matrix: Path, similarity: str, classes: int, budget: float) -> dict[str, Any]:
    """What a plan printed and took."""
    out = matrix.with_suffix("")
    tasks = TASKS.get(classes, max(2, classes // 50))
    command = [
        sys.executable,
        "-m",
        "protocols.cli",
        "edge",
        "--plan-only",
        "--similarity",
        similarity,
        "--tasks",
        tasks,
    ]
    command += ["--budget", budget, "--out", out, "--json"]
    start = time.perf_counter()
    with open(matrix.with_suffix(".json"), "w+") as said:
        process = subprocess.Popen([*map(str, command)], stdout=said, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        assert status == 0
        said.seek(0)
        found = json.load(said)
    notes = {n["code"]: n["values"] for n in found["coded"]["notes"]}
    ends = {
        end: {
            "sd_from_mean": (e["value"] - found["mean"]) / found["sd"],
            "moves": e["moves"],
            "share_of_the_way_to_the_bound": None
            if e["bound"] is None
            else (e["value"] - found["mean"]) / (e["bound"] - found["mean"]),
        }
        for end in ("hard", "easy")
        for e in found[end][:1]
    }
    return {
        "classes": classes,
        "tasks": tasks,
        "matrix_mb": matrix.stat().st_size / 1e6,
        "budget": budget,
        "times_the_budget": notes["edge.plan_budget"]["ratio"],
        "process_seconds": seconds,
        "process_mb": usage.ru_maxrss / 1e3,
        "times_the_matrix": notes.get("edge.plan_memory", {}).get("ratio"),
        **ends,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--classes", default=",".join(map(str, list(TASKS)[:-1])))
    parser.add_argument("--features", action="store_true")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--budget", type=float, default=60.0)
    asked = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for classes in map(int, asked.classes.split(",")):
            if asked.features:
                path = Path(folder) / f"{classes}.npy"
                np.save(path, features(classes))
                rows.append(planned(path, f"features:{path}", classes, asked.budget))
            else:
                path = written(Path(folder), classes)
                rows.append(planned(path, str(path), classes, asked.budget))
            print(json.dumps(rows[-1], indent=1), flush=True)
            path.unlink()
    if asked.write:
        write_result("scale_edge_features" if asked.features else "scale_edge", {"rows": rows})


if __name__ == "__main__":
    main()
