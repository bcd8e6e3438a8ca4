"""Cost and tightness of the certified bound, beside 300 supergradient steps and beside the search itself.

    python -m benchmarks.search.extremes_bound [--write]

Every matrix of `benchmarks.search.extremes` is used, with N = 50 to 500 in 10 tasks. Objectives are S and the
similarity within tasks, in both directions. Each row compares three results:

- the bound of `seqsearch.extremes.upper_bound`, by a quasi-Newton method;
- the bound of plain supergradient steps of falling length (Polyak's rule, aiming at a gain of .3 / step^.7 of the
  distance);
- one search of default size, with two restarts.

Distance is that of a bound from the mean score of random sequences. The ratio is the new distance over the old one,
below 1 if the new bound is tighter. One thread is used. Seconds are of the wall clock, both bounds one after the other
in one run.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np

from benchmarks.common.results import write_result
from benchmarks.search.extremes import DIRECTIONS, Matrix, matrices
from seqsearch.extremes import anneal
from seqsearch.extremes.find import find
from seqsearch.extremes.objective import Objective, Problem, task_sizes
from seqsearch.extremes.paper import Direction
from seqsearch.extremes.upper_bound import _Form, _Relaxed, _sorted_bound, certified_bound
from seqsearch.training.device import pin_threads

SIZES, TASKS = (50, 100, 200, 500), 10
REACH, DECAY = 0.3, 0.7


def steps(n: int) -> int:
    """Supergradient steps for ``n`` classes."""
    return int(min(300, max(1, 8e9 / n**3)))


def supergradient_bound(problem: Problem, direction: Direction) -> float:
    """The same bound, improved by plain supergradient steps."""
    sign = 1.0 if direction == "hard" else -1.0
    form = _Form.of(problem, sign)
    relaxed, shift = _Relaxed(form), np.zeros(problem.n)
    value, slope = relaxed.at(shift)
    best = value
    for step in range(1, steps(problem.n)):
        length, gap = float(slope @ slope), relaxed.middle - best
        if length <= relaxed.still**2 or gap <= 0:
            break
        shift = shift + (best - value + REACH * gap / step**DECAY) / length * slope
        value, slope = relaxed.at(shift)
        best = max(best, value)
    return sign * max(best, _sorted_bound(form))


def timed(made: Callable[[], float | None]) -> tuple[float, float]:
    """(result, seconds)."""
    start = time.perf_counter()
    value = made()
    return value or 0.0, time.perf_counter() - start


def compare(name: str, matrix: Matrix, objective: str, direction: Direction) -> dict[str, float | str]:
    """A row: both bounds, and the search."""
    problem = Problem(matrix, task_sizes(len(matrix), TASKS), Objective.named(objective))
    mean = problem.mean_random() or 0.0
    new, seconds = timed(lambda: certified_bound(problem, direction))
    old, old_seconds = timed(lambda: supergradient_bound(problem, direction))
    found = find(matrix, problem.sizes, direction, objective=problem.objective, bound=False)[0]
    return {
        "n": problem.n,
        "matrix": name,
        "objective": objective,
        "direction": direction,
        "mean": mean,
        "value": found.value or 0.0,
        "bound": new,
        "supergradient_bound": old,
        "ratio": (new - mean) / (old - mean),
        "seconds": seconds,
        "supergradient_seconds": old_seconds,
        "search_seconds": found.seconds,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write benchmarks/results/extremes_bound.json")
    arguments = parser.parse_args()
    pin_threads()
    anneal.warm_up()
    rows, total = [], []
    for n in SIZES:
        made = [
            compare(name, matrix, objective, direction)
            for name, matrix in matrices(n).items()
            for objective in ("adjacent", "within")
            for direction in DIRECTIONS
        ]
        rows += made
        ratio = [float(row["ratio"]) for row in made]
        spent = {c: float(np.mean([row[c] for row in made])) for c in made[0] if c.endswith("seconds")}
        total.append({"n": n, "ratio": float(np.mean(ratio)), "worst_ratio": max(ratio), **spent})
        print(
            f"N = {n}: distance {np.mean(ratio):.4f} of the old (worst {max(ratio):.4f}); {spent['seconds']:.3f} s, "
            f"old {spent['supergradient_seconds']:.3f} s, search {spent['search_seconds']:.3f} s",
            flush=True,
        )
    if arguments.write:
        write_result("extremes_bound", {"tasks": TASKS, "by_size": total, "bounds": rows})


if __name__ == "__main__":
    main()
