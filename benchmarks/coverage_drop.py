"""How often CLDyB's intervals hold, and how often its verdict is false: drawn accuracies with known parts.

    python -m benchmarks.coverage

A pool of 30 classes with 4 test images each; a sequence holds 10 of them, 2 of which (the first task) all sequences share.
Correctness of an image in a sequence with a training seed is a mean plus effects of the search (found sequences, from two on), of
the order (random sequences), of the seed on found sequences alone, of the training, of the image, and of the image in this
training, all normal; with "bits" an image is then right or wrong, with "no draws" the same way with all seeds. The true drop is 0
or .1 (.02 near 1, .05 without draws). With one search the truth is that sequence's; with one seed it is that seed's.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator
from concurrent.futures import Executor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from seqsearch.core.digests import seeded_numpy
from seqsearch.distribution.drop import ImageShares, drop

Floats = NDArray[np.float64]
Row = dict[str, float | str | int]
SEARCHES, RANDOM, SEEDS = (1, 2, 3, 5), (5, 10, 20, 100), (1, 2, 3, 5)
CLASSES, IMAGES, HELD, SHARED = 30, 4, 10, 2


@dataclass(frozen=True)
class Effects:
    """Standard deviations of the effects."""

    search: float = 0.02
    order: float = 0.02
    seed: float = 0.005
    training: float = 0.01
    image: float = 0.1
    bits: bool = False
    draws: bool = True
    mean: float = 0.7
    drop: float = 0.1


EVEN = Effects()
EFFECTS = {
    "even": EVEN,
    "no search": Effects(search=0.0),
    "no order": Effects(order=0.0),
    "no seed": Effects(seed=0.0),
    "no training": Effects(training=0.0),
    "no image": Effects(image=0.0),
    "search": Effects(search=0.1),
    "order": Effects(order=0.1),
    "seed": Effects(seed=0.1),
    "training": Effects(training=0.1),
    "image": Effects(image=1.0),
    "bits": Effects(bits=True),
    "bits, no draws": Effects(seed=0.0, training=0.0, image=0.0, bits=True, draws=False, mean=0.9, drop=0.05),
    "bits, near 1": Effects(0.005, 0.005, 0.002, 0.005, 0.0, bits=True, mean=0.98, drop=0.02),
}
"""By what is missing ("no ..."), or dominates."""


def cases(effects: Iterable[str] = tuple(EFFECTS)) -> Iterator[tuple[str, int, int, int]]:
    """Effects, searches, random sequences, seeds: the whole grid."""
    return itertools.product(effects, SEARCHES, RANDOM, SEEDS)


def drawn(e: Effects, F: int, L: int, R: int, true: float, rng: np.random.Generator) -> tuple[ImageShares, float]:
    """What each image adds to the accuracies of found and random sequences, and the true drop."""
    found_seed = e.seed * rng.normal(size=R)
    image = e.image * rng.normal(size=CLASSES * IMAGES)
    search = e.search * rng.normal(size=F) if F > 1 else np.zeros(1)
    sides = [
        _side(e.mean - true + search, found_seed, image, e, rng),
        _side(e.mean + e.order * rng.normal(size=L), np.zeros(R), image, e, rng),
    ]
    of_this_seed = float(found_seed[0]) if R == 1 else 0.0
    return ImageShares(sides[0], sides[1], np.repeat(np.arange(CLASSES), IMAGES)), true - of_this_seed


def _side(sequences: Floats, seeds: Floats, image: Floats, e: Effects, rng: np.random.Generator) -> Floats:
    S, R = len(sequences), len(seeds)
    accuracy = sequences[:, None] + seeds + e.training * rng.normal(size=(S, R))
    held = np.ones((S, CLASSES), dtype=bool)
    held[:, SHARED:] = rng.random((S, CLASSES - SHARED)).argsort(axis=1) < HELD - SHARED
    right = accuracy[..., None] + image + e.image / 2 * rng.normal(size=(S, R, len(image)))
    if e.bits:
        seeds_apart = (S, R if e.draws else 1, len(image))
        right = (rng.random(seeds_apart) < np.clip(right, 0, 1)).astype(np.float64)
    shares: Floats = np.repeat(held, IMAGES, axis=1)[:, None] / (HELD * IMAGES) * right
    return shares


def coverage(case: tuple[str, int, int, int], repeats: int) -> Row:
    """Of ``repeats`` with an interval (``said``: their share), those in which it holds; of all, those with a false verdict (no
    drop), or a right one (a drop)."""
    name, F, L, R = case
    effects, rng = EFFECTS[name], seeded_numpy("coverage", name, F, L, R)
    held, relative, right, wrong, widths = [], [], 0, 0, []
    for _ in range(repeats):
        images, true = drawn(effects, F, L, R, effects.drop, rng)
        d = drop(images.found.sum(axis=2), images.random.sum(axis=2), images)
        if math.isfinite(d.absolute.low):
            held.append(d.absolute.low <= true <= d.absolute.high)
            relative.append(d.relative.low <= true / effects.mean <= d.relative.high)
            widths.append(2 * d.absolute.half_width)
        right += d.relative.low > 0
        images, true = drawn(effects, F, L, R, 0.0, rng)
        d = drop(images.found.sum(axis=2), images.random.sum(axis=2), images)
        wrong += (d.relative.low > 0 and true <= 0) or (d.relative.high < 0 and true >= 0)
    corner: Row = {"effects": name, "searches": F, "random": L, "seeds": R, "said": len(held) / repeats}
    if not held:
        return {**corner, "lacking": d.lacking}
    return {
        **corner, "absolute": float(np.mean(held)), "relative": float(np.mean(relative)), "false_verdict": wrong / repeats,
        "recognised": right / repeats, "width": float(np.median(widths)),
        "error": float(np.std(held) / math.sqrt(len(held))),
    }  # fmt: skip


def rows(repeats: int, pool: Executor) -> list[Row]:
    """The whole grid."""
    grid = list(cases())
    return list(pool.map(coverage, grid, [repeats] * len(grid), chunksize=4))


def print_rows(found: list[Row]) -> None:
    """By searches and seeds: least and largest over random sequences and effects; width and power of even effects."""
    print(
        "searches seeds  interval said  coverage: least  largest  relative: least  false verdicts  width, power (even)"
    )
    for F, R in itertools.product(SEARCHES, SEEDS):
        own = [r for r in found if (r["searches"], r["seeds"]) == (F, R)]
        if all("lacking" in r for r in own):
            print(f"{F:>8}{R:>6}  {own[0]['lacking']}")
            continue
        low, high = (
            {k: float(end(r[k] for r in own if k in r)) for k in ("said", "absolute", "relative", "false_verdict")}
            for end in (min, max)
        )
        even = {k: [float(r[k]) for r in own if r["effects"] == "even"] for k in ("width", "recognised")}
        print(
            f"{F:>8}{R:>6}{low['said']:>15.3f}{low['absolute']:>17.3f}{high['absolute']:>9.3f}{low['relative']:>17.3f}"
            f"{high['false_verdict']:>16.3f}{min(even['width']):>8.2f} -{max(even['width']):>4.2f}"
            f"{min(even['recognised']):>13.2f} -{max(even['recognised']):>5.2f}"
        )
