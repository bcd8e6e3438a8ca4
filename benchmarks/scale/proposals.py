"""A step's proposals of CLDyB on up to 20,000 classes: seconds, memory, and how many are those of all potentials.

    python -m benchmarks.scale.proposals [--classes 1000,5000,10000,20000] [--write]

Prototypes are features in groups of about 20 classes (768 numbers, three methods); 64 candidates of 20 classes. "Dense" computes
the potentials of all pairs, "rows" those that the candidates ask for. Each runs in a process of its own on one thread. Recall is
the share of the candidates of "dense" that "rows" has, too, as sets.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import resource
import time
from typing import Any

import numpy as np

from benchmarks.common.results import write_result
from seqsearch.features.geometry import potentials
from seqsearch.features.many_potentials import ManyPotentials
from seqsearch.planners.candidates import greedy
from seqsearch.planners.candidates.base import CandidateRequest
from seqsearch.training.device import pin_threads

WIDTH, METHODS, K, CANDIDATES, GROUP, NOISE = 768, 3, 20, 64, 20, 0.7
MOST_DENSE = 10_000
"""Classes whose potentials are all computed for comparison."""


def proposed(kind: str, classes: int) -> dict[str, Any]:
    """Candidates of one way, and what they took."""
    pin_threads()
    rng = np.random.default_rng(classes)
    which = rng.integers(max(5, classes // GROUP), size=classes)
    made = []
    for _ in range(METHODS):
        centres = rng.standard_normal((which.max() + 1, WIDTH), dtype=np.float32)
        made.append(centres[which] + NOISE * rng.standard_normal((classes, WIDTH), dtype=np.float32))
    left, before = np.arange(classes), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    psi = potentials(made) if kind == "dense" else ManyPotentials(made, left)
    tasks = greedy.propose(CandidateRequest(left, K, CANDIDATES, np.random.default_rng(1), psi=psi))
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"seconds": seconds, "mb": (peak - before) / 1e3, "tasks": [sorted(map(int, t)) for t in tasks]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--classes", default="1000,5000,10000,20000")
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    rows = []
    for classes in map(int, asked.classes.split(",")):
        kinds = ["rows", *(["dense"] if classes <= MOST_DENSE else [])]
        with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
            found = {kind: pool.apply(proposed, (kind, classes)) for kind in kinds}
        tasks = {kind: {tuple(t) for t in f.pop("tasks")} for kind, f in found.items()}
        recall = len(tasks["rows"] & tasks["dense"]) / len(tasks["dense"]) if "dense" in tasks else None
        rows.append({"classes": classes, **found, "recall": recall})
        print(json.dumps(rows[-1]), flush=True)
    if asked.write:
        write_result("scale_proposals", {"rows": rows})


if __name__ == "__main__":
    main()
