"""How often the intervals that ``seqsearch compare`` prints hold, by drawing accuracies whose truth is known.

    python -m benchmarks.coverage.compare [--repeats 1000] [--workers 2] [--write]

No training. *Mean differences*: between the sequences of two searches, drawn as in `benchmarks.coverage.drawn_accuracies`, the
mean of the sequences of the first, and the difference of two sets of random sequences.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor

import numpy as np

from benchmarks.common.results import write_rows
from benchmarks.coverage.distribution import FLOOR, Case, Held, Row, measured, print_rows
from benchmarks.coverage.drawn_accuracies import EFFECTS, drawn
from seqsearch.stats.difference import mean_accuracy, mean_difference
from seqsearch.stats.drop import ImageShares
from seqsearch.stats.interval import Interval
from seqsearch.training.device import pin_threads

SEQUENCES, RANDOM, SEEDS = ((1, 1), (1, 3), (3, 3)), ((3, 3), (5, 19), (19, 19)), (2, 3, 5)


def mean_case(name: str, sequences: tuple[int, int], R: int) -> Case:
    """The difference of the sequences of two searches, and the mean of those of the first."""
    S, S2 = sequences
    effects = EFFECTS[name]

    def once(rng: np.random.Generator) -> Held:
        x = drawn(effects, S, S2, R, effects.drop, rng, Q=R)
        first, second = x.images.found.sum(axis=2), x.images.random.sum(axis=2)
        return {
            "mean difference": _within(mean_difference(first, second, x.images).value, x.found - x.random),
            "mean": _within(mean_accuracy(first, x.images).value, x.found),
        }

    return Case({"shape": name, "sequences": f"{S} and {S2}", "R": R}, once, floor=FLOOR)


def random_case(name: str, sequences: tuple[int, int], R: int) -> Case:
    """The difference of two sets of random sequences, drawn alike."""
    n, m = sequences
    effects = EFFECTS[name]

    def once(rng: np.random.Generator) -> Held:
        images = drawn(effects, 1, n + m, R, effects.drop, rng, Q=R).images
        sides = ImageShares(images.random[:n], images.random[n:], images.classes)
        first, second = sides.found.sum(axis=2), sides.random.sum(axis=2)
        difference = mean_difference(first, second, sides, searched=False)
        return {"difference of random ones": _within(difference.value, 0.0)}

    return Case({"shape": name, "sequences": f"{n} and {m}", "R": R}, once, floor=FLOOR)


def cases() -> Iterator[Case]:
    """All statements at all corners."""
    yield from (mean_case(name, s, R) for name in EFFECTS for s in SEQUENCES for R in SEEDS)
    yield from (random_case(name, n, R) for name in EFFECTS for n in RANDOM for R in SEEDS)


def _within(interval: Interval, true: float) -> bool | None:
    return None if math.isnan(interval.low) else interval.low - 1e-9 <= true <= interval.high + 1e-9


def _measured(number: int, repeats: int) -> list[Row]:
    """A case by its number: cases hold functions, which do not travel between processes."""
    return measured(list(cases())[number], repeats)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=1000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--write", action="store_true", help="write benchmarks/results/coverage_compare.json")
    a = parser.parse_args()
    start = time.perf_counter()
    number = len(list(cases()))
    with ProcessPoolExecutor(a.workers, initializer=pin_threads) as pool:
        found = [row for rows in pool.map(_measured, range(number), [a.repeats] * number, chunksize=8) for row in rows]
    print_rows(found)
    print_least(found)
    if a.write:
        minutes = round((time.perf_counter() - start) / 60, 1)
        write_rows("coverage_compare", {"repeats": a.repeats, "minutes": minutes, "rows": found})


def print_least(found: list[Row]) -> None:
    """The table of docs/compare_statistics.md: the least coverage by statement and number of sequences and seeds."""
    at: dict[tuple[str, str], list[Row]] = {}
    for row in found:
        where = f"{row['sequences']} sequences, {row['R']} seeds"
        at.setdefault((row["what"], where), []).append(row)
    print()
    for (what, where), rows in at.items():
        said = [r for r in rows if r["share"] is not None and r["said"] >= 0.05]
        least = min(said, key=lambda r: r["share"], default=None)
        shown = "nothing is said" if least is None else f"{least['share']:.1%} ({least['shape']})"
        print(f"{what:<28}{where:<30}least {shown}")


if __name__ == "__main__":
    main()
