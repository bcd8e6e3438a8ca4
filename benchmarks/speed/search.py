"""How well the engine uses its workers, and what sharing prefixes saves.

    python -m benchmarks.speed.search [--workers 2] [--write]

One study with a method that trains its backbone (a training takes about two seconds on one core). Printed: the workers' busy
share between the first and the last job, trainings done against naive retraining, and the wall time against its limit (the
same trainings, evaluations and probes with no gap between them).
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from pathlib import Path

from benchmarks.common.results import seqsearch, write_result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--methods", default="er")
    parser.add_argument("--write", action="store_true", help="write benchmarks/results/search.json")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        out, start = Path(scratch) / "run", time.perf_counter()
        flags = ["--pool", "glyphs:classes=400", "--tasks", "5", "--simulations", "8", "--score-seeds", "1"]
        said = seqsearch(
            "cldyb",
            "--methods",
            arguments.methods,
            *flags,
            "--workers",
            str(arguments.workers),
            "--out",
            str(out),
            "--json",
        )
        wall = time.perf_counter() - start
        stats = json.loads(said)["stats"]
        entries = [json.loads(line) for line in (out / "journal.jsonl").read_text().splitlines()]
    edges = [e["edge"] for e in entries if "edge" in e]
    probes = sum(e["probe"]["seconds"] for e in entries if "probe" in e)
    work = probes + sum(e["train_seconds"] + e["judge_seconds"] for e in edges)
    result = {
        "workers": arguments.workers,
        "methods": arguments.methods,
        "seconds_per_training": sum(e["train_seconds"] for e in edges) / len(edges),
        "busy_share": stats["busy_share"],
        "trained": stats["trained"],
        "naive": stats["naive"],
        "saved_ratio": stats["naive"] / stats["trained"],
        "wall_seconds": wall,
        "limit_seconds": work / arguments.workers,
        "wall_over_limit": wall * arguments.workers / work,
    }
    for name, value in result.items():
        print(f"{name:22} {value if isinstance(value, str | int) else round(value, 3)}")
    print("wall_seconds holds the start of Ray, of the workers and the report; busy_share does not")
    if arguments.write:
        write_result("search", result)


if __name__ == "__main__":
    main()
