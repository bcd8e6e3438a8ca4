"""How often what `seqsearch duel` prints of two methods holds, by drawing gaps whose truth is known.

    python -m benchmarks.coverage.paired [--repeats 1000] [--workers 2] [--write] | --table

No training. Shapes of the gap between A and B over sequences and seeds: ``normal``; ``skew -2`` (a reversed exponential);
``10 % far`` (one sequence in ten lies 5 sd lower); ``half ties`` (the methods agree on every other sequence); ``10 images`` (one
class of 10 test images a task, 5 tasks: accuracies in steps of 2 points); ``none`` (normal, no difference); ``none, ties`` (no
difference, most gaps 0). Every row has the share of repeats in which a statement held, with its Monte Carlo standard error, and
how often one was made at all (``said``). ``floor`` is what the row must reach, ``ceiling`` what false verdicts may not exceed.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import cache

import numpy as np

from benchmarks.common.results import RESULTS, write_rows
from benchmarks.coverage.distribution import FLOOR, Case, Floats, Held, Row, measured, print_rows
from seqsearch.stats.interval import Interval
from seqsearch.stats.mean import DIFFERENCE, mean_interval
from seqsearch.stats.paired import paired
from seqsearch.stats.power import sequences_for_mean, sequences_for_share
from seqsearch.stats.quantiles import running_share, share
from seqsearch.training.device import pin_threads

MEAN, SD = 0.01, 0.02
SHAPES = ("normal", "skew -2", "10 % far", "half ties", "10 images")
NONE = ("none", "none, ties")
LENGTHS = (6, 10, 30, 50, 100)
STATEMENTS = ("above", "ties", "below", "mean", "median", "low", "high")
LONGEST = 300
"""Draws over which a running interval is looked at, after each of them."""


def gaps(shape: str, rng: np.random.Generator, n: int) -> Floats:
    """``[n]`` gaps of a shape."""
    x: Floats = rng.normal(MEAN, SD, size=n)
    if shape == "skew -2":
        return MEAN + SD * (1 - rng.exponential(size=n))
    if shape == "10 % far":
        return x - (rng.random(n) < 0.1) * 5 * SD
    if shape == "half ties":
        return np.where(rng.random(n) < 0.5, 0.0, x)
    if shape == "10 images":
        shared = rng.beta(8, 4, size=n)  # how easy a sequence is for both
        right = rng.binomial(50, np.clip([shared + 2 * MEAN, shared], 0, 1)) / 50
        return np.asarray(right[0] - right[1])
    if shape == "none":
        return x - MEAN
    if shape == "none, ties":
        return np.where(rng.random(n) < 0.7, 0.0, x - MEAN)
    return x


@cache
def truth(shape: str) -> dict[str, float]:
    """Of what `STATEMENTS` speak of, from two million draws (error below .0005 sd, or of a share)."""
    x = np.round(gaps(shape, np.random.default_rng(1), 2_000_000), 9)
    quantiles = dict(zip(("low", "median", "high"), np.quantile(x, (0.1, 0.5, 0.9)).tolist(), strict=True))
    shares = {"above": (x > 0).mean(), "ties": (x == 0).mean(), "below": (x < 0).mean()}
    return {**quantiles, **{name: float(v) for name, v in shares.items()}, "mean": float(x.mean())}


def within(interval: Interval, true: float) -> bool | None:
    """Whether it holds the truth; None where there is none."""
    return None if np.isnan(interval.low) else bool(interval.low - 1e-9 <= true <= interval.high + 1e-9)


def _pair(shape: str, rng: np.random.Generator, L: int) -> tuple[Floats, Floats]:
    x = gaps(shape, rng, L)
    return 0.5 + x / 2, 0.5 - x / 2


def intervals_case(shape: str, L: int) -> Case:
    """Every interval over sequences and seeds."""

    def once(rng: np.random.Generator) -> Held:
        found = paired(*_pair(shape, rng, L))
        return {name: within(getattr(found, name), truth(shape)[name]) for name in STATEMENTS}

    return Case({"shape": shape, "L": L}, once, floor=FLOOR)


def verdicts_case(shape: str, L: int) -> Case:
    """Verdicts where there is no difference."""

    def once(rng: np.random.Generator) -> Held:
        found = paired(*_pair(shape, rng, L))
        return {f"false: {name}": bool(getattr(found, name)) for name in ("on_most", "more_often", "on_average")}

    return Case({"shape": shape, "L": L}, once, ceiling=0.07)


def running_case(p: float) -> Case:
    """Bounds at each of `LONGEST` draws, all of which must hold; and at each alone what holds for one number of draws."""

    def once(rng: np.random.Generator) -> Held:
        counts = np.cumsum(rng.random(LONGEST) < p)
        looks = list(enumerate(counts.tolist(), 1))
        fixed = all(within(share(c, n), p) for n, c in looks[5:])
        return {"running share": all(within(running_share(c, n), p) for n, c in looks), "fixed share, each time": fixed}

    return Case({"shape": f"P = {p}", "L": LONGEST}, once, times=0.3)


def worst_case(L: int, R: int, noise: float, skewed: bool = False) -> Case:
    """The sequence with the lowest of L gaps, trained again with R fresh seeds; ``noise`` of training in sd of sequences."""

    def drawn(rng: np.random.Generator, n: int) -> Floats:
        x = 1 - rng.exponential(size=n) if skewed else rng.normal(size=n)
        return noise * SD * x

    def once(rng: np.random.Generator) -> Held:
        true = rng.normal(MEAN, SD, size=L)
        seen = true + drawn(rng, L)
        number = int(seen.argmin())
        return {"worst again": within(mean_interval(true[number] + drawn(rng, R), DIFFERENCE), true[number])}

    kind = "skewed noise" if skewed else "normal noise"
    return Case({"shape": f"{kind} {noise} sd", "L": L, "R": R}, once, floor=FLOOR)


def picked_case(L: int, noise: float) -> Case:
    """The lowest of L gaps as it was seen when it was picked: how often it is lower than the truth of its sequence."""

    def once(rng: np.random.Generator) -> Held:
        true = rng.normal(MEAN, SD, size=L)
        seen = true + noise * SD * rng.normal(size=L)
        return {"worst as seen: too far": bool(seen.min() < true[seen.argmin()])}

    return Case({"shape": f"normal noise {noise} sd", "L": L}, once)


def power_case(p: float, power: float) -> Case:
    """The claims with the sequences that were planned for them."""
    n, m = sequences_for_share(p, power) or 0, sequences_for_mean(2 * p - 1, power) or 0

    def once(rng: np.random.Generator) -> Held:
        signs = share(int(rng.binomial(n, p)), n)
        x = rng.normal(2 * p - 1, 1.0, size=m) / 20
        average = paired(0.5 + x / 2, 0.5 - x / 2).on_average == "a"
        return {"planned: on most": signs.low > 0.5, "planned: on average": average}

    return Case({"shape": f"P = {p}", "L": n, "power": power}, once, floor=power - 0.04)


def cases() -> Iterator[Case]:
    """All statements at all corners."""
    yield from (intervals_case(shape, L) for shape in SHAPES for L in LENGTHS)
    yield from (verdicts_case(shape, L) for shape in NONE for L in LENGTHS)
    yield from (running_case(p) for p in (0.02, 0.5, 0.8))
    yield from (worst_case(L, R, 0.5) for L in (10, 50) for R in (3, 5, 10))
    yield from (worst_case(50, R, 0.5, skewed=True) for R in (3, 5, 10))
    yield from (picked_case(L, 0.5) for L in (10, 50))
    yield from (power_case(p, power) for p in (0.6, 0.7, 0.9) for power in (0.8, 0.9))


TABLE = (
    ("shares above, alike, below; 6 sequences or more", ("above", "ties", "below"), {}),
    ("median, 10 % and 90 % quantile", ("median", "low", "high"), {}),
    ("mean", ("mean",), {}),
    (
        "gap of the worst sequence on 3 to 10 fresh seeds, noise of training normal",
        ("worst again",), {"shape": "normal noise 0.5 sd"},
    ),
    ("the same, noise skewed as an exponential is", ("worst again",), {"shape": "skewed noise 0.5 sd"}),
    ("shares of `--until`, at each of 300 looks together", ("running share",), {}),
    ("also the bounds for one look (not used there)", ("fixed share, each time",), {}),
    (
        "false claims where there is no difference: on most, sign test", ("false: on_most", "false: more_often"), {},
    ),
    ("claims on most sequences with the sequences planned for 80 % power", ("planned: on most",), {"power": 0.8}),
    ("claims on most sequences with the sequences planned for 90 % power", ("planned: on most",), {"power": 0.9}),
    (
        "the lowest of 10 or 50 gaps as it was seen is too low (training noise half the sd of sequences)",
        ("worst as seen: too far",), {},
    ),
)  # fmt: skip
"""Lines of docs/duel_statistics.md: words, statements, corners."""


def print_table(rows: list[Row]) -> None:
    """The table of docs/duel_statistics.md: the least and the largest share over the corners of each line."""
    print("\n| statement | held in % of repeats |\n|---|---|")
    for words, names, corner in TABLE:
        shares = [
            r["share"]
            for r in rows
            if r["what"] in names and r["share"] is not None and all(r.get(k) == v for k, v in corner.items())
        ]
        if not shares:  # not drawn yet
            continue
        ends = dict.fromkeys(f"{100 * share:.1f}" for share in (min(shares), max(shares)))
        print(f"| {words} | {' to '.join(ends)} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=1000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--write", action="store_true", help="write benchmarks/results/coverage_paired.json")
    parser.add_argument(
        "--table", action="store_true", help="print the table of docs/duel_statistics.md from that file, draw nothing"
    )
    a = parser.parse_args()
    if a.table:
        print_table(json.loads((RESULTS / "coverage_paired.json").read_text())["paired"])
        return
    start, numbers = time.perf_counter(), range(len(list(cases())))
    with ProcessPoolExecutor(a.workers, initializer=pin_threads) as pool:
        found = [row for rows in pool.map(_measured, numbers, [a.repeats] * len(numbers)) for row in rows]
    print_rows(found)
    print_table(found)
    if a.write:
        minutes = round((time.perf_counter() - start) / 60)
        write_rows("coverage_paired", {"repeats": a.repeats, "minutes": minutes, "paired": found})


def _measured(number: int, repeats: int) -> list[Row]:
    """A case by its number: cases hold functions, which do not travel between processes."""
    return measured(list(cases())[number], repeats)


if __name__ == "__main__":
    main()
