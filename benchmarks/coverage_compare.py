"""How often the intervals that ``seqsearch compare`` prints hold, by drawing accuracies whose truth is known.

    python -m benchmarks.coverage_compare [--repeats 1000] [--workers 2] [--write]

No training. *Rank differences*: methods are drawn from a distribution of three columns, a reference and two benchmarks, of
correlations ``r1``, ``r2`` with it and ``r12`` with each other: ``normal``; ``t3`` (heavy tails); ``contaminated`` (15 % of
methods have nothing in common from column to column); ``ties`` (rounded to whole standard deviations); ``clusters`` (half of
the methods lie three sd higher in all columns). The truth is that of 300,000 methods. ``zou`` is the interval that estimates how
the two correlations depend on each other ("Toward Using Confidence Intervals to Compare Correlations", Zou, 2007) from intervals
of each at 95 %; the program does not use it. *Mean differences*: between the sequences of two searches, drawn as in
`benchmarks.drawn_accuracies`.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from benchmarks.coverage_distribution import FLOOR, Case, Held, Row, measured, print_rows
from benchmarks.drawn_accuracies import EFFECTS, drawn
from benchmarks.tools import write_rows
from seqsearch.distribution.interval import Interval
from seqsearch.distribution.mean_difference import mean_accuracy, mean_difference
from seqsearch.distribution.rank_difference import RankDifference, rank_difference
from seqsearch.metrics.ranks import rank_coefficients
from seqsearch.training.device import pin_threads

Floats = NDArray[np.float64]
KINDS = ("normal", "t3", "contaminated", "ties", "clusters")
METHODS = (5, 6, 7, 9, 15, 30)
CORRELATIONS = (
    (0.0, 0.0, 0.0), (0.5, 0.5, 0.5), (0.9, 0.9, 0.7), (0.95, 0.95, 0.85), (0.95, 0.95, 0.99), (0.95, 0.5, 0.5),
    (0.95, -0.5, -0.5), (0.99, 0.99, 0.97), (0.99, 0.9, 0.9),
)  # fmt: skip
SEQUENCES, SEEDS = ((1, 1), (1, 3), (3, 3)), (2, 3, 5)


def methods(kind: str, r: tuple[float, float, float], n: int, rng: np.random.Generator) -> Floats:
    """Reference and two benchmarks ``[n, 3]``."""
    r1, r2, r12 = r
    values, vectors = np.linalg.eigh([[1, r1, r2], [r1, 1, r12], [r2, r12, 1]])
    x = rng.normal(size=(n, 3)) @ (vectors * np.sqrt(values.clip(0))).T
    if kind == "t3":
        x /= np.sqrt(rng.chisquare(3, size=(n, 1)) / 3)
    elif kind == "contaminated":
        x = np.where(rng.random((n, 1)) < 0.15, 1.5 * rng.normal(size=(n, 3)), x)
    elif kind == "ties":
        x = np.round(x)
    elif kind == "clusters":
        x = x + np.where(rng.random((n, 1)) < 0.5, 1.5, -1.5)
    found: Floats = x
    return found


@lru_cache(maxsize=64)
def truth(kind: str, r: tuple[float, float, float], many: int) -> tuple[float, float]:
    """Differences of Spearman's and Kendall's correlation over ``many`` methods."""
    y, a, b = methods(kind, r, many, np.random.default_rng(1)).T
    spearman = [float(stats.spearmanr(y, x).statistic) for x in (a, b)]
    kendall = [float(stats.kendalltau(y, x).statistic) for x in (a, b)]
    return spearman[0] - spearman[1], kendall[0] - kendall[1]


def rank_case(kind: str, r: tuple[float, float, float], n: int, many: int = 300_000) -> Case:
    """Intervals of the difference of two rank correlations."""

    def once(rng: np.random.Generator) -> Held:
        true = truth(kind, r, many)
        y, a, b = methods(kind, r, n, rng).T
        found = rank_difference(a, b, y)
        zou = _zou(a, b, y, found)
        return {
            "spearman": _within(found.srcc, true[0]), "kendall": _within(found.krcc, true[1]),
            "spearman, zou": _within(zou, true[0]),
        }  # fmt: skip

    return Case({"shape": kind, "r1": r[0], "r2": r[1], "r12": r[2], "n": n}, once, floor=FLOOR)


def _zou(a: Floats, b: Floats, y: Floats, found: RankDifference) -> Interval:
    """Zou's interval for Spearman's correlations, where the program gives one."""
    if math.isnan(found.srcc.low):
        return found.srcc
    n, most = len(y), 1 - 6 / (len(y) * (len(y) ** 2 - 1))
    r1, r2, r12 = (max(-most, min(most, rank_coefficients(*pair)[0])) for pair in ((a, y), (b, y), (a, b)))
    bounds = []
    for r in (r1, r2):
        reach = 1.96 * math.sqrt((1 + r**2 / 2) / (n - 3))
        bounds.append((math.tanh(math.atanh(r) - reach), math.tanh(math.atanh(r) + reach)))
    c = ((r12 - r1 * r2 / 2) * (1 - r1**2 - r2**2 - r12**2) + r12**3) / ((1 - r1**2) * (1 - r2**2))
    c, ((l1, u1), (l2, u2)) = max(-1.0, min(1.0, c)), bounds
    low = math.sqrt(max(0.0, (r1 - l1) ** 2 + (u2 - r2) ** 2 - 2 * c * (r1 - l1) * (u2 - r2)))
    high = math.sqrt(max(0.0, (u1 - r1) ** 2 + (r2 - l2) ** 2 - 2 * c * (u1 - r1) * (r2 - l2)))
    return Interval(r1 - r2, r1 - r2 - low, r1 - r2 + high)


def mean_case(name: str, sequences: tuple[int, int], R: int) -> Case:
    """The difference of the sequences of two searches, and the mean of those of the first."""
    S, S2 = sequences
    effects = replace(EFFECTS[name], order=EFFECTS[name].order if S2 > 1 else 0.0)

    def once(rng: np.random.Generator) -> Held:
        images, true = drawn(effects, S, S2, R, effects.drop, rng)
        first, second = images.found.sum(axis=2), images.random.sum(axis=2)
        alone = replace(images, random=images.random[:0])
        return {
            "mean difference": _within(mean_difference(first, second, images).value, -true),
            "mean": _within(mean_accuracy(first, alone).value, effects.mean - true),
        }

    return Case({"shape": name, "sequences": f"{S} and {S2}", "R": R}, once, floor=FLOOR)


def cases() -> Iterator[Case]:
    """All statements at all corners."""
    yield from (rank_case(kind, r, n) for kind in KINDS for r in CORRELATIONS for n in METHODS)
    yield from (mean_case(name, s, R) for name in EFFECTS for s in SEQUENCES for R in SEEDS)


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
    """The table of docs/compare.md: the least coverage by statement and number of methods, or of sequences and seeds."""
    at: dict[tuple[str, str], list[Row]] = {}
    for row in found:
        where = f"n = {row['n']}" if "n" in row else f"{row['sequences']} sequences, {row['R']} seeds"
        at.setdefault((row["what"], where), []).append(row)
    print()
    for (what, where), rows in at.items():
        said = [r for r in rows if r["share"] is not None and r["said"] >= 0.05]
        least = min(said, key=lambda r: r["share"], default=None)
        shown = "nothing is said" if least is None else f"{least['share']:.1%} ({least['shape']})"
        print(f"{what:<18}{where:<28}least {shown}")


if __name__ == "__main__":
    main()
