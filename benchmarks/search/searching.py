"""Savings and losses of ``--scheduler asha``, and gain of ``--searcher optuna``, beside plain random search.

    python -m benchmarks.search.searching [--ways fifo,asha,optuna] [--trials 20] [--seeds 8] [--methods replay] [--write [NAME]]

``seqsearch gtep --workers 0`` runs on two halves of a glyph pool, once for each seed and way of searching:

- ``fifo``: random settings that learn all tasks, the plain random search of the paper;
- ``asha``: the same settings, of which the worse two thirds are stopped after task 2;
- ``optuna``: as many settings proposed by Optuna. The first ten are random draws, so there must be more.

A seed draws classes, orders and settings, and all ways share them, so differences are paired. Savings are in trainings
of the first phase, and in images that it was stepped on (passes). H is of the chosen settings, on the half that had no
part in the choice. Intervals are Student's, over seeds. Results so far are written after each seed.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray
from scipy import stats

from benchmarks.common.results import write_rows
from protocols.cli.main import main as command_line

POOL = "glyphs:classes=24,half={half},train=10,reward=10,test=20,strength=0.7"
TASKS, ORDERS = 4, 2
WAYS = {"fifo": (), "asha": ("--scheduler", "asha"), "optuna": ("--searcher", "optuna")}


def rows(methods: str, seed: int, ways: Sequence[str], trials: int) -> list[dict[str, Any]]:
    """Return the cost and the result of each way of searching, for each method."""
    found = []
    for way in ways:
        with tempfile.TemporaryDirectory() as scratch:
            arguments = [
                "gtep", "--methods", methods, "--backbone", "scratch:tiny-16", "--tune-pool", POOL.format(half=1),
                "--pool", POOL.format(half=2), "--tasks", str(TASKS), "--trials", str(trials), "--orders", str(ORDERS),
                "--eval-orders", "4", "--seed", str(seed), "--workers", "0", "--quiet", "--json", "--out", f"{scratch}/run",
                *WAYS[way],
            ]  # fmt: skip
            with contextlib.redirect_stdout(io.StringIO()):
                command_line(arguments, standalone_mode=False)
            tried, table = (
                pq.read_table(Path(scratch) / "run" / f"{n}.parquet").to_pylist() for n in ("trials", "table")
            )
        for row in table:
            own = [t for t in tried if t["method_id"] == row["method_id"]]
            found.append(
                {
                    "seed": seed,
                    "method": row["method_id"],
                    "way": way,
                    "trainings": sum(t["trainings"] for t in own),
                    "passes": sum(t["passes"] for t in own),
                    "tuned": max(t["harmonic_mean"] or 0.0 for t in own),
                    "judged": row["harmonic_mean"],
                }
            )
    return found


def compared(found: list[dict[str, Any]], method: str, ways: Sequence[str]) -> dict[str, Any]:
    """Of one method: shares saved and points of H gained each way beside the first, mean over seeds and 95 % interval."""
    made: dict[str, Any] = {"method": method}
    first, *others = ways
    for way in others:
        for figure in ("trainings", "passes"):
            made[f"{way}_{figure}_saved"] = _mean(
                1 - _of(found, method, way, figure) / _of(found, method, first, figure)
            )
        for figure in ("tuned", "judged"):
            gained = _of(found, method, way, figure) - _of(found, method, first, figure)
            made[f"{way}_h_{figure}_gained"] = _mean(100 * gained)
    return made


def _of(found: list[dict[str, Any]], method: str, way: str, figure: str) -> NDArray[np.float64]:
    same = [r for r in found if r["method"] == method and r["way"] == way]
    return np.array([r[figure] for r in sorted(same, key=lambda r: r["seed"])], dtype=np.float64)


def _mean(values: NDArray[np.float64]) -> list[float]:
    """Mean, and the ends of its 95 % interval."""
    mean, half = float(values.mean()), float("nan")
    if len(values) > 1:
        half = float(stats.t.ppf(0.975, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values)))
    return [round(v, 4) for v in (mean, mean - half, mean + half)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--methods", default="replay")
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--write", nargs="?", const="searching", metavar="NAME", help="file in benchmarks/results")
    given = parser.parse_args()
    found: list[dict[str, Any]] = []
    ways = given.ways.split(",")
    for seed in range(given.seeds):
        for row in rows(given.methods, seed, ways, given.trials):
            found.append(row)
            print("  ".join(f"{k} {v:.4g}" if isinstance(v, float) else f"{k} {v}" for k, v in row.items()), flush=True)
        all_of = [compared(found, method, ways) for method in dict.fromkeys(r["method"] for r in found)]
        if given.write:
            write_rows(given.write, {"seeds": seed + 1, "compared": all_of, "runs": found})
    for row in all_of:
        print("  ".join(f"{k} {v}" for k, v in row.items()))


if __name__ == "__main__":
    main()
