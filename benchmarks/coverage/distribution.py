"""How often the intervals and tests of `seqsearch.stats` hold, by drawing accuracies whose truth is known.

    python -m benchmarks.coverage.distribution [--repeats 1000] [--workers 2] [--write]

No training. `benchmarks.coverage.mean` has the means, and what is said after ``--until``.

Shapes of the accuracies: ``normal``; ``skew -2`` (a reversed exponential); ``10 % bad`` (one order in ten lies
3 to 5 sd of the others lower), ``10 % bad, 5 sd`` (all of them 5 sd lower); ``ties`` (normal, rounded to steps of one sd);
``equal``. Every row has the share of repeats in which a statement held, with its Monte Carlo standard error; None where the
program gives no interval. ``floor`` is what the row must reach, ``ceiling`` what it may not exceed (false verdicts, tails).
"""

from __future__ import annotations

import argparse
import math
import time
import zlib
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from benchmarks.common.results import write_rows
from seqsearch.stats.interval import Interval
from seqsearch.stats.quantiles import percentile, tails
from seqsearch.stats.rank_test import extremes_test
from seqsearch.stats.regression import similarity_correlation
from seqsearch.training.device import pin_threads

Floats = NDArray[np.float64]
Row = dict[str, Any]
CENTRE, SD = 0.7, 0.02
SHAPES = ("normal", "skew -2", "10 % bad", "10 % bad, 5 sd", "ties", "equal")
KINDS = ("normal", "skew -2", "skewed scale", "ties")
FLOOR = 0.93
_FIGURES = ("what", "share", "error", "said", "repeats", "floor", "ceiling")


def draw(shape: str, rng: np.random.Generator, n: int) -> Floats:
    """``[n]`` deviations of a shape, in units of the sd of its good orders."""
    x = rng.normal(size=n)
    if shape == "skew -2":
        return 1 - rng.exponential(size=n)
    if shape == "ties":
        return np.round(x)
    if shape == "equal":
        return np.zeros(n)
    if shape.startswith("10 % bad"):
        lower = np.full(n, 5.0) if shape.endswith("5 sd") else rng.uniform(3, 5, size=n)
        x = x - (rng.random(n) < 0.1) * lower
    return x


Held = dict[str, bool | None]
"""Statements by name: whether they held, None where the program says nothing."""


@dataclass(frozen=True)
class Case:
    """Statements at one corner; ``once`` draws once. ``times``: of the usual repeats."""

    corner: Row
    once: Callable[[np.random.Generator], Held]
    floor: float | None = None
    ceiling: float | None = None
    times: float = 1.0


def measured(case: Case, repeats: int, seed: int = 0) -> list[Row]:
    """A row for every statement of a case."""
    rng = np.random.default_rng([seed, zlib.crc32(repr(case.corner).encode())])
    draws = [case.once(rng) for _ in range(max(1, round(repeats * case.times)))]
    rows: list[Row] = []
    for name in draws[0]:
        found = [held for d in draws if (held := d[name]) is not None]
        share = float(np.mean(found)) if found else None
        error = None if share is None else math.sqrt(share * (1 - share) / len(found))
        said = {"share": share, "error": error, "said": len(found) / len(draws), "repeats": len(draws)}
        rows.append({"what": name, **case.corner, **said, "floor": case.floor, "ceiling": case.ceiling})
    return rows


def cases() -> Iterator[Case]:
    """All statements at all corners."""
    for shape in SHAPES:
        yield from (case(shape, L) for L in (5, 10, 100) for case in (share_case, next_case, place_case))
        yield from (
            verdict_case(shape, L, noise, seeds)
            for noise, seeds in ((0.0, 0.0), (0.5, 0.0), (0.5, 1.0))
            for L in (10, 19, 20, 39, 100, 200)
        )
    yield from (correlation_case(k, r, n) for k in KINDS for r in (0.0, 0.5, 0.8) for n in (5, 10, 20, 40, 100))
    yield from (
        correlation_case(k, r, 6 * C, C, within)
        for k in KINDS
        for r in (0.0, 0.5, 0.8)
        for C, within in ((15, 0.0), (15, 0.5), (15, 1.0), (8, 0.5))
    )
    yield ignored_clusters_case()
    yield from (power_case(sds, L) for sds in (1.5, 2.0, 3.0) for L in (19, 20, 39, 100))
    yield from (difference_case(R) for R in (2, 3, 5))


def share_case(shape: str, L: int) -> Case:
    """At most the stated share of orders lies below the worst."""
    many = CENTRE + SD * np.sort(draw(shape, np.random.default_rng(1), 300_000))

    def once(rng: np.random.Generator) -> Held:
        found = tails(CENTRE + SD * draw(shape, rng, L))
        below = float(np.searchsorted(many, found.lowest - 1e-9)) / len(many)
        return {"share below the worst": below <= found.share_beyond}

    return Case({"shape": shape, "L": L}, once, floor=FLOOR)


def next_case(shape: str, L: int) -> Case:
    """How often the next order scores below the worst."""

    def once(rng: np.random.Generator) -> Held:
        x = CENTRE + SD * draw(shape, rng, L + 1)
        return {"next below the worst": bool(x[L] < tails(x[:L]).lowest)}

    return Case({"shape": shape, "L": L}, once, ceiling=1 / (L + 1), times=5.0)


def place_case(shape: str, L: int) -> Case:
    """Place of one given order, and of three together, each at about the .9-quantile."""
    many = draw(shape, np.random.default_rng(1), 150_000)
    places = {}
    for name, among, G in (("place of one", many, 1), ("place of three", many.reshape(-1, 3).mean(axis=1), 3)):
        at = float(np.quantile(among, 0.9))
        places[name] = [at] * G, float((among < at - 1e-9).mean()), float((among <= at + 1e-9).mean())

    def once(rng: np.random.Generator) -> Held:
        x, held = CENTRE + SD * draw(shape, rng, L), {}
        for name, (given, low, high) in places.items():
            i = percentile(CENTRE + SD * np.array(given), x).together
            held[name] = None if math.isnan(i.low) else i.low <= high and low <= i.high
        return held

    return Case({"shape": shape, "L": L}, once, floor=FLOOR)


def correlated(
    kind: str, r: float, n: int, rng: np.random.Generator, clusters: int | None = None, within: float = 0.0
) -> tuple[Floats, Floats]:
    """S and accuracy ``[n]`` of correlation ``r`` before rounding or scaling.

    With ``clusters``, S is constant in each, which has the share ``within`` of the accuracy's remaining variance in common.
    ``skew -2`` is the shape of the remainder, ``skewed scale`` a convex transformation of the accuracy (skewness about -3).
    """
    shape = "skew -2" if kind == "skew -2" else "normal"
    own = draw(shape, rng, n)
    if clusters is None:
        S, rest = rng.normal(size=n), own
    else:
        S, common = (np.repeat(x, n // clusters) for x in (rng.normal(size=clusters), draw(shape, rng, clusters)))
        rest = math.sqrt(within) * common + math.sqrt(1 - within) * own
    a = r * S + math.sqrt(1 - r**2) * rest
    if kind == "ties":
        S, a = np.round(S), np.round(2 * a) / 2
    return S, -np.exp(-0.8 * a) if kind == "skewed scale" else a


def correlation_case(kind: str, r: float, n: int, clusters: int | None = None, within: float = 0.0) -> Case:
    """Intervals of Pearson's and Spearman's correlation."""
    many = correlated(kind, r, 240_000, np.random.default_rng(1), None if clusters is None else 40_000, within)
    true = {"pearson": float(np.corrcoef(*many)[0, 1]), "spearman": float(stats.spearmanr(*many).statistic)}
    labels = None if clusters is None else np.repeat(np.arange(clusters), n // clusters)

    def once(rng: np.random.Generator) -> Held:
        found = similarity_correlation(*correlated(kind, r, n, rng, clusters, within), labels)
        return {name: _within(getattr(found, name).value, value) for name, value in true.items()}

    corner: Row = {"shape": kind, "r": r, "n": n, "clusters": clusters, "within": within if clusters else None}
    return Case(corner, once, floor=FLOOR)


def ignored_clusters_case() -> Case:
    """Return the case of intervals of the correlation that ignore clusters.

    Accuracy depends on 15 clusters and is unrelated to S.
    """

    def once(rng: np.random.Generator) -> Held:
        found = similarity_correlation(*correlated("normal", 0.0, 90, rng, 15, 1.0))
        return {"pearson, clusters ignored": _within(found.pearson.value, 0.0)}

    return Case({"shape": "normal", "r": 0.0, "n": 90, "clusters": 15, "within": 1.0}, once)


def verdict_case(shape: str, L: int, noise: float, seeds: float) -> Case:
    """How often two random orders, trained with one seed, get a verdict; ``noise`` and effect of ``seeds`` in sd of orders."""

    def once(rng: np.random.Generator) -> Held:
        effect = seeds * rng.normal(size=L + 1)
        x = draw(shape, rng, L + 2) + noise * rng.normal(size=L + 2) + np.append(effect, effect[-1])
        x = CENTRE + SD * (np.round(x) if shape == "ties" else x)
        t = extremes_test(float(x[L]), float(x[L + 1]), x[:L])
        expected = t.verdict_hard or t.verdict_easy
        return {"false verdict": expected or t.opposite_hard or t.opposite_easy, "false verdict, as expected": expected}

    return Case({"shape": shape, "L": L, "noise": noise, "seeds": seeds}, once, ceiling=0.06, times=5.0)


def power_case(sds: float, L: int) -> Case:
    """How often extremes that are ``sds`` sd of orders from the mean get both verdicts; training noise .3 sd."""

    def once(rng: np.random.Generator) -> Held:
        x = CENTRE + SD * (np.append(rng.normal(size=L), [-sds, sds]) + 0.3 * rng.normal(size=L + 2))
        t = extremes_test(float(x[L]), float(x[L + 1]), x[:L])
        return {"both verdicts": t.verdict_hard and t.verdict_easy, "any verdict": t.verdict_hard or t.verdict_easy}

    return Case({"shape": "normal", "L": L, "extremes at": sds}, once)


def difference_case(R: int) -> Case:
    """Easy minus hard of two given orders under R common seeds: Student's t of the differences, training noise alone."""

    def once(rng: np.random.Generator) -> Held:
        hard, easy = draw("skew -2", rng, 2 * R).reshape(2, R) + rng.normal(size=R) + np.array([[0.0], [3.0]])
        low, high = stats.ttest_1samp(easy - hard, 0).confidence_interval()
        return {"easy minus hard": bool(low <= 3 <= high)}

    return Case({"shape": "skew -2", "R": R}, once, floor=FLOOR)


def _within(interval: Interval, true: float) -> bool | None:
    return None if math.isnan(interval.low) else interval.low - 1e-9 <= true <= interval.high + 1e-9


def print_rows(rows: Iterable[Row]) -> None:
    """A line for each."""
    for row in rows:
        corner = ", ".join(f"{k} {v}" for k, v in row.items() if k not in _FIGURES and v is not None)
        share, error = row["share"], row["error"]
        print(f"{row['what']:<28}{corner:<60}", "too few" if share is None else f"{share:.1%} +- {error:.1%}")


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
    print_rows(found)
    minutes = (time.perf_counter() - start) / 60
    print(f"\n{minutes:.0f} minutes")
    if a.write:
        write_rows("coverage", {"repeats": a.repeats, "minutes": round(minutes), "distribution": found})


def _measured(number: int, repeats: int) -> list[Row]:
    """A case by its number: cases hold functions, which do not travel between processes."""
    return measured(_cases()[number], repeats)


@cache
def _cases() -> list[Case]:
    """Once a process: their truths are found by drawing."""
    return list(cases())


if __name__ == "__main__":
    main()
