"""How often what is said of choosing hyperparameters holds, by drawing scores of settings and methods whose truth is known.

    python -m benchmarks.coverage.selection [--repeats 1000] [--workers 2] [--means] [--write] | --table

No training. *Settings* are drawn from a search space: ``normal``; ``long below`` (a reversed exponential), ``long above``;
``ties`` (normal, rounded to whole sd); ``diverged`` (normal, one in five diverged); ``two heaps``, far from each other. Of
them: the typical best of r, and the rule for stopping, under ``noise`` over orders (in sd of settings). *Best*: k settings over
S orders with common effects of orders and true means that nearly agree, or step apart; noise that is ``equal``; four times
larger of the best or of another (``best varies``, ``another varies``); of another size for each (``all vary``); ``skewed`` in
all, or in the best alone while the others vary little (``best skewed``); ``ties`` (rounded to half an sd); ``collapses`` (one
order in ten of the best 5 sd lower); ``diverged``. *Ranks*: M methods over orders of two data sets whose true means lie
``step`` sd apart, the second in the same order, or with neighbours swapped. *Mean*: differences over orders. What is marked
"not used" is there to show why.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import cache

import numpy as np
from scipy import stats

from benchmarks.common.results import RESULTS, write_rows
from benchmarks.coverage.distribution import FLOOR, Case, Floats, Held, Row, measured, print_rows
from seqsearch.stats.choice import Error, dunnett, optimism, regret, with_the_best
from seqsearch.stats.interval import Interval, Pivot
from seqsearch.stats.ranks import agreement
from seqsearch.stats.trials import MORE, best_of, enough, typical_best
from seqsearch.training.device import pin_threads

CENTRE, SD = 0.6, 0.02
SHAPES = ("normal", "long below", "long above", "ties", "diverged", "two heaps")
NOISES = (
    "equal", "best varies", "another varies", "all vary", "skewed", "best skewed", "ties", "collapses", "diverged",
)  # fmt: skip
MEANS = ("equal", "best varies", "skewed", "best skewed", "ties", "collapses")
UNFLOORED = ("collapses",)
"""Noise under which no interval of a mean over a handful of orders holds."""
EVERY, LONGEST = 5, 80
"""Trials between looks at the rule for stopping, and at most."""
RULES = ("bound alone, not used", "enough", "enough, twice in a row")
STOPPING = [(shape, S, noise) for shape in SHAPES for S in (2, 5) for noise in (0.1, 0.5, 1.0)]
ERRORS: tuple[tuple[Error, str], ...] = (("paired", ""), ("pooled", ", pooled, not used"))


def drawn(shape: str, rng: np.random.Generator, n: int) -> Floats:
    """Scores ``[n]`` of random settings; NaN if they diverged."""
    x: Floats = rng.normal(size=n)
    if shape in ("long below", "long above"):
        x = (rng.exponential(size=n) - 1) * (1 if shape == "long above" else -1)
    elif shape == "ties":
        x = np.round(x)
    elif shape == "diverged":
        x = np.where(rng.random(n) < 0.2, np.nan, x)
    elif shape == "two heaps":
        x = np.where(rng.random(n) < 0.5, 0.1 * x, 0.5 * x - 4)
    return CENTRE + SD * x


@cache
def true_best(shape: str, r: int) -> tuple[float, float, float]:
    """Of the best of ``r``: the median from both sides (they differ where scores are tied), diverged ones as 0; and the mean."""
    rng, many = np.random.default_rng(1), 400_000
    one = np.nan_to_num(drawn(shape, rng, many))
    low, high = (float(np.quantile(one, 0.5 ** (1 / r), method=m)) for m in ("lower", "higher"))
    best = np.nan_to_num(drawn(shape, rng, many // r * r)).reshape(-1, r).max(axis=1)
    return low, high, float(best[best > 0].mean())


def typical_case(shape: str, R: int, r: int) -> Case:
    """The typical best of r, and what the jackknife would say of the expected best."""
    low, high, mean = true_best(shape, r)
    near = 0.004 * SD  # the truth's own error

    def once(rng: np.random.Generator) -> Held:
        x = drawn(shape, rng, R)
        i = typical_best(x, r).value
        held = None if math.isnan(i.low) else i.low <= high + near and low - near <= i.high
        return {"typical best": held, "expected best, jackknife, not used": _within(_jackknife(x, r), mean)}

    return Case({"shape": shape, "R": R, "r": r}, once, floor=FLOOR, times=0.5)


def _jackknife(x: Floats, r: int) -> Interval:
    """The expected best of r with bounds of the pseudo-values."""
    R, value = len(x), float(best_of(x).expected[r - 1])
    if r >= R:
        return Interval(value)
    left = [float(best_of(np.delete(x, i)).expected[r - 1]) for i in range(R)]
    pseudo = R * value - (R - 1) * np.array(left)
    if np.isnan(pseudo).any() or np.ptp(pseudo) < 1e-9:
        return Interval(value)
    return Interval(value, *Pivot.of_mean(pseudo).bounds(0.95))


def stopping(shape: str, S: int, noise: float, repeats: int) -> list[Row]:
    """Simulate the `RULES` for stopping, each checked after every `EVERY` trials.

    Each row has the mean number of ``trials``, at most `LONGEST`. ``left`` is the mean gain from ten more trials, in
    units of the true noise. ``too_early`` is the share of searches that stopped with a gain of more than 1 left.
    """
    true, many = SD * noise * math.sqrt(2 / S), np.random.default_rng(1)
    draws = np.nan_to_num(drawn(shape, many, 20_000 * MORE)) + true / math.sqrt(2) * many.normal(size=20_000 * MORE)
    best = draws.reshape(-1, MORE).max(axis=1)
    found: dict[str, list[tuple[int, float]]] = {name: [] for name in RULES}
    for repeat in range(repeats):
        rng, before = np.random.default_rng([repeat, S]), False
        x = drawn(shape, rng, LONGEST)[:, None] + SD * noise * rng.normal(size=(LONGEST, S))
        for R in range(3 * EVERY, LONGEST + 1, EVERY):
            said = enough(x[:R])
            left = float(np.clip(best - np.nanmax(x[:R].mean(axis=1)), 0, None).mean()) / true
            held = dict(zip(RULES, (said.bound < said.noise, said.stop, said.stop and before), strict=True))
            before = said.stop
            for rule, ends in found.items():
                if len(ends) == repeat and (held[rule] or R == LONGEST):
                    ends.append((R, left))
    rows: list[Row] = []
    for rule, ends in found.items():
        trials, left_over = np.array(ends).T
        early = (left_over > 1) & (trials < LONGEST)
        rows.append(
            {
                "rule": rule,
                "shape": shape,
                "S": S,
                "noise": noise,
                "trials": float(trials.mean()),
                "left": float(left_over.mean()),
                "too_early": float(early.mean()),
                "repeats": repeats,
            }
        )
    return rows


def noises(kind: str, k: int, S: int, rng: np.random.Generator) -> Floats:
    """``[k, S]`` of settings of which number 0 is truly the best; NaN if one diverged."""
    x: Floats = rng.normal(size=(k, S))
    if kind == "best varies":
        x[0] *= 4
    elif kind == "another varies":
        x[1] *= 4
    elif kind == "all vary":
        x *= np.exp(np.random.default_rng(k).normal(size=(k, 1)))
    elif kind == "skewed":
        x = 1 - rng.exponential(size=(k, S))
    elif kind == "best skewed":
        x *= 0.2
        x[0] = 1 - rng.exponential(size=S)
    elif kind == "collapses":
        x[0] += 0.5 - 5 * (rng.random(S) < 0.1)
    elif kind == "diverged":
        x[1:][rng.random(k - 1) < 0.2] = np.nan
    return x


def best_case(kind: str, k: int, S: int, step: float) -> Case:
    """The truly best is among the candidates, and all distances hold; with the error of each pair, and with a pooled one."""
    means = -step * np.arange(k) - 1e-6 * (np.arange(k) > 0)

    def once(rng: np.random.Generator) -> Held:
        x = means[:, None] + rng.normal(size=S) + noises(kind, k, S, rng)
        x = CENTRE + SD * (np.round(2 * x) / 2 if kind == "ties" else x)
        there, held = np.isfinite(x.mean(axis=1)), {}
        others = np.array([np.delete(np.where(there, means, -np.inf), i).max(initial=-np.inf) for i in range(k)])
        for error, words in ERRORS:
            found = with_the_best(x, error=error)
            known = [
                (i, SD * (means[i] - others[i])) for i, d in zip(range(k), found.distance, strict=True) if there[i]
            ]
            held[f"best among candidates{words}"] = None if found.unavailable_because else 0 in found.candidates
            held[f"all distances{words}"] = (
                None if found.unavailable_because else all(bool(_within(found.distance[i], true)) for i, true in known)
            )
        return held

    return Case({"noise": kind, "k": k, "S": S, "step": step}, once, floor=None if kind in UNFLOORED else FLOOR)


def rank_case(kind: str, M: int, S: int, step: float, swapped: bool) -> Case:
    """All pairs of methods that are said to differ do so in this direction, with S orders on either side."""
    first = np.arange(M) * step + 1e-6 * np.arange(M)
    places = np.arange(M)
    if swapped:
        places[: M // 2 * 2] = places[: M // 2 * 2].reshape(-1, 2)[:, ::-1].reshape(-1)
    second = first[places]

    def once(rng: np.random.Generator) -> Held:
        sides = [means[:, None] + rng.normal(size=S) + noises(kind, M, S, rng) for means in (first, second)]
        found = agreement(*(CENTRE + SD * (np.round(2 * x) / 2 if kind == "ties" else x) for x in sides))
        one, other = (
            {(i, j): bool(means[i] > means[j]) for i, j in pairs}
            for means, pairs in ((first, found.first), (second, found.second))
        )
        both = [one[p] and other[p] for p in found.same] + [one[p] and other[p[::-1]] for p in found.reverse]
        return {"pairs that differ": all((*one.values(), *other.values())), "pairs that differ in both": all(both)}

    corner: Row = {"noise": kind, "M": M, "S": S, "step": step, "second": "swapped" if swapped else "alike"}
    return Case(corner, once, floor=None if kind in UNFLOORED else FLOOR, times=0.3)


def mean_case(kind: str, S: int) -> Case:
    """Regret of two settings, of which the first has the noise, and optimism of one; Student's interval below five orders."""

    def once(rng: np.random.Generator) -> Held:
        x = CENTRE + SD * (rng.normal(size=S) + noises(kind, 2, S, rng) + np.array([[0.3], [0.0]]))
        fresh = noises(kind, 2, S, rng)[0] * SD
        gaps = x[0] - x[1]
        reach = float(stats.t.isf(0.025, S - 1)) * float(gaps.std(ddof=1)) / math.sqrt(S)
        student = Interval(0.0, float(gaps.mean()) - reach, float(gaps.mean()) + reach)
        return {
            "regret": _within(regret(x[0], x[1]).value, 0.3 * SD),
            "optimism": _within(optimism(CENTRE + SD, CENTRE + fresh).value, SD),
            "regret, Student, not used": _within(student, 0.3 * SD),
        }

    return Case({"noise": kind, "S": S}, once, floor=None if kind in UNFLOORED else FLOOR)


def cases() -> Iterator[Case]:
    """All statements at all corners."""
    for shape in SHAPES:
        yield from (typical_case(shape, R, r) for R, r in ((4, 1), (4, 2), (8, 1), (8, 3), (30, 1), (30, 3), (30, 5)))
    yield from (best_case(n, k, S, step) for n in NOISES for k in (4, 30) for S in (2, 3, 5) for step in (0.0, 0.3))
    yield from (
        rank_case(n, M, S, step, swapped)
        for n in NOISES[:-1]
        for M in (3, 8)
        for S in (2, 5)
        for step, swapped in ((0.0, True), (0.5, False), (0.5, True), (3.0, True), (10.0, True))
    )
    yield from (mean_case(n, S) for n in MEANS for S in (2, 3, 5, 10, 30))


def _within(interval: Interval, true: float) -> bool | None:
    return None if math.isnan(interval.low) else bool(interval.low - 1e-9 <= true <= interval.high + 1e-9)


def _measured(number: int, repeats: int) -> list[Row]:
    """A case by its number: cases hold functions, which do not travel between processes. What is not used has no floor."""
    rows = measured(list(cases())[number], repeats)
    return [{**row, "floor": None} if "not used" in row["what"] else row for row in rows]


def _stopping(number: int, repeats: int) -> list[Row]:
    return stopping(*STOPPING[number], max(1, repeats // 10))


def print_reach() -> None:
    """Print a table of docs/selection.md: the smallest significant difference of two settings, or methods.

    It is in sd of their paired difference.
    """
    orders = (2, 3, 5, 10, 20)
    print(f"\n| compared | error | {' | '.join(f'{S} orders' for S in orders)} |\n|{'---|' * (2 + len(orders))}")
    for k in (4, 30):
        paired = [stats.t.isf(0.05 / (k - 1), S - 1) / math.sqrt(S) for S in orders]
        pooled = [dunnett(k - 1, (k - 1) * (S - 1)) / math.sqrt(S) for S in orders]
        for error, reach in (("paired", paired), ("pooled", pooled)):
            print(f"| {k} settings | {error} | {' | '.join(f'{x:.1f}' for x in reach)} |")
    for M in (3, 8):
        reach = [stats.t.isf(0.05 / (M * (M - 1)) / 2, S - 1) / math.sqrt(S) for S in orders]
        print(f"| {M} methods | paired | {' | '.join(f'{x:.1f}' for x in reach)} |")


def print_table(rows: list[Row], stops: list[Row]) -> None:
    """The tables of docs/selection.md: the least share over the corners of each statement, and what stopping leads to."""
    print("\n| statement | noise, or settings | held in % of repeats, at least | where |\n|---|---|---|---|")
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        if row["share"] is not None:
            collapsing = (
                "collapses" if row.get("noise") in UNFLOORED else "all but collapses" if "noise" in row else "all"
            )
            groups.setdefault((row["what"], collapsing), []).append(row)
    for (what, kind), found in groups.items():
        least = min(found, key=lambda r: r["share"])
        known = ("what", "share", "error", "said", "repeats", "floor", "ceiling")
        where = ", ".join(f"{v if k in ('shape', 'noise') else f'{k} {v}'}" for k, v in least.items() if k not in known)
        print(f"| {what} | {kind} | {100 * least['share']:.1f} +- {100 * least['error']:.1f} | {where} |")
    print("\nTrials, gain left, share stopped too early, over settings and numbers of orders: mean (worst)")
    print("\n| noise | rule | trials | gain left | stopped too early, % |\n|---|---|---|---|---|")
    for noise in sorted({r["noise"] for r in stops}):
        for rule in RULES:
            some = [r for r in stops if (r["noise"], r["rule"]) == (noise, rule)]
            cells = [
                f"{scale * np.mean([r[key] for r in some]):.{digits}f} ({scale * max(r[key] for r in some):.{digits}f})"
                for key, scale, digits in (("trials", 1, 0), ("left", 1, 1), ("too_early", 100, 0))
            ]
            print(f"| {noise} | {rule} | {' | '.join(cells)} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=1000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--write", action="store_true", help="write benchmarks/results/coverage_selection.json")
    parser.add_argument(
        "--means", action="store_true", help="draw regret and optimism alone, take the rest from that file"
    )
    parser.add_argument("--table", action="store_true", help="print the tables from that file, draw nothing")
    a = parser.parse_args()
    kept = json.loads((RESULTS / "coverage_selection.json").read_text()) if a.table or a.means else {}
    if a.table:
        print_table(kept["selection"], kept["stopping"])
        print_reach()
        return
    start, stops = time.perf_counter(), () if a.means else range(len(STOPPING))
    numbers = [i for i, c in enumerate(cases()) if not a.means or set(c.corner) == {"noise", "S"}]
    with ProcessPoolExecutor(a.workers, initializer=pin_threads) as pool:
        found = [r for rows in pool.map(_measured, numbers, [a.repeats] * len(numbers), chunksize=4) for r in rows]
        stopped = [r for rows in pool.map(_stopping, stops, [a.repeats] * len(stops)) for r in rows]
    print_rows(found)
    if a.means:
        corners = {(r["what"], r["noise"], r["S"]): r for r in found}
        found = [corners.get((r["what"], r.get("noise"), r.get("S")), r) for r in kept["selection"]]
        stopped = kept["stopping"]
    print_table(found, stopped)
    if a.write:
        minutes = kept.get("minutes") or round((time.perf_counter() - start) / 60, 1)
        result = {"repeats": a.repeats, "minutes": minutes, "stopping": stopped, "selection": found}
        write_rows("coverage_selection", result)


if __name__ == "__main__":
    main()
