"""Overhead of trials on Ray Tune: the wall time of a sweep over the time of training alone, shared by the workers.

    python -m benchmarks.speed.tuning [--write] [--workers 2] [--trials 10] [--orders 2] [--tasks 3] [--seconds 10]

It runs the real command line in a process of its own, Ray's start included. ``seqsearch gtep`` chooses among
``--trials`` settings of a method that learns by sleeping, and evaluates the chosen one. The method is
`benchmarks/speed/sleeping_method.py`, which busy cores do not slow.

Trainings record when they began and ended, so the time of each worker is split into four parts:

- before its first training: the command's start, Ray, and the worker's own imports, pools and backbone;
- between trainings of one trial: evaluation, the report, the journal;
- between trials, the longest of which is between the choice and the evaluation;
- after the last training: export, Ray's end.

``processes`` is the number of processes that worked. It equals the number of workers if each is used again for all
trials, with the images and networks that it has. ``load`` is the number of processes that wanted a core, on average
over the minute before the start.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from benchmarks.common.results import seqsearch, write_result

METHOD = Path(__file__).parent / "sleeping_method.py"
POOL = "glyphs:classes={classes},half={half},train=2,reward=2,test=2"


def sweep(workers: int, trials: int, orders: int, tasks: int, seconds: float) -> dict[str, Any]:
    """One run, and where the time of its workers went [s]."""
    classes = 4 * tasks  # two a task in each half
    with tempfile.TemporaryDirectory() as scratch:
        begun, load = time.time(), os.getloadavg()[0]
        seqsearch(
            "gtep",
            "--methods",
            f"{METHOD}:Sleeper:seconds={seconds}",
            "--backbone",
            "scratch:tiny-16",
            "--tune-pool",
            POOL.format(classes=classes, half=1),
            "--pool",
            POOL.format(classes=classes, half=2),
            "--tasks",
            str(tasks),
            "--trials",
            str(trials),
            "--orders",
            str(orders),
            "--workers",
            str(workers),
            "--quiet",
            "--json",
            "--out",
            f"{scratch}/run",
        )
        wall = time.time() - begun
        trained = pq.read_table(f"{scratch}/run/trainings.parquet").to_pylist()
    return {
        "workers": workers,
        "trials": trials,
        "orders": orders,
        "tasks": tasks,
        "seconds": seconds,
        "load": load,
        "wall_seconds": wall,
        **shares(trained, workers, begun, begun + wall),
    }


def shares(trained: list[dict[str, Any]], workers: int, begun: float, over: float) -> dict[str, Any]:
    """Where the time of workers went between two moments [s]."""
    by_worker: dict[str, list[tuple[float, float, str]]] = {}
    for row in trained:
        notes = json.loads(row["notes"])
        by_worker.setdefault(row["worker"], []).append((notes["began"], notes["ended"], row["method_id"]))
    results, trials, firsts = [], [], []
    for spans in by_worker.values():
        spans.sort()
        firsts.append(spans[0][0] - begun)
        for (_, ended, one), (began, _, other) in pairwise(spans):
            (results if one == other else trials).append(began - ended)
    work = sum(ended - began for spans in by_worker.values() for began, ended, _ in spans)
    ended = max(span[1] for spans in by_worker.values() for span in spans)
    return {
        "own_work_seconds": work,
        "wall_over_work": (over - begun) * workers / work,
        "trainings": len(trained),
        "processes": len(by_worker),
        "start_seconds": min(firsts),
        "last_start_seconds": max(firsts),
        "between_results_seconds": _middle(results),
        "between_trials_seconds": _middle(trials),
        "longest_between_seconds": max(results + trials, default=0.0),
        "end_seconds": over - ended,
    }


def _middle(values: list[float]) -> dict[str, float]:
    return {"number": len(values), "median": statistics.median(values) if values else 0.0, "sum": sum(values)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("workers", 2), ("trials", 6), ("orders", 2), ("tasks", 3)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--seconds", type=float, default=10.0, help="of a training; a trial is orders x tasks of them")
    parser.add_argument("--write", action="store_true", help="write benchmarks/results/tuning.json")
    given = parser.parse_args()
    found = sweep(given.workers, given.trials, given.orders, given.tasks, given.seconds)
    for name, value in found.items():
        print(f"{name:26}", value if isinstance(value, dict) else f"{value:.4g}")
    if given.write:
        write_result("tuning", found)


if __name__ == "__main__":
    main()
