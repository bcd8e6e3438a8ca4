"""How often every interval, tail statement and verdict that the program prints holds, at the corners where users go.

    python -m benchmarks.coverage [--repeats 1000] [--workers 2] [--write]

Nothing is trained: accuracies are drawn with known truths. `benchmarks.coverage_distribution` has everything of EDGE, over shapes
of the distribution and numbers of orders; `benchmarks.coverage_found` the verdict on found sequences and the drop. Each figure is
a share with its Monte Carlo standard error.
"""

from __future__ import annotations

import argparse
import time
from concurrent.futures import ProcessPoolExecutor
from functools import cache

from benchmarks import coverage_distribution
from benchmarks.tools import write_rows
from seqsearch.training.device import pin_threads


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=1000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--write", action="store_true", help="write benchmarks/results/coverage.json")
    a = parser.parse_args()
    start = time.perf_counter()
    with ProcessPoolExecutor(a.workers, initializer=pin_threads) as pool:
        numbers = range(len(_cases()))
        found = [row for rows in pool.map(_measured, numbers, [a.repeats] * len(numbers)) for row in rows]
    coverage_distribution.print_rows(found)
    minutes = (time.perf_counter() - start) / 60
    print(f"\n{minutes:.0f} minutes")
    if a.write:
        write_rows("coverage", {"repeats": a.repeats, "minutes": round(minutes), "distribution": found})


def _measured(number: int, repeats: int) -> list[coverage_distribution.Row]:
    """A case by its number: cases hold functions, which do not travel between processes."""
    return coverage_distribution.measured(_cases()[number], repeats)


@cache
def _cases() -> list[coverage_distribution.Case]:
    """Once a process: their truths are found by drawing."""
    return list(coverage_distribution.cases())


if __name__ == "__main__":
    main()
