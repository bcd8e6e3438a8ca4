"""Mean accuracy of given sequences, and how much two sets of sequences differ, under common training seeds.

What `seqsearch.distribution.drop` is for found against random sequences, for the found ones of two searches: of each there may be
a single one, and then all is said of these two sequences. From three sequences of a side on they are a draw, and from three
training seeds on the statement is over seeds (`seqsearch.distribution.contrast`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seqsearch.distribution.contrast import Stratum, contrast
from seqsearch.distribution.drop import ImageShares
from seqsearch.distribution.interval import Interval, finite
from seqsearch.distribution.mean import ACCURACY


@dataclass(frozen=True)
class Estimate:
    """A mean, or a difference of means, over ``seeds`` training seeds and ``sequences`` (of each side).

    Attributes:
        conditional: of these sequences, if searches found them, and of these training seeds.
        unavailable_because: why there are no bounds, empty where there are.
        these_images: the interval speaks of these test images, since it is not known which of them were right, or some class has
            but one.
        these_trainings: the interval speaks of these training seeds.
        fixed: the most sequences of a side that it is conditional on; 0 where all sides are draws.
    """

    value: Interval
    conditional: Interval
    sequences: tuple[int, ...]
    seeds: int
    unavailable_because: str = ""
    these_images: bool = True
    these_trainings: bool = True
    fixed: int = 0


def mean_accuracy(A: ArrayLike, images: ImageShares | None = None, level: float = 0.95) -> Estimate:
    """Of ``A [S, R]``: sequence by training seed; ``images.found [S, R, I]`` are its shares, ``images.random`` is empty.

    Below three sequences it is conditional on these sequences, with fewer seeds on these trainings.

    Raises:
        ValueError: another shape, missing values, or images that do not add up to the accuracies.
    """
    side = replace(_side(A, images.found if images else None), searched=False)  # the rule of all means
    return _estimate([(1.0, side)], images, level)


def mean_difference(
    first: ArrayLike,
    second: ArrayLike,
    images: ImageShares | None = None,
    level: float = 0.95,
    *,
    searched: bool = True,
) -> Estimate:
    """Mean of ``first [S, R]`` minus mean of ``second [S2, R]``; column r of both was trained with the same seed.

    ``images.found`` are the shares of the first, ``images.random`` those of the second. ``searched``: searches found the
    sequences of both; random ones count with fewer degrees of freedom.

    Raises:
        ValueError: another shape, missing values, different numbers of seeds, images that do not add up to the accuracies.
    """
    of_first, of_second = (images.found, images.random) if images else (None, None)
    a, b = (replace(_side(*side), searched=searched) for side in ((first, of_first), (second, of_second)))
    if a.values.shape[1] != b.values.shape[1]:
        raise ValueError(f"{a.values.shape} and {b.values.shape} must share training seeds")
    return _estimate([(1.0, a), (-1.0, b)], images, level)


def _side(A: ArrayLike, images: NDArray[np.floating] | None) -> Stratum:
    return Stratum.of_found("sequences", finite(A, "accuracies", dimensions=(2,)), images)


def _estimate(terms: list[tuple[float, Stratum]], images: ImageShares | None, level: float) -> Estimate:
    sides = [s for _, s in terms]
    c = contrast(terms, images.classes if images else None, level, limits=ACCURACY)
    fixed = max((len(s.values) for s in sides if s.not_sampled == 0), default=0)
    numbers = tuple(len(s.values) for s in sides)
    unavailable_because = c.unavailable_because or "nothing differs with any training seed" * c.nothing_differs
    return Estimate(
        c.interval,
        c.conditional,
        numbers,
        sides[0].values.shape[1],
        unavailable_because,
        c.these_images,
        not c.over_seeds,
        fixed,
    )
