"""Which temperatures annealing should run through: how far from the best known value it ends, at equal numbers of moves.

    python -m benchmarks.search.extremes_schedule [--seeds 2] [--write]

A case is a similarity matrix (those of `benchmarks.search.extremes`), a number of tasks, an objective and a direction; N = 30,
100 and 200. Shortfall: (best - value) / (best - mean of random sequences), best being that of all runs of the case, in percent;
one restart from a random sequence. Gain: how much less that is than with the first schedule, with its standard error over cases
(means over seeds, which start alike). Temperatures are in units of the root mean square change that a random exchange makes.
Annealing's own constants are set anew for each schedule: nothing else differs.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from collections.abc import Iterator

import numpy as np

from benchmarks.common.results import write_result
from benchmarks.search.extremes import matrices
from seqsearch.extremes import anneal
from seqsearch.extremes.objective import Objective, Problem, random_labels, task_sizes
from seqsearch.extremes.tables import terms_of
from seqsearch.training.device import pin_threads

SCHEDULES = ((0.2, 0.08), (0.2, 0.05), (0.3, 0.05), (0.3, 0.03), (0.4, 0.05), (0.4, 0.03))
"""(hot, cold); the first is what the others are compared with."""

MOVES = (20_000, 100_000, 500_000)
"""Tried beside the default number of moves."""

SHAPES = ((30, 5, 6), (30, 10, 6), (100, 10, 2), (100, 20, 2), (200, 20, 1))
"""Classes, tasks, and seeds for each one asked for: small cases vary more and cost less."""

OBJECTIVES = ("adjacent", "lags", "within")

Runs = dict[tuple[float, float], list[tuple[float, float]]]
"""(value, seconds) of every seed, by schedule."""


def cases(n: int, k: int) -> Iterator[tuple[Problem, float]]:
    """Problems of a shape, and 1 (small scores) or -1 (large ones); other objectives than S on two matrices only."""
    for number, matrix in enumerate(matrices(n).values()):
        for objective in OBJECTIVES[: 3 if number < 2 else 1]:
            problem = Problem(matrix, task_sizes(n, k), Objective.named(objective))
            yield from ((problem, sign) for sign in (1.0, -1.0))


def runs(problem: Problem, sign: float, moves: int, seeds: int) -> Runs:
    """One restart of each schedule and seed, from the same random sequences."""
    found: Runs = defaultdict(list)
    for seed in range(seeds):
        start = random_labels(problem.sizes, seed, 0)
        for schedule in SCHEDULES:
            anneal.HOT, anneal.COLD = schedule
            run = anneal.anneal(terms_of(problem), start, seed, sign, moves=moves)
            found[schedule].append((run.value, run.seconds))
    return found


def compare(n: int, k: int, seeds: int) -> list[dict[str, float]]:
    """Rows of one shape: a number of moves and a schedule each."""
    usual = anneal.default_moves(n, k)
    budgets = sorted({m for m in MOVES if m < usual} | {usual})
    short, seconds = defaultdict(list), defaultdict(float)
    for problem, sign in cases(n, k):
        tried = {moves: runs(problem, sign, moves, seeds) for moves in budgets}
        mean = problem.mean_random() or 0.0
        best = min(sign * value for of in tried.values() for made in of.values() for value, _ in made)
        for moves, of in tried.items():
            for schedule, made in of.items():
                short[moves, schedule].append([100 * (sign * v - best) / (sign * mean - best) for v, _ in made])
                seconds[moves, schedule] += sum(s for _, s in made)
    rows = []
    for (moves, (hot, cold)), values in short.items():
        of_case = np.mean(values, axis=1)
        gain = np.mean(short[moves, SCHEDULES[0]], axis=1) - of_case
        rows.append(
            {
                "n": n,
                "k": k,
                "moves": moves,
                "usual": moves == usual,
                "hot": hot,
                "cold": cold,
                "cases": len(values),
                "seeds": seeds,
                "shortfall": float(of_case.mean()),
                "worst": float(np.max(values)),
                "gain": float(gain.mean()),
                "gain_error": float(gain.std(ddof=1) / len(gain) ** 0.5),
                "seconds": seconds[moves, (hot, cold)] / len(values) / seeds,
            }
        )
    return rows


def overall(rows: list[dict[str, float]]) -> list[dict[str, float | str]]:
    """For 30 classes, and for 100 and more: gain of each schedule, averaged over shapes and numbers of moves, and at most."""
    found: list[dict[str, float | str]] = []
    for small in (True, False):
        for hot, cold in SCHEDULES:
            gains = [r["gain"] for r in rows if (r["n"] == 30) == small and (r["hot"], r["cold"]) == (hot, cold)]
            found.append(
                {"n": "30" if small else "100, 200", "hot": hot, "cold": cold, "settings": len(gains)}
                | {"mean_gain": float(np.mean(gains)), "least_gain": min(gains), "most_gain": max(gains)}
            )
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--write", action="store_true", help="write benchmarks/results/extremes_schedule.json")
    arguments = parser.parse_args()
    pin_threads()
    anneal.warm_up()
    begun = time.perf_counter()
    print("Shortfall, % of distance: mean (worst), gain; seconds of a run\n")
    rows: list[dict[str, float]] = []
    for n, k, seeds in SHAPES:
        for row in compare(n, k, seeds * arguments.seeds):
            rows.append(row)
            print(
                f"N = {n:3}, K = {k:2}, {row['moves']:10,} moves, {row['hot']:.2f} to {row['cold']:.3f}: "
                f"{row['shortfall']:6.2f} ({row['worst']:6.2f}), gain {row['gain']:5.2f} +- {row['gain_error']:.2f}; "
                f"{row['seconds']:.3f}",
                flush=True,
            )
    for row in overall(rows):
        print(
            f"N = {row['n']}, {row['hot']:.2f} to {row['cold']:.3f}: mean gain {row['mean_gain']:.2f} "
            f"({row['least_gain']:.2f} to {row['most_gain']:.2f})"
        )
    if arguments.write:
        took = time.perf_counter() - begun
        about = {"seeds": arguments.seeds, "seconds": took, "overall": overall(rows)}
        write_result("extremes_schedule", {**about, "schedules": rows})


if __name__ == "__main__":
    main()
