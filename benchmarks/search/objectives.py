"""Which objective on which similarity predicts accuracy best, and are its extremes extreme? Real training on class sequences.

    python -m benchmarks.search.objectives --write

Trains the methods on ``--sequences`` random sequences of glyph classes by ``seqsearch edge``, and correlates the final accuracy
of each with what every objective says of it, on similarity of names, prototypes and confusion. EDGE ("The Lie of the Average: How
Class Incremental Learning Evaluation Deceives You?") expects r > 0 of ``adjacent``. Li and Hiratani (ICML 2025) report the
opposite sign for task-incremental learning, and typical classes last (r > 0 of ``typicality``) to be best.

The hard and the easy sequence of each of `EXTREMES` are evaluated by their rank among the random ones, in a run each. 24
correlations are looked at: a p-value is to be held against .05 / 24.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.common.results import write_result
from protocols.edge.protocol import EDGE
from protocols.running.protocol import Exported
from seqsearch.extremes.objective import NAMES, Objective, Problem, labels_of
from seqsearch.similarity.matrix import Similarity
from seqsearch.stats.regression import similarity_correlation
from seqsearch.study.class_similarity import learned_similarity
from seqsearch.training.device import pin_threads

POOL = "glyphs:classes={},train=10,reward=10,test=15"
EXTREMES = (("names", "adjacent"), ("prototypes", "adjacent"), ("prototypes", "within"))
"""Similarity and objective whose extremes are trained; the first is the one whose random sequences are correlated."""
Row = dict[str, object]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--methods", default="er,finetune")
    parser.add_argument("--classes", type=int, default=30)
    parser.add_argument("--tasks", type=int, default=6)
    parser.add_argument("--sequences", type=int, default=40)
    parser.add_argument("--workers", default="2")
    parser.add_argument("--runs", type=Path, help="folder of the runs; those that are finished are used as they are")
    parser.add_argument("--write", action="store_true", help="write benchmarks/results/objectives.json")
    a = parser.parse_args()
    pin_threads()
    pool = POOL.format(a.classes)
    with tempfile.TemporaryDirectory() as scratch:
        runs = []
        for similarity, objective in EXTREMES:
            run = (a.runs or Path(scratch)) / f"{similarity}-{objective}"
            if not (run / "report.html").exists():
                flags = ["--methods", a.methods, "--pool", pool, "--tasks", a.tasks, "--random-sequences", a.sequences,
                         "--similarity", similarity, "--objective", objective, "--workers", a.workers, "--out", run]  # fmt: skip
                subprocess.run([sys.executable, "-m", "protocols.cli", "edge", *map(str, flags)], check=True)
            runs.append(EDGE.read(run))
        sources = {
            "names": runs[0].results.similarity,
            "prototypes": learned_similarity("prototypes", pool, images=0),
            "confusion": learned_similarity("confusion", pool),
        }
        rows = _rows(runs[0], sources)
        extremes = [row for names, run in zip(EXTREMES, runs, strict=True) for row in _extremes(*names, run)]
    _print(rows, extremes)
    if a.write:
        shape = {"pool": pool, "tasks": a.tasks, "sequences": a.sequences}
        write_result("objectives", {**shape, "extremes": extremes, "rows": rows})


def _print(rows: list[Row], extremes: list[Row]) -> None:
    print(f"{'method':>12}{'similarity':>12}{'objective':>12}{'Pearson':>9}{'low':>8}{'high':>8}{'p':>8}")
    for r in rows:
        figures = f"{r['pearson']:>+9.2f}" + "".join(f"{r[k]:>+8.2f}" for k in ("low", "high")) + f"{r['p']:>8.4f}"
        print(f"{r['method']:>12}{r['similarity']:>12}{r['objective']:>12}{figures}")
    print(
        "\nHard and easy sequence among the random ones: verdict, p-values, accuracy of easy minus hard with training noise"
    )
    for r in extremes:
        p = f"{r['p_hard']:>8.3f}{r['p_easy']:>8.3f}"
        difference = "".join(f"{r[k]:>+8.3f}" for k in ("easy_minus_hard", "low", "high"))
        print(f"{r['method']:>12}{r['similarity']:>12}{r['objective']:>12}{r['claim']:>10}{p}{difference}")


def _extremes(similarity: str, objective: str, run: Exported) -> list[Row]:
    """Return the test results of a run's extremes, a row for each method."""
    return [
        {
            "method": m.method,
            "similarity": similarity,
            "objective": objective,
            "claim": m.claim,
            "p_hard": m.test.p_hard,
            "p_easy": m.test.p_easy,
            "p_hard_above": m.test.p_hard_above,
            "p_easy_below": m.test.p_easy_below,
            "easy_minus_hard": m.difference.value,
            "low": m.difference.low,
            "high": m.difference.high,
        }
        for m in run.summary.methods
        if m.test and m.difference
    ]


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
                c = similarity_correlation([problem.score(x) for x in labels], group.first)
                r = c.pearson.value
                found.append(
                    {
                        "method": m.method,
                        "similarity": source,
                        "objective": name,
                        "pearson": r.value,
                        "low": r.low,
                        "high": r.high,
                        "p": c.pearson.p,
                        "spearman": c.spearman.value.value,
                        "sequences": len(labels),
                    }
                )
    return found


if __name__ == "__main__":
    main()
