"""Which objective on which similarity predicts accuracy best? Real training on random class sequences, every objective on each.

    python -m benchmarks.objectives --write

Trains the methods on ``--sequences`` random sequences of glyph classes by ``seqsearch edge``, and correlates the final accuracy
of each with what every objective says of it, on similarity of names, prototypes and confusion. EDGE ("The Lie of the Average: How
Class Incremental Learning Evaluation Deceives You?") expects r > 0 of ``adjacent``. Li and Hiratani (ICML 2025) report the
opposite sign for task-incremental learning, and typical classes last (r > 0 of ``typicality``) to be best.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.tools import write_result
from protocols.edge.protocol import Edge
from protocols.running.protocol import Exported
from seqsearch.distribution.correlation import similarity_correlation
from seqsearch.extremes.objective import NAMES, Objective, Problem, labels_of
from seqsearch.similarity.matrix import Similarity
from seqsearch.study.class_similarity import learned_similarity
from seqsearch.training.device import pin_threads

POOL = "glyphs:classes={},train=10,reward=10,test=15"
Row = dict[str, object]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--methods", default="er,finetune")
    parser.add_argument("--classes", type=int, default=30)
    parser.add_argument("--tasks", type=int, default=6)
    parser.add_argument("--sequences", type=int, default=40)
    parser.add_argument("--workers", default="2")
    parser.add_argument("--run", type=Path, help="use this finished run of seqsearch edge instead of training")
    parser.add_argument("--write", action="store_true", help="write benchmarks/results/objectives.json")
    a = parser.parse_args()
    pin_threads()
    pool = POOL.format(a.classes)
    with tempfile.TemporaryDirectory() as scratch:
        run = a.run or Path(scratch) / "run"
        if a.run is None:
            flags = ["--methods", a.methods, "--pool", pool, "--tasks", a.tasks, "--random-sequences", a.sequences,
                     "--workers", a.workers, "--out", run]  # fmt: skip
            subprocess.run([sys.executable, "-m", "protocols.cli", "edge", *map(str, flags)], check=True)
        found = Edge().read(run)
        sources = {
            "names": found.results.similarity,
            "prototypes": learned_similarity("prototypes", pool, images=0),
            "confusion": learned_similarity("confusion", pool),
        }
        rows = _rows(found, sources)
        extremes = {m.method: m.difference for m in found.summary.methods if m.difference}
    print(f"{'method':>12}{'similarity':>12}{'objective':>12}{'Pearson':>9}{'low':>7}{'high':>7}{'p':>7}")
    for r in rows:
        figures = "".join(f"{r[k]:>+8.2f}" for k in ("pearson", "low", "high")) + f"{r['p']:>8.4f}"
        print(f"{r['method']:>12}{r['similarity']:>12}{r['objective']:>12}{figures}")
    print("\nEasy minus hard sequence (adjacent, names), accuracy")
    for method, d in extremes.items():
        print(f"{method:>12}{d.value:>+8.3f}{d.low:>+8.3f}{d.high:>+8.3f}")
    if a.write:
        differences = {method: {"value": d.value, "low": d.low, "high": d.high} for method, d in extremes.items()}
        result = {
            "pool": pool,
            "tasks": a.tasks,
            "sequences": a.sequences,
            "easy_minus_hard": differences,
            "rows": rows,
        }
        write_result("objectives", result)


def _rows(run: Exported, sources: dict[str, Similarity]) -> list[Row]:
    # all classes of the pool are in play, so that their indices are positions
    sequences = run.results.run.sequences
    tasks = {s.sequence_id: labels_of([[c.index for c in t.classes] for t in s.tasks]) for s in sequences}
    found: list[Row] = []
    for m in run.summary.methods:
        group = m.groups["random"]
        for source, similarity in sources.items():
            for name in NAMES:
                labels = [tasks[n] for n in group.names]
                problem = Problem(similarity.values, np.bincount(labels[0]).tolist(), Objective.named(name))
                c = similarity_correlation([problem.score(x) for x in labels], group.means)
                r = c.pearson.value
                found.append(
                    {"method": m.method, "similarity": source, "objective": name, "pearson": r.value, "low": r.low,
                     "high": r.high, "p": c.pearson.p, "spearman": c.spearman.value.value, "sequences": len(labels)}
                )  # fmt: skip
    return found


if __name__ == "__main__":
    main()
