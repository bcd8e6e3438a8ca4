"""Does similarity of classes predict accuracy on pictures? EDGE's premise, by three similarities, on features of clip art.

    python -m benchmarks.real.similarity clipart.parquet [--random 30] [--runs runs/real] [--write]

``seqsearch edge`` with all classes in ten tasks, once with each similarity: of the classes' names (character n-grams), of
prototypes, and of what a nearest-class-mean classifier confuses. A run has the extreme sequences by its similarity, and random
ones, which are the same in all three. "r" is Spearman's correlation of S with accuracy over the random sequences, with its 95 %
interval. All is conditional on this pool, its split and these methods.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.common.results import seqsearch, write_rows
from benchmarks.real.running import THEMSELVES, Runs, arguments, features_of, on_layers

METHODS = (*map(on_layers, ("er", "icarl", "slca", "finetune")), f"frozen_head@{THEMSELVES}")
SOURCES = ("names", "prototypes", "confusion")
TASKS = 10
Row = dict[str, Any]


def compared(runs: Runs, pool: Path, source: str, random: int) -> list[Row]:
    """A row for each method and for their mean."""
    matrix = runs.folder / f"{source}.parquet"
    if not matrix.exists():
        backbone = () if source == "names" else ("--backbone", THEMSELVES)
        seqsearch("similarity", source, "--pool", features_of(pool), *backbone, "--out", str(matrix))
    words = (
        "--pool",
        features_of(pool),
        "--methods",
        ",".join(METHODS),
        "--tasks",
        str(TASKS),
        "--similarity",
        str(matrix),
    )
    further = ("--random-sequences", str(random), "--rs-seeds", "", "--crossed-orders", "0", "--seed", "0")
    said = runs.answer(f"edge-{source}", "edge", *words, *further, "--state-store", str(runs.folder / "states"))
    return [_row(source, method, said["estimates"]) for method in METHODS]


def _row(source: str, method: str, estimates: Sequence[Row]) -> Row:
    """The figures of one method."""
    own = {(e["about"], e["figure"]): e for e in estimates if e["method_id"] == method}
    r, gap = own["random, S", "spearman"], own["extremes", "easy_minus_hard"]
    return {
        "similarity": source,
        "method": method,
        "random": own["random", "mean"]["value"],
        "sd": own["random", "sd"]["value"],
        "hard": own["hard", "accuracy"]["value"],
        "easy": own["easy", "accuracy"]["value"],
        "gap": gap["value"],
        "gap_low": gap["low"],
        "gap_high": gap["high"],
        "p_hard": own["extremes", "p_hard"]["value"],
        "p_easy": own["extremes", "p_easy"]["value"],
        "r": r["value"],
        "low": r["low"],
        "high": r["high"],
        "r_p": own["random, S", "spearman_p"]["value"],
    }


def main() -> None:
    given = arguments(__doc__, "clipart", random=30)
    runs = Runs(given.runs)
    rows = [row for source in SOURCES for row in compared(runs, given.clipart, source, given.random)]
    for row in rows:
        print("  ".join(f"{k} {v:.3f}" if isinstance(v, float) else f"{k} {v}" for k, v in row.items()))
    if given.write:
        write_rows("real_similarity", {"tasks": TASKS, "rows": rows, "costs": runs.costs})


if __name__ == "__main__":
    main()
