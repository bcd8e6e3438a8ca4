"""Accuracies of found and random sequences, drawn with known parts: for `benchmarks.coverage.found`, `best` and `compare`.

A pool of 30 classes with 4 test images each; a sequence holds 10 of them, 2 of which (the first task) all sequences share.
Correctness of an image is a mean plus effects of the search (found sequences), of the order (random sequences), of the seed on
found sequences alone, of the seed on all sequences, of the training, of the image, and of the image in this training. They are
normal, but for orders (or searches) named after their shape. With "bits" an image is then right or wrong; with "no draws" it is
the same with all seeds.

The truth is what a statement speaks of: sequences and seeds in general from `FEWEST_OVER` of each on, else these.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from seqsearch.stats.contrast import FEWEST_OVER
from seqsearch.stats.drop import ImageShares

Floats = NDArray[np.float64]
Rng = np.random.Generator
Held = NDArray[np.bool_] | None
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
"""Of the effects of orders or searches, with mean 0 and standard deviation 1."""


@dataclass(frozen=True)
class Effects:
    """Standard deviations of the effects, and the shapes of those of orders and of searches."""

    search: float = 0.02
    order: float = 0.02
    seed: float = 0.005
    common: float = 0.005
    training: float = 0.01
    image: float = 0.1
    shape: str = "normal"
    of_search: str = "normal"
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
    "image": Effects(image=0.5),
    **{
        shape: Effects(order=0.05, training=0.005, seed=0.0, common=0.0, shape=shape)
        for shape in SHAPES
        if shape != "normal"
    },
    **{
        f"searches, {shape}": Effects(search=0.05, of_search=shape)
        for shape in ("left-skewed", "lognormal", "outliers")
    },
    "bits": Effects(bits=True),
    "bits, no draws": Effects(
        seed=0.0, common=0.0, training=0.0, image=0.0, bits=True, draws=False, mean=0.9, drop=0.05
    ),
    "bits, near 1": Effects(0.005, 0.005, 0.002, 0.002, 0.005, 0.0, bits=True, mean=0.98, drop=0.02),
}
"""By what is missing ("no ..."), dominates, or is skewed."""


@dataclass(frozen=True, eq=False)
class Drawn:
    """Shares of each image in the accuracies of both sides, and the true means that a statement is about."""

    images: ImageShares
    found: float
    random: float


def drawn(
    e: Effects, F: int, L: int, R: int, true: float, rng: Rng, held: tuple[Held, Held] = (None, None), Q: int = 1
) -> Drawn:
    """F found and L random sequences, whose means differ by ``true``, with R and the first Q training seeds.

    ``held``: the classes of both sides, drawn if not given.
    """
    common, of_found = e.common * rng.normal(size=R), e.seed * rng.normal(size=R)
    search, order = e.search * SHAPES[e.of_search](rng, F), e.order * SHAPES[e.shape](rng, L)
    of_search, of_order = e.training * rng.normal(size=(F, R)), e.training * rng.normal(size=(L, Q))
    found = e.mean - true + search[:, None] + of_found + common + of_search
    random = e.mean + order[:, None] + common[:Q] + of_order
    image = e.image * rng.normal(size=CLASSES * IMAGES)
    shares = ImageShares(
        _shares(found, image, e, rng, held[0]),
        _shares(random, image, e, rng, held[1]),
        np.repeat(np.arange(CLASSES), IMAGES),
    )
    these = R < FEWEST_OVER
    means = e.mean - true + these * float((of_found + common).mean()), e.mean + these * float(common[:Q].mean())
    sides = zip(means, (search, order), (of_search, of_order), strict=True)
    given = (
        m + float(x.mean()) + these * float(training.mean()) if len(x) < FEWEST_OVER else m for m, x, training in sides
    )
    return Drawn(shares, *given)


def held_classes(S: int, rng: Rng) -> NDArray[np.bool_]:
    """Which classes each of S sequences holds."""
    held = np.ones((S, CLASSES), dtype=bool)
    held[:, SHARED:] = rng.random((S, CLASSES - SHARED)).argsort(axis=1) < HELD - SHARED
    return held


def _shares(accuracy: Floats, image: Floats, e: Effects, rng: Rng, held: Held) -> Floats:
    S, R = accuracy.shape
    held = held_classes(S, rng) if held is None else held
    right = accuracy[..., None] + image + e.image / 2 * rng.normal(size=(S, R, len(image)))
    if e.bits:
        seeds_apart = (S, R if e.draws else 1, len(image))
        right = (rng.random(seeds_apart) < np.clip(right, 0, 1)).astype(np.float64)
    found: Floats = np.repeat(held, IMAGES, axis=1)[:, None] / (HELD * IMAGES) * right
    return found
