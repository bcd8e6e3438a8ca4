"""How often the verdict on found sequences is false, how often it is reached, and how often the intervals of the drop hold.

    python -m benchmarks.coverage_found [--repeats 500] [--workers 2] [--write] [--show] [--gap]

Nothing is trained: accuracies are drawn with known parts. A pool of 30 classes with 4 test images each; a sequence holds 10 of
them, 2 of which (the first task) all sequences share. Found sequences have R training seeds, random ones the first of them.

Correctness of an image is a mean plus effects of the search, of the order (random sequences), of the seed on found sequences
alone, of the seed on all sequences, of the training, of the image, and of the image in this training. They are normal, but for
orders named after their shape. With "bits" an image is then right or wrong; with "no draws" it is the same with all seeds.

The truth of the drop is what its statement speaks of: searches and seeds in general from three of each on, else these sequences
and trainings. ``student`` is the coverage that Student's degrees of freedom for the random sequences would have. The verdict is
the rank test's, by the first seed: ``false`` counts verdicts where found sequences are further random ones, ``reached`` those
where they score 10 points lower on average (2 near 1, 5 without draws).

``--gap`` prints how often the interval of the difference of gaps to joint training holds, on a few corners. Joint training has
effects of the same kind, drawn anew, on the same classes and images, and loses half as much. Nothing is written.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.tools import RESULTS, write_rows
from seqsearch.core.digests import seeded_numpy
from seqsearch.distribution.drop import RANDOM, Drop, ImageShares, drop
from seqsearch.distribution.gap import gap_difference
from seqsearch.distribution.parts import quantile
from seqsearch.distribution.pivot import degrees_of
from seqsearch.distribution.rank_test import rank_test
from seqsearch.training.device import pin_threads

Floats = NDArray[np.float64]
Row = dict[str, float | str | int]
Rng = np.random.Generator
Held = NDArray[np.bool_] | None
SEARCHES, RANDOMS, SEEDS = (1, 2, 3, 5), (5, 10, 19), (1, 2, 3, 5)
CLASSES, IMAGES, HELD, SHARED = 30, 4, 10, 2


def _outliers(rng: Rng, n: int) -> Floats:
    x: Floats = np.where(rng.random(n) < 0.1, -3.0, 1 / 3) + 0.3 * rng.normal(size=n)
    return x / math.sqrt(0.9 / 9 + 0.1 * 9 + 0.09)


SHAPES: dict[str, Callable[[Rng, int], Floats]] = {
    "normal": lambda rng, n: rng.normal(size=n),
    "exponential": lambda rng, n: rng.exponential(size=n) - 1,
    "left-skewed": lambda rng, n: 1 - rng.exponential(size=n),
    "lognormal": lambda rng, n: (np.exp(rng.normal(size=n)) - math.exp(0.5)) / math.sqrt((math.e - 1) * math.e),
    "left lognormal": lambda rng, n: (math.exp(0.5) - np.exp(rng.normal(size=n))) / math.sqrt((math.e - 1) * math.e),
    "outliers": _outliers,
    "two values": lambda rng, n: np.where(rng.random(n) < 0.2, -2.0, 0.5),
}
"""Of the orders' effects, with mean 0 and standard deviation 1."""


@dataclass(frozen=True)
class Effects:
    """Standard deviations of the effects, and the shape of the orders'."""

    search: float = 0.02
    order: float = 0.02
    seed: float = 0.005
    common: float = 0.005
    training: float = 0.01
    image: float = 0.1
    shape: str = "normal"
    bits: bool = False
    draws: bool = True
    mean: float = 0.7
    drop: float = 0.1


EFFECTS = {
    "even": Effects(),
    "no search": Effects(search=0.0),
    "no order": Effects(order=0.0),
    "no seed": Effects(seed=0.0, common=0.0),
    "no training": Effects(training=0.0),
    "no image": Effects(image=0.0),
    "search": Effects(search=0.1),
    "order": Effects(order=0.1),
    "seed": Effects(seed=0.1),
    "common seed": Effects(common=0.1),
    "training": Effects(training=0.1),
    "image": Effects(image=1.0),
    **{
        shape: Effects(order=0.05, training=0.005, seed=0.0, common=0.0, shape=shape)
        for shape in SHAPES
        if shape != "normal"
    },
    "bits": Effects(bits=True),
    "bits, no draws": Effects(
        seed=0.0, common=0.0, training=0.0, image=0.0, bits=True, draws=False, mean=0.9, drop=0.05
    ),
    "bits, near 1": Effects(0.005, 0.005, 0.002, 0.002, 0.005, 0.0, bits=True, mean=0.98, drop=0.02),
}
"""By what is missing ("no ..."), dominates, or is skewed."""
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


def drawn(
    e: Effects, F: int, L: int, R: int, true: float, rng: Rng, held: tuple[Held, Held] = (None, None)
) -> tuple[ImageShares, float, float]:
    """What each image adds to the accuracies of both sides; the drop that an interval speaks of, absolute and relative.

    ``held``: the classes of both sides, drawn if not given.
    """
    common, of_found = e.common * rng.normal(size=R), e.seed * rng.normal(size=R)
    search, order = e.search * rng.normal(size=F), e.order * SHAPES[e.shape](rng, L)
    trainings = e.training * rng.normal(size=(F, R))
    found = e.mean - true + search[:, None] + of_found + common + trainings
    random = e.mean + order[:, None] + common[:1] + e.training * rng.normal(size=(L, 1))
    image = e.image * rng.normal(size=CLASSES * IMAGES)
    shares = ImageShares(
        _shares(found, image, e, rng, held[0]),
        _shares(random, image, e, rng, held[1]),
        np.repeat(np.arange(CLASSES), IMAGES),
    )
    these = 0.0 if F >= 3 else float(search.mean())
    base = e.mean
    if R < 3:
        these += float((of_found + common + trainings).mean())
        base += float(common[0])
    absolute = base - (e.mean - true + these)
    return shares, absolute, absolute / base


def _held(S: int, rng: Rng) -> NDArray[np.bool_]:
    """Which classes each of S sequences holds."""
    held = np.ones((S, CLASSES), dtype=bool)
    held[:, SHARED:] = rng.random((S, CLASSES - SHARED)).argsort(axis=1) < HELD - SHARED
    return held


def _shares(accuracy: Floats, image: Floats, e: Effects, rng: Rng, held: Held) -> Floats:
    S, R = accuracy.shape
    held = _held(S, rng) if held is None else held
    right = accuracy[..., None] + image + e.image / 2 * rng.normal(size=(S, R, len(image)))
    if e.bits:
        seeds_apart = (S, R if e.draws else 1, len(image))
        right = (rng.random(seeds_apart) < np.clip(right, 0, 1)).astype(np.float64)
    found: Floats = np.repeat(held, IMAGES, axis=1)[:, None] / (HELD * IMAGES) * right
    return found


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
        images, absolute, relative = drawn(e, F, L, R, e.drop, rng)
        d = drop(images.found.sum(axis=2), images.random.sum(axis=2), images)
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
        return {**corner, "lacking": d.lacking}
    return {**corner, **{k: float(np.mean(v)) for k, v in holds.items()}, "width": float(np.median(widths))}


def gap_coverage(case: tuple[str, int, int, int], repeats: int) -> Row:
    """Shares of ``repeats``: intervals of the difference of gaps that there are, those that hold, those above 0."""
    name, F, L, R = case
    e, rng = EFFECTS[name], seeded_numpy("coverage gap", name, F, L, R)
    holds, widths, harder = [], [], []
    for _ in range(repeats):
        held = _held(F, rng), _held(L, rng)
        (final, true, _), (joint, of_joint, _) = (drawn(e, F, L, R, d, rng, held) for d in (e.drop, e.drop / 2))
        sides = [(getattr(joint, side), getattr(final, side)) for side in ("found", "random")]
        accuracies = [(j.sum(axis=2), f.sum(axis=2)) for j, f in sides]
        images = ImageShares(*(j - f for j, f in sides), final.classes)
        d = gap_difference(accuracies[0], accuracies[1], images).difference
        if math.isfinite(d.low):
            holds.append(d.low <= true - of_joint <= d.high)
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
    """The table of docs/distribution.md on gaps: the least over effects, and the width with even effects."""
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
    ours, student = (quantile(d.level, degrees) ** 2 * random for degrees in (degrees_of(L), L - 1))
    return math.sqrt(max(0.0, d.absolute.half_width**2 - ours + student))


def rows(repeats: int, pool: ProcessPoolExecutor) -> list[Row]:
    """The whole grid."""
    grid = list(cases())
    return list(pool.map(coverage, grid, [repeats] * len(grid), chunksize=4))


def print_rows(found: list[Row]) -> None:
    """The two tables of docs/distribution.md: verdicts, then intervals of corners where a tenth or more have one."""
    print("| found | random | false, mean over effects | most | reached: even | left-skewed | outliers |")
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
