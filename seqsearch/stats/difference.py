"""How much do two sets of sequences, or two groups of methods, differ under common training seeds?

- `mean_accuracy`, `mean_difference`: sequences of two searches, or of one. Either search may have a single sequence, and then
  the statement is about these two sequences. From three sequences of a side on they are a draw, and from three training seeds
  on the statement is over seeds (`seqsearch.stats.contrast`).
- `paired_difference`: two sets of fixed orders, with an interval over their seeds alone.
- `held_out`: how much better methods score on sequences that were found without them than on those found with them. Every
  search leaves out one method of ``M`` in turn, so that each group has ``M`` sequences; every method is scored on all. In the
  mean of held-out accuracies minus that of searched ones, the quality of a method cancels. So does the difficulty of a
  sequence: each is there once as held out and, with the same weight in all, M - 1 times as searched. The rest is the cost to a
  method of being searched for, and how methods happen to differ on single sequences. The interval is over *searches* from three
  groups on, over *training seeds* from three on, and over *test images* where it is known which were right; it is conditional
  on the others. The methods are those studied, no sample of methods: it makes no statement on others.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seqsearch.stats.contrast import Stratum, contrast
from seqsearch.stats.drop import ImageShares
from seqsearch.stats.interval import AGREE, LACKING, Interval, Pivot, accuracies, finite
from seqsearch.stats.mean import ACCURACY


@dataclass(frozen=True)
class Estimate:
    """A mean, or a difference of means, over ``seeds`` training seeds and ``sequences`` (of each side).

    Attributes:
        conditional: of these sequences, if searches found them, and of these training seeds.
        unavailable_because: why there are no bounds, empty where there are.
        these_images: the interval is for these test images only: it is not known which of them were right, or some class has
            but one.
        these_trainings: the interval is for these training seeds only.
        fixed: the most sequences of a side that it is conditional on; 0 where all sides are draws.
    """

    value: Interval
    conditional: Interval
    sequences: tuple[int, ...]
    seeds: int
    unavailable_because: str = field(default="", metadata=LACKING)
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


FEWEST_SEEDS = 5
"""Seeds below which a difference has no interval: of fewer, how they vary is chance."""
SHARE = 0.4
"""Of the misses that are allowed, those that the bounds are made for: noise of a single order may be far from symmetric.
Measured (``benchmarks/coverage/fitted.py``): lognormal noise of one side alone needs it, symmetric noise is covered in 98 % of
cases."""


def paired_difference(ours: ArrayLike, theirs: ArrayLike, level: float = 0.95) -> Interval:
    """Mean accuracy of ``ours [A, R]`` minus that of ``theirs [B, R]``, R seeds shared by all.

    The interval is for these orders, trained with other seeds. An effect of a seed that is equal for all orders cancels. The
    bounds are those of `Pivot` over the R differences by seed, for `SHARE` of the misses. They are NaN below `FEWEST_SEEDS`
    seeds, and where the differences agree. No choice of orders may have used the seeds.

    Raises:
        ValueError: seeds that do not pair, or accuracies that are no fractions.
    """
    a, b = (accuracies(x, "accuracies of given orders", (2,)) for x in (ours, theirs))
    if a.shape[1] != b.shape[1]:
        raise ValueError(f"orders {a.shape} and {b.shape} must share their seeds")
    by_seed = a.mean(axis=0) - b.mean(axis=0)
    value = float(by_seed.mean())
    if len(by_seed) < FEWEST_SEEDS or np.ptp(by_seed) <= AGREE:
        return Interval(value)
    return Interval(value, *Pivot.of_mean(by_seed).bounds(1 - SHARE * (1 - level)))


FEWEST_METHODS = 3
"""Methods; without one of fewer there is a search for a single one."""
SEARCHES = "searches"


@dataclass(frozen=True)
class HeldOut:
    """Mean over methods of accuracy held out minus searched; positive: methods score better where they were left out.

    Attributes:
        difference: bounds are NaN where there are none, and ``unavailable_because`` says why.
        conditional: of these searches and training seeds; bounds are NaN where there are none.
        by_method: ``[M]`` differences of single methods. How hard the sequences are does not cancel in them.
        parts: what the interval is over: those of ``searches``, ``training seeds`` and ``test images`` that have a part in its
            variance; it is conditional on the others.
    """

    difference: Interval
    conditional: Interval
    by_method: tuple[float, ...]
    groups: int
    seeds: int
    parts: tuple[str, ...]
    unavailable_because: str = field(metadata=LACKING)


def held_out(
    accuracy: ArrayLike, image_shares: ArrayLike | None = None, classes: ArrayLike | None = None, level: float = 0.95
) -> HeldOut:
    """From final accuracies ``[S, M, M, R]``: of search group s, left out j, method m, training seed r.

    ``image_shares`` ``[S, R, I]``: what each test image adds to the difference of a group and seed; ``classes`` ``[I]``: of
    which class it is.

    Raises:
        ValueError: another shape, fewer than `FEWEST_METHODS` methods, missing values, shares that do not add up to the
            difference.
    """
    a = finite(accuracy, "accuracies", dimensions=(4,))
    S, M, _, R = a.shape
    if a.shape[1] != a.shape[2] or M < FEWEST_METHODS:
        raise ValueError(
            f"accuracies must be [groups, methods, methods, seeds] of {FEWEST_METHODS} methods or more, not {a.shape}"
        )
    own = np.einsum("smmr->smr", a)
    each = own - (a.sum(axis=1) - own) / (M - 1)
    d_SR = each.mean(axis=1)
    images = None if image_shares is None else np.asarray(image_shares, dtype=np.float64)
    c = contrast(
        [(1.0, replace(Stratum.of_found(SEARCHES, d_SR, images), same_images=False))],
        None if classes is None else np.asarray(classes),
        level,
    )
    unavailable_because = (
        c.unavailable_because
        or "held-out and searched accuracies are equal with every training seed" * c.nothing_differs
    )
    by_method = tuple(each.mean(axis=(0, 2)).tolist())
    return HeldOut(c.interval, c.conditional, by_method, S, R, tuple(c.variances), unavailable_because)
