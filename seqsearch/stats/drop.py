"""How much lower do found sequences score than random ones, and how much of that does continual learning add?

Final accuracies vary with the sequence, with the training seed and with the test images. Random sequences have the first Q of
the R training seeds of the found ones. There are two statements, and the second is added to the first, never put in its place:

- *conditional*: these trainings of these found sequences against random sequences. Its variance has the part of the *random
  sequences* and that of the *test images*;
- *general*: also over *training seeds* from three on, and over *found sequences* (searches) from three on. With fewer, or if
  all searches found sequences of one accuracy, it stays conditional on those that are there.

`gap_difference` makes the same statements of gaps to joint training in place of accuracies. Joint training learns all classes
of a sequence at once, with the same method and training seed. The gap is its accuracy minus final accuracy, on the same test
images. Classes that are hard for both trainings cancel in the gap, so that the difference of the gaps is the part of a drop
that continual learning adds. An image adds to a gap where one of the two trainings has it right and the other has it wrong.

`seqsearch.stats.contrast` says how the parts are estimated.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seqsearch.stats.contrast import (
    FEWEST_IMAGES,
    FEWEST_OVER,
    IMAGES,
    SEEDS,
    Contrast,
    Stratum,
    all_right_or_wrong,
    contrast,
    rarer,
)
from seqsearch.stats.interval import LACKING, Float64, Interval, finite

FOUND, RANDOM = "found sequences", "random sequences"
PARTS = (FOUND, RANDOM, SEEDS, IMAGES)


@dataclass(frozen=True, eq=False)
class ImageShares:
    """The share of each test image in the accuracy of each sequence: its weight where it was classified right, else 0.

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
    unavailable_because: str = field(metadata=LACKING)
    nothing_differs: bool

    @property
    def over_searches(self) -> bool:
        """Whether the interval is for the sequences of other searches, not only for these found ones."""
        return FOUND in self.variances

    @property
    def over_seeds(self) -> bool:
        """Whether the interval is for other training seeds, not only for these trainings."""
        return SEEDS in self.variances

    @property
    def these_images(self) -> bool:
        """Whether the interval is for these test images only: too few, or not known one by one."""
        return IMAGES not in self.variances


def drop(found: ArrayLike, random: ArrayLike, images: ImageShares | None = None, level: float = 0.95) -> Drop:
    """The drop of mean final accuracy from ``random [L, Q]`` to ``found [F, R]``, on the first Q of the same R seeds.

    Methods are averaged before, not sampled. Without ``images``, or with fewer than two of some class, the intervals speak of
    these test images.

    Raises:
        ValueError: shapes that do not pair, accuracies that are missing, or images that do not add up to them.
    """
    f, r = finite(found, "accuracies", dimensions=(2,)), finite(random, "accuracies", dimensions=(2,))
    unavailable = all_right_or_wrong(f, r)
    mean_f, mean_r = float(f.mean()), float(r.mean())
    relative, derivatives = math.nan, (1.0, -1.0)  # no drop is relative to an accuracy of zero
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


@dataclass(frozen=True)
class GapDifference:
    """The gaps to joint training, in units of accuracy, and their difference: found minus random.

    Attributes:
        joint_found, joint_random: mean accuracy of joint training.
        found, random: mean gaps.
        difference: with the interval of the general statement; positive where found sequences have the larger gap.
        conditional: of these found sequences and trainings; the same where there is nothing more general.
        variances: of the difference, by `seqsearch.stats.drop.PARTS`; those that it leaves out are missing.
        unavailable_because: what there is too little of for an interval, empty if there is one or nothing differs.
        nothing_differs: with each seed all sequences have the same gap, but for rounding. There is no interval then.
    """

    joint_found: float
    joint_random: float
    found: float
    random: float
    difference: Interval
    conditional: Interval
    level: float
    variances: dict[str, float]
    unavailable_because: str
    nothing_differs: bool

    @property
    def these_images(self) -> bool:
        """Whether the interval is for these test images only: too few, or not known one by one."""
        return IMAGES not in self.variances


def gap_difference(
    found: tuple[ArrayLike, ArrayLike],
    random: tuple[ArrayLike, ArrayLike],
    images: ImageShares | None = None,
    level: float = 0.95,
) -> GapDifference:
    """Of accuracies ``(joint, final)`` of found sequences, each ``[F, R]``, and of random ones ``[L, Q]``, on the first Q seeds.

    ``images``: what each adds to the gaps.

    Raises:
        ValueError: shapes that do not pair, accuracies that are missing, or images that do not add up to the gaps.
    """
    (f, joint_found), (r, joint_random) = _gaps(*found), _gaps(*random)
    unavailable = ""
    if images and len(f) < FEWEST_OVER and rarer(np.abs(images.found), images.classes) < FEWEST_IMAGES - 0.5:
        unavailable = (
            f"joint training and the method disagree on fewer than {FEWEST_IMAGES} images of the found sequence: more test "
            "images needed"
        )
    general = statement(f, r, images, (-1.0, 1.0), level, unavailable)
    return GapDifference(
        joint_found=joint_found,
        joint_random=joint_random,
        found=float(f.mean()),
        random=float(r.mean()),
        difference=general.interval,
        conditional=general.conditional,
        level=level,
        variances=general.variances,
        unavailable_because=general.unavailable_because,
        nothing_differs=general.nothing_differs,
    )


def _gaps(joint: ArrayLike, final: ArrayLike) -> tuple[Float64, float]:
    """Gaps of sequences with seeds, and the mean accuracy of joint training."""
    j, a = (finite(x, "accuracies", dimensions=(2,)) for x in (joint, final))
    if j.shape != a.shape:
        raise ValueError(f"joint training {j.shape} must have the sequences and seeds of {a.shape}")
    return j - a, float(j.mean())
