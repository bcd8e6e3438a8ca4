"""Mean accuracy of given sequences, and how much two sets of sequences differ, under common training seeds.

What `seqsearch.distribution.drop` is for found against random sequences, for the found ones of two searches: of each there may be
a single one, and then all is said of these two sequences.

The variance is a sum of parts, each with its own Student's quantile ("Approximate Confidence Interval for Linear Functions of
Means of k Populations when the Population Variances are not Equal", Banerjee, 1960), estimated as in `drop`: the sequences of a
side where there are two or more, the training seeds, by the variance of the difference from seed to seed, and the test images.
Of a mean the sequences reach as far as `seqsearch.distribution.mean` has it, from three on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from seqsearch.distribution.drop import ImageShares
from seqsearch.distribution.interval import AGREE, Float64, Interval, finite
from seqsearch.distribution.mean import FEWEST, mean_interval
from seqsearch.distribution.parts import FEWEST_IMAGES, TOO_RARE, Part, banerjee, image_covariances, own, rarer


@dataclass(frozen=True)
class Estimate:
    """A mean, or a difference of means, over ``seeds`` training seeds and ``sequences`` (of each side).

    ``lacking`` says why there are no bounds, and is empty where there are. ``these_images``: the interval speaks of these test
    images, since it is not known which of them were right, or some class has but one. ``fixed``: the most sequences of a side
    that the interval is conditional on; 0 where all sides are draws.
    """

    value: Interval
    sequences: tuple[int, ...]
    seeds: int
    lacking: str = ""
    these_images: bool = True
    fixed: int = 0


def mean_accuracy(A: ArrayLike, images: ImageShares | None = None, level: float = 0.95) -> Estimate:
    """Of ``A [S, R]``: sequence by training seed; ``images.found [S, R, I]`` are its shares, ``images.random`` is empty.

    Below `mean.FEWEST` sequences it is conditional on these sequences, with one seed on that seed.

    Raises:
        ValueError: another shape, missing values, or images that do not add up to the accuracies.
    """
    return _estimate([finite(A, "accuracies", dimensions=(2,))], images, level, FEWEST)


def mean_difference(
    first: ArrayLike, second: ArrayLike, images: ImageShares | None = None, level: float = 0.95
) -> Estimate:
    """Mean of ``first [S, R]`` minus mean of ``second [S2, R]``; column r of both was trained with the same seed.

    ``images.found`` are the shares of the first, ``images.random`` those of the second.

    Raises:
        ValueError: another shape, missing values, different numbers of seeds, images that do not add up to the accuracies.
    """
    a, b = finite(first, "accuracies", dimensions=(2,)), finite(second, "accuracies", dimensions=(2,))
    if a.shape[1] != b.shape[1]:
        raise ValueError(f"{a.shape} and {b.shape} must share training seeds")
    return _estimate([a, b], images, level, 2)


def _estimate(sides: Sequence[Float64], images: ImageShares | None, level: float, fewest: int) -> Estimate:
    """``sides``: one, or one to be diminished by another, each a draw from ``fewest`` sequences on."""
    by_seed = sides[0].mean(axis=0) - (sides[1].mean(axis=0) if len(sides) > 1 else 0.0)
    spread = [(float(s.mean(axis=1).var(ddof=1)) / len(s), len(s) - 1) for s in sides if len(s) >= fewest]
    seeds = [(float(by_seed.var(ddof=1)) / len(by_seed), len(by_seed) - 1)] if len(by_seed) > 1 else []
    of_images, lacking = _images(sides, images, fewest) if images is not None else (None, "")
    shared = [*seeds, *([of_images] if of_images else [])]
    value = float(by_seed.mean())
    said = _lacking(spread, seeds, [*spread, *shared], min(map(len, sides))) or lacking
    interval = Interval(value) if said else banerjee(value, [*spread, *shared], level)
    if len(sides) == 1 and spread and not said:
        reach = banerjee(value, shared, level).half_width if shared else 0.0
        interval = mean_interval(sides[0].mean(axis=1), level=level, shared=reach)
    fixed = tuple(len(s) for s in sides if len(s) < fewest)
    return Estimate(interval, tuple(map(len, sides)), len(by_seed), said, of_images is None, max(fixed, default=0))


def _lacking(spread: Sequence[Part], seeds: Sequence[Part], parts: Sequence[Part], sequences: int) -> str:
    if not spread and not seeds:
        return f"{'one sequence' if sequences == 1 else 'two sequences'} and one training seed: more seeds needed"
    if any(variance <= AGREE**2 for variance, _ in spread):
        return "sequences score alike, so that how they vary is not known"
    if sum(variance for variance, _ in parts) <= AGREE**2:
        return "nothing differs from seed to seed"
    return ""


def _images(sides: Sequence[Float64], images: ImageShares, fewest: int) -> tuple[Part | None, str]:
    """The part of the test images; or None, where some class has but one; and what there is too little of."""
    shares = np.concatenate([images.found, images.random]).astype(np.float64)
    A = np.concatenate(sides)
    if shares.shape[:2] != A.shape or not np.allclose(shares.sum(axis=2), A, atol=1e-6):
        raise ValueError("images do not add up to the accuracies")
    if any(
        len(s) < fewest and rarer(of, images.classes) < FEWEST_IMAGES - 0.5
        for s, of in zip(sides, _split(shares, sides), strict=True)
    ):
        return (
            None,
            f"fewer than {FEWEST_IMAGES} images of given sequences {TOO_RARE}",
        )
    (between, degrees), F = image_covariances(shares, images.classes), len(sides[0])
    if not degrees:
        return None, ""
    undrawn = [1.0 if len(s) >= fewest else 0.0 for s in sides]
    variance = own(between[:F, :F], undrawn[0])
    if len(sides) > 1:
        variance += own(between[F:, F:], undrawn[1]) - 2 * float(between[:F, F:].mean())
    return (max(0.0, variance), degrees), ""


def _split(shares: Float64, sides: Sequence[Float64]) -> list[Float64]:
    return np.split(shares, [len(sides[0])])[: len(sides)]
