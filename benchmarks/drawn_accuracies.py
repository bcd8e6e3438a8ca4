"""Accuracies of two sides of sequences, drawn with known parts: for `benchmarks.coverage_compare`.

A pool of 30 classes with 4 test images each; a sequence holds 10 of them, 2 of which (the first task) all sequences share.
Correctness of an image in a sequence with a training seed is a mean plus effects of the search (found sequences, from two on), of
the order (random sequences), of the seed on found sequences alone, of the training, of the image, and of the image in this
training, all normal; with "bits" an image is then right or wrong, with "no draws" the same way with all seeds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from seqsearch.distribution.drop import ImageShares

Floats = NDArray[np.float64]
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
