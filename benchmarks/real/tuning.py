"""Hyperparameters chosen on half of the clip art, and evaluated on the other half (GTEP), on features.

    python -m benchmarks.real.tuning clipart.parquet [--trials 5] [--runs runs/real] [--write]

``seqsearch gtep --conventional --originals`` in both directions: from the first half to the second, and back. Of each method: the
harmonic mean H on the half that had no part in the choice, by the settings chosen on the other half, by those chosen on the half
that is evaluated (the conventional protocol), and by the defaults here.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.common.results import write_rows
from benchmarks.real.running import THEMSELVES, Runs, arguments, features_of, on_layers

METHODS = (*map(on_layers, ("er", "icarl", "slca", "ewc")), f"frozen_head@{THEMSELVES}")
SIZES = ("--tasks", "4", "--classes-per-task", "8", "--orders", "2", "--eval-orders", "6")
Row = dict[str, Any]


def asked(pool: Path, half: int, trials: int) -> tuple[str, ...]:
    """The command that goes from one half to the other."""
    tune, evaluate = (f"{features_of(pool)},half={number}" for number in (half, 3 - half))
    words = ("--tune-pool", tune, "--pool", evaluate, "--methods", ",".join(METHODS), "--trials", str(trials), *SIZES)
    return "gtep", *words, "--conventional", "--originals", "--seed", "0"


def evaluated(said: Row, pool: Path, half: int) -> list[Row]:
    """From one half to the other: a row for each method."""
    evaluate = f"{features_of(pool)},half={3 - half}"
    H = {(r["method_id"], r["use"]): r["harmonic_mean"] for r in said["table"] if r["pool"] == evaluate}
    rows = []
    for each in (c for c in said["compared"] if c["pool"] == evaluate):
        row: Row = {"tuned_on": half, "method": each["method"]}
        row |= {use: H.get((each["method"], use)) for use in ("tuned", "conventional", "original")}
        for figure in ("regret", "gain_over_original"):
            row |= {
                f"{figure}{end}": each[figure]["value"][key]
                for end, key in (("", "value"), ("_low", "low"), ("_high", "high"))
            }
        rows.append(row)
    return rows


def main() -> None:
    given = arguments(__doc__, "clipart", trials=5)
    runs = Runs(given.runs)
    answers = runs.answers({f"gtep-{half}": asked(given.clipart, half, given.trials) for half in (1, 2)})
    rows = [row for half, said in zip((1, 2), answers, strict=True) for row in evaluated(said, given.clipart, half)]
    for row in rows:
        print("  ".join(f"{k} {v:.3f}" if isinstance(v, float) else f"{k} {v}" for k, v in row.items()))
    if given.write:
        write_rows("real_tuning", {"trials": given.trials, "rows": rows, "costs": runs.costs})


if __name__ == "__main__":
    main()
