"""How often the verdict on found sequences is false, how often it is reached, and how often the intervals of the drop hold.

    python -m benchmarks.coverage.found [--repeats 500] [--workers 2] [--write] [--show] [--gap]

Nothing is trained: accuracies are drawn with known parts (`benchmarks.coverage.drawn_accuracies`). Found sequences have R
training seeds, random ones the first of them. ``student`` is the coverage that Student's degrees of freedom for the random
sequences would have. The verdict is the rank test's, by the first seed: ``false`` counts verdicts where found sequences are
further random ones, ``reached`` those where they score 10 points lower on average (2 near 1, 5 without draws).

``--gap`` prints how often the interval of the difference of gaps to joint training holds, on a few corners. Joint training has
effects of the same kind, drawn anew, on the same classes and images, and loses half as much. Nothing is written.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor

import numpy as np

from benchmarks.common.results import RESULTS, write_rows
from benchmarks.coverage.drawn_accuracies import EFFECTS, HELD, IMAGES, SHAPES, Effects, Rng, drawn, held_classes
from seqsearch.core.digests import seeded_numpy
from seqsearch.stats.drop import RANDOM, Drop, ImageShares, drop, gap_difference
from seqsearch.stats.interval import degrees_of, t_quantile
from seqsearch.stats.rank_test import rank_test
from seqsearch.training.device import pin_threads

Row = dict[str, float | str | int]
SEARCHES, RANDOMS, SEEDS = (1, 2, 3, 5), (5, 10, 19), (1, 2, 3, 5)
GAP_EFFECTS = (
    "even",
    "no image",
    "order",
    "seed",
    "training",
    "image",
    "left-skewed",
    "outliers",
    "bits",
    "bits, near 1",
)
"""Of the gap."""


def cases(effects: Iterable[str] = tuple(EFFECTS)) -> Iterator[tuple[str, int, int, int]]:
    """Effects, searches, random sequences, seeds: the whole grid."""
    return itertools.product(effects, SEARCHES, RANDOMS, SEEDS)


def verdicts(e: Effects, F: int, L: int, true: float, rng: Rng) -> bool:
    """Whether the rank test finds sequences harder that score lower by ``true``, and are random ones else."""
    order = e.order * SHAPES[e.shape](rng, F + L) + e.training * rng.normal(size=F + L)
    x = e.mean + order - true * (np.arange(F + L) < F)
    if e.bits:
        x = rng.binomial(HELD * IMAGES, np.clip(x, 0, 1)) / (HELD * IMAGES)
    x = np.clip(x, 0, 1)
    return rank_test(x[:F], x[F:]).significant


def coverage(case: tuple[str, int, int, int], repeats: int) -> Row:
    """Shares of ``repeats``: intervals there are, those that hold (of those there are), verdicts false and reached."""
    name, F, L, R = case
    e, rng = EFFECTS[name], seeded_numpy("coverage found", name, F, L, R)
    holds: dict[str, list[bool]] = {"absolute": [], "relative": [], "student": []}
    widths = []
    for _ in range(repeats):
        x = drawn(e, F, L, R, e.drop, rng)
        absolute, relative = x.random - x.found, 1 - x.found / x.random
        d = drop(x.images.found.sum(axis=2), x.images.random.sum(axis=2), x.images)
        if math.isfinite(d.absolute.low):
            holds["absolute"].append(d.absolute.low <= absolute <= d.absolute.high)
            holds["relative"].append(d.relative.low <= relative <= d.relative.high)
            holds["student"].append(abs(d.absolute.value - absolute) <= _student(d))
            widths.append(2 * d.absolute.half_width)
    corner: Row = {"effects": name, "searches": F, "random": L, "seeds": R, "said": len(widths) / repeats}
    if SEEDS[0] == R:  # the verdict has one seed
        for what, true in (("false", 0.0), ("reached", e.drop)):
            corner[what] = float(np.mean([verdicts(e, F, L, true, rng) for _ in range(repeats)]))
    if not widths:
        return {**corner, "lacking": d.unavailable_because}
    return {**corner, **{k: float(np.mean(v)) for k, v in holds.items()}, "width": float(np.median(widths))}


def gap_coverage(case: tuple[str, int, int, int], repeats: int) -> Row:
    """Shares of ``repeats``: intervals of the difference of gaps that there are, those that hold, those above 0."""
    name, F, L, R = case
    e, rng = EFFECTS[name], seeded_numpy("coverage gap", name, F, L, R)
    holds, widths, harder = [], [], []
    for _ in range(repeats):
        held = held_classes(F, rng), held_classes(L, rng)
        final, joint = (drawn(e, F, L, R, d, rng, held) for d in (e.drop, e.drop / 2))
        true = (joint.found - final.found) - (joint.random - final.random)
        sides = [(getattr(joint.images, side), getattr(final.images, side)) for side in ("found", "random")]
        accuracies = [(j.sum(axis=2), f.sum(axis=2)) for j, f in sides]
        images = ImageShares(*(j - f for j, f in sides), final.images.classes)
        d = gap_difference(accuracies[0], accuracies[1], images).difference
        if math.isfinite(d.low):
            holds.append(d.low <= true <= d.high)
            widths.append(d.high - d.low)
            harder.append(d.sign > 0)
    corner: Row = {"effects": name, "searches": F, "random": L, "seeds": R, "said": len(holds) / repeats}
    if not holds:
        return corner
    return {
        **corner,
        "holds": float(np.mean(holds)),
        "above": float(np.mean(harder)),
        "width": float(np.median(widths)),
    }


def print_gaps(repeats: int, pool: ProcessPoolExecutor) -> None:
    """The table of docs/drop.md on gaps: the least over effects, and the width with even effects."""
    print("| searches | random | seeds | interval in, least | holds, least | mean | width, even | above 0, even |")
    print("|---|---|---|---|---|---|---|---|")
    for F, L, R in ((1, 19, 1), (1, 19, 3), (3, 19, 3), (1, 5, 3)):
        cases = [(name, F, L, R) for name in GAP_EFFECTS]
        found = {str(r["effects"]): r for r in pool.map(gap_coverage, cases, [repeats] * len(cases))}
        held = [100 * float(r["holds"]) for r in found.values() if float(r["said"]) >= 0.1]
        said, even = 100 * min(float(r["said"]) for r in found.values()), found["even"]
        print(
            f"| {F} | {L} | {R} | {said:.0f} | {min(held):.1f} | {np.mean(held):.1f} | {100 * float(even['width']):.1f} "
            f"| {100 * float(even['above']):.0f} |"
        )


def _student(d: Drop) -> float:
    """The half-width that Student's degrees of freedom for the random sequences would give."""
    random, L = d.variances[RANDOM], d.random_sequences
    ours, student = (t_quantile(d.level, degrees) ** 2 * random for degrees in (degrees_of(L), L - 1))
    return math.sqrt(max(0.0, d.absolute.half_width**2 - ours + student))


def rows(repeats: int, pool: ProcessPoolExecutor) -> list[Row]:
    """The whole grid."""
    grid = list(cases())
    return list(pool.map(coverage, grid, [repeats] * len(grid), chunksize=4))


def print_rows(found: list[Row]) -> None:
    """The two tables of docs/verdicts.md and docs/drop.md: verdicts, then intervals of corners where a tenth or more have one."""
    print("| found | random | false, mean over settings | false, largest | reached: even | left-skewed | outliers |")
    print("|---|---|---|---|---|---|---|")
    for F, L in itertools.product(SEARCHES, RANDOMS):
        own = {str(r["effects"]): r for r in found if (r["searches"], r["random"]) == (F, L) and "false" in r}
        false = [100 * float(r["false"]) for r in own.values()]
        reached = " | ".join(f"{100 * float(own[e]['reached']):.0f}" for e in ("even", "left-skewed", "outliers"))
        print(f"| {F} | {L} | {np.mean(false):.1f} | {max(false):.1f} | {reached} |")
    print("\n| searches | seeds | interval in, least | drop | relative drop | drop, Student | width, even |")
    print("|---|---|---|---|---|---|---|")
    for F, R in itertools.product(SEARCHES, SEEDS):
        own = [r for r in found if (r["searches"], r["seeds"]) == (F, R) and "absolute" in r]
        frequent = [r for r in own if float(r["said"]) >= 0.1]
        least = " | ".join(
            f"{100 * min(float(r[k]) for r in frequent):.1f}" for k in ("absolute", "relative", "student")
        )
        widths = [100 * float(r["width"]) for r in own if r["effects"] == "even"]
        said = 100 * min(float(r["said"]) for r in own)
        print(f"| {F} | {R} | {said:.1f} | {least} | {min(widths):.1f} to {max(widths):.1f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=500)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--write", action="store_true", help="write benchmarks/results/coverage_found.json")
    parser.add_argument("--gap", action="store_true", help="print the coverage of the difference of gaps instead")
    parser.add_argument("--show", action="store_true", help="print the tables of that file")
    a = parser.parse_args()
    if a.show:
        print_rows(json.loads((RESULTS / "coverage_found.json").read_text())["rows"])
        return
    start = time.perf_counter()
    with ProcessPoolExecutor(a.workers, initializer=pin_threads) as pool:
        if a.gap:
            print_gaps(a.repeats, pool)
            return
        found = rows(a.repeats, pool)
    print_rows(found)
    minutes = (time.perf_counter() - start) / 60
    print(f"\n{a.repeats} repeats, {minutes:.0f} minutes")
    if a.write:
        write_rows("coverage_found", {"repeats": a.repeats, "minutes": round(minutes), "rows": found})


if __name__ == "__main__":
    main()
