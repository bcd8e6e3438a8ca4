"""How much lower found sequences score than random ones, with intervals.

Final accuracies vary with the sequence, with the training seed and with the test images. Random sequences have the first Q of the
R training seeds of the found ones. There are two statements, and the second is added to the first, never put in its place:

- *conditional*: these trainings of these found sequences against random sequences. Its variance has the part of the *random
  sequences* and that of the *test images*;
- *general*: also over *training seeds* from three on, and over *found sequences* (searches) from three on. With fewer, or if all
  searches found sequences of one accuracy, it stays conditional on those that are there.

`seqsearch.distribution.contrast` says how the parts are estimated.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seqsearch.distribution.contrast import IMAGES, SEEDS, Contrast, Stratum, contrast
from seqsearch.distribution.interval import Float64, Interval, finite
from seqsearch.distribution.parts import extreme

FOUND, RANDOM = "found sequences", "random sequences"
PARTS = (FOUND, RANDOM, SEEDS, IMAGES)


@dataclass(frozen=True, eq=False)
class ImageShares:
    """What each test image adds to the accuracy of each sequence: its weight where it was classified right, else 0.

    ``found`` ``[F, R, I]`` and ``random`` ``[L, Q, I]``, whose sums over the images are the accuracies; ``classes`` ``[I]`` names
    each image's class. A sequence that does not hold a class has 0 for its images.
    """

    found: NDArray[np.floating]
    random: NDArray[np.floating]
    classes: NDArray[np.integer]


@dataclass(frozen=True)
class Drop:
    """How much lower the found sequences score than random ones, in units of accuracy and as a fraction of random.

    Positive means that the found ones are harder. Bounds are NaN where there is no interval; ``unavailable_because`` says what
    there is too little of.

    Attributes:
        found, random: mean final accuracies.
        absolute, relative: with the intervals of the general statement, over the parts in ``variances``.
        conditional: the relative drop of these found sequences and trainings; the same where there is nothing more general.
        variances: of the absolute drop, by `PARTS`; those that it leaves out are missing.
        shares: of the squared width of the relative interval, by `PARTS`.
        found_sequences, random_sequences, seeds: how many; ``seeds`` of the found ones.
        nothing_differs: with each seed all sequences have the same accuracy, but for rounding. There is no interval then.
    """

    found: float
    random: float
    absolute: Interval
    relative: Interval
    conditional: Interval
    level: float
    found_sequences: int
    random_sequences: int
    seeds: int
    variances: dict[str, float]
    shares: dict[str, float]
    unavailable_because: str
    nothing_differs: bool

    @property
    def over_searches(self) -> bool:
        """The interval speaks of what other searches would find, not of these found sequences."""
        return FOUND in self.variances

    @property
    def over_seeds(self) -> bool:
        """The interval speaks of other training seeds, not of these trainings."""
        return SEEDS in self.variances

    @property
    def these_images(self) -> bool:
        """The interval speaks of these test images: too few, or not known one by one."""
        return IMAGES not in self.variances


def drop(found: ArrayLike, random: ArrayLike, images: ImageShares | None = None, level: float = 0.95) -> Drop:
    """The drop of mean final accuracy from ``random [L, Q]`` to ``found [F, R]``, on the first Q of the same R seeds.

    Methods are averaged before, not sampled. Without ``images``, or with fewer than two of some class, the intervals speak of
    these test images.

    Raises:
        ValueError: shapes that do not pair, accuracies that are missing, or images that do not add up to them.
    """
    f, r = finite(found, "accuracies", dimensions=(2,)), finite(random, "accuracies", dimensions=(2,))
    unavailable = "all images of one side are right, or all are wrong: more test images needed" * (
        extreme(f) or extreme(r)
    )
    mean_f, mean_r = float(f.mean()), float(r.mean())
    relative, derivatives = math.nan, (1.0, -1.0)  # nothing can be said relative to an accuracy of zero
    if mean_r > 0:
        relative, derivatives = 1 - mean_f / mean_r, (mean_f / mean_r**2, -1 / mean_r)  # delta method
    absolute = statement(f, r, images, (1.0, -1.0), level, unavailable)
    if absolute.nothing_differs and mean_r > 0:
        relative = 0.0
    general = statement(f, r, images, derivatives, level, unavailable, relative)
    return Drop(
        found=mean_f,
        random=mean_r,
        absolute=absolute.interval,
        relative=general.interval,
        conditional=general.conditional,
        level=level,
        found_sequences=len(f),
        random_sequences=len(r),
        seeds=f.shape[1],
        variances=absolute.variances,
        shares=general.shares,
        unavailable_because=absolute.unavailable_because,
        nothing_differs=absolute.nothing_differs,
    )


def statement(
    f: Float64,
    r: Float64,
    images: ImageShares | None,
    weights: tuple[float, float],
    level: float,
    unavailable_because: str = "",
    value: float | None = None,
) -> Contrast:
    """On random ``r [L, Q]`` and found ``f [F, R]``, with these weights.

    ``unavailable_because``, ``value``: as of `contrast`.

    Raises:
        ValueError: as `drop`.
    """
    if r.shape[1] > f.shape[1]:
        raise ValueError(f"random {r.shape} must have the training seeds of found {f.shape}, or the first of them")
    of_random, of_found, classes = (images.random, images.found, images.classes) if images else (None, None, None)
    terms = [(weights[0], Stratum(RANDOM, r, of_random)), (weights[1], Stratum.of_found(FOUND, f, of_found))]
    return contrast(terms, classes, level, unavailable_because=unavailable_because, value=value)
