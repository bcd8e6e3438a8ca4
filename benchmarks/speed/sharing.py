"""Trainings that a search does, against retraining every rollout's whole prefix, as sequences grow longer.

    python -m benchmarks.speed.sharing [--write] [--tasks 5,10,40]

Whole runs of ``seqsearch cldyb`` with SimpleCIL on glyphs, with real training, search and scoring. What is counted does not
depend on the method: a rollout asks for the states along its tasks, and each is trained once.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time

from benchmarks.common.results import seqsearch, write_result

FLAGS = "--methods simplecil --pool glyphs:train=8,reward=4,test=4 --classes-per-task 5 --score-seeds 1 --workers 0"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", default="5,10,40")
    parser.add_argument("--write", action="store_true", help="write benchmarks/results/sharing.json")
    arguments = parser.parse_args()
    rows = []
    print(f"{'tasks':>5}{'trainings':>11}{'naive':>9}{'naive / done':>14}{'seconds':>9}")
    for tasks in map(int, arguments.tasks.split(",")):
        with tempfile.TemporaryDirectory() as scratch:
            start = time.perf_counter()
            said = seqsearch("cldyb", *FLAGS.split(), "--tasks", str(tasks), "--out", f"{scratch}/run", "--json")
            seconds = time.perf_counter() - start
        stats = json.loads(said)["stats"]
        row = {"tasks": tasks, "trained": stats["trained"], "naive": stats["naive"], "seconds": round(seconds, 1)}
        row["saved_ratio"] = round(stats["naive"] / stats["trained"], 2)
        rows.append(row)
        print(
            f"{tasks:5d}{row['trained']:11d}{row['naive']:9d}{row['saved_ratio']:14.2f}{row['seconds']:9.1f}",
            flush=True,
        )
    if arguments.write:
        write_result("sharing", {"flags": FLAGS, "runs": rows})


if __name__ == "__main__":
    main()
