"""Intervals of accuracies over a stream whose samples are correlated: by blocks of samples that follow each other.

The stream is cut into G blocks of B samples, B = max(1000, 4 S) for shift S, shortened to n / 20 where the stream is short,
never below max(100, S). Below 20 blocks there is no interval (``unavailable_because``). ``shift`` is the one that
`seqsearch.stats.shift` chose for the stream, also for accuracies at shift 0: it says how far the correlation reaches.
What is longer than a block cannot be seen from the answers alone.

Training seeds are averaged within each block, and differences are taken there: a trend that two learners share cancels. The
interval is conditional on these trainings, and on the course of the accuracy (or difference) along the stream: it holds for
other samples along this course. From three seeds on there is a second one, ``over_seeds``, for seeds that are drawn anew. A
further seed takes neither away. Block means vary about a fixed course no more than about their mean, so that a course makes the
interval too wide rather than too narrow. For another stretch of the stream the course may be another one: a correlation r > 0
with the next block widens the interval by sqrt((1 + f) / (1 - f)), f = r + min(r, 1 / sqrt(G)), r at most `MOST_DEPENDENCE`. It
is the mean of single trainings (pairs of trainings, for a difference): averaging them makes a course more visible, and would
widen the interval. Intervals are Student's and Hall's together (`seqsearch.stats.interval`): percentiles of a bootstrap of
20 blocks cover less (docs/online_statistics.md).
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seqsearch.core.errors import UserError
from seqsearch.stats.contrast import FEWEST_OVER
from seqsearch.stats.interval import AGREE, Float64, Interval, Pivot, banerjee, t_quantile

FEWEST_BLOCKS, SHORTEST_BLOCK = 20, 100
USUAL_BLOCK = 1000
MOST_DEPENDENCE = 0.5
"""Correlation of a block's mean with the next one's that counts at most: what is above is taken for a course."""
FEWEST_ERRORS = 5
"""Blocks with at least one right, and one wrong answer: of fewer, how often they occur cannot be seen."""


@dataclass(frozen=True)
class BlockInterval:
    """A figure of a stream with its interval, conditional on these trainings and this course.

    Bounds are NaN where ``unavailable_because`` says why. ``blocks`` of ``block`` samples each (some have one more). ``seeds``:
    trainings it is a mean of. ``over_seeds``: for training seeds that are drawn anew; NaN bounds below `FEWEST_OVER` seeds.
    """

    interval: Interval
    blocks: int
    block: int
    seeds: int
    over_seeds: Interval
    unavailable_because: str = ""


def block_means(correct: ArrayLike, shift: int) -> tuple[Float64, int, str]:
    """Means of blocks ``[R, G]`` of 0/1 values ``[n]`` or ``[R, n]`` (R seeds), samples in a block, and why there are none.

    O(n), once; values are read as they are (bool, memory-mapped), a seed at a time.

    Raises:
        UserError: another shape, no samples, values but 0 and 1, or a negative shift.
    """
    values = np.asarray(correct)
    values = values[None] if values.ndim == 1 else values
    if values.ndim != 2 or not values.size or values.dtype.kind not in "biu" or values.min() < 0 or values.max() > 1:
        raise UserError(
            f"right answers are 0 and 1 (or true and false), one a sample, not {values.dtype} {values.shape}"
        )
    if shift < 0:
        raise UserError(f"a shift is no less than 0, not {shift}")
    n = values.shape[1]
    block = block_size(n, shift)
    G = n // block
    if G < FEWEST_BLOCKS:
        return np.empty((len(values), 0)), block, too_few(n, block)
    edges = np.linspace(0, n, G + 1).astype(np.int64)
    sums = np.array([np.add.reduceat(row, edges[:-1], dtype=np.int64) for row in values])
    return sums / np.diff(edges), n // G, ""


def too_few(n: int, block: int) -> str:
    """That ``n`` samples give no interval, with blocks of so many.

    >>> too_few(312, 100)
    'an interval needs at least 20 blocks of 100 samples each (2,000), and 312 were evaluated'
    """
    needed = FEWEST_BLOCKS * block
    return f"an interval needs at least {FEWEST_BLOCKS} blocks of {block:,} samples each ({needed:,}), and {n:,} were evaluated"


def block_size(n: int, shift: int) -> int:
    """Samples of a block of a stream of ``n`` that is evaluated ``shift`` samples ahead."""
    return max(SHORTEST_BLOCK, shift, min(max(USUAL_BLOCK, 4 * shift), n // FEWEST_BLOCKS))


def accuracy(correct: ArrayLike, shift: int, level: float = 0.95) -> BlockInterval:
    """Accuracy over a stream, of ``correct [n]`` (one training) or ``[R, n]`` (R seeds, on the same samples).

    Raises:
        UserError: as of `block_means`.
    """
    means, block, unavailable_because = block_means(correct, shift)
    return of_accuracy(float(np.asarray(correct).mean()), means, block, level, unavailable_because)


def difference(a: ArrayLike, b: ArrayLike, shift: int, level: float = 0.95) -> BlockInterval:
    """Accuracy of a less that of b on the same samples: each ``[n]``, or ``[R, n]`` with R seeds of its own.

    ``over_seeds`` is for seeds that are drawn independently for a and b.

    Raises:
        UserError: as of `block_means`; different samples; or seeds of only one of them.
    """
    if np.shape(a)[-1:] != np.shape(b)[-1:] or (_seeds(a) > 1) != (_seeds(b) > 1):
        raise UserError(
            f"a paired difference wants the same samples, and several seeds of both or of none: {np.shape(a)} and {np.shape(b)}"
        )
    return _difference((a, *block_means(a, shift)), (b, *block_means(b, shift)), level)


Means = tuple[ArrayLike, Float64, int, str]


def _seeds(correct: ArrayLike) -> int:
    return 1 if np.ndim(correct) < 2 else len(np.asarray(correct))


def _difference(one: Means, other: Means, level: float) -> BlockInterval:
    (a, x, block, unavailable_because), (b, y, _, _) = one, other
    return of_difference(float(np.asarray(a).mean() - np.asarray(b).mean()), x, y, block, level, unavailable_because)


def all_pairs(
    learners: list[NDArray[np.integer]], shift: int, level: float = 0.95
) -> dict[tuple[int, int], BlockInterval]:
    """Differences of all pairs i < j of M learners, whose intervals hold all together at ``level`` (Sidak over the pairs).

    Raises:
        UserError: as of `difference`; or less than two learners.
    """
    if len(learners) < 2:
        raise UserError(f"pairs want two learners at least, not {len(learners)}")
    pairs = list(itertools.combinations(range(len(learners)), 2))
    each = level ** (1 / len(pairs))
    if len({(a.shape[-1:], _seeds(a) > 1) for a in learners}) > 1:
        raise UserError(
            f"pairs want the same samples, and several seeds of all or of none: {[a.shape for a in learners]}"
        )
    means: list[Means] = [(a, *block_means(a, shift)) for a in learners]
    return {(i, j): _difference(means[i], means[j], each) for i, j in pairs}


def dependence(means: Float64) -> Float64:
    """Correlation of a block's mean ``[..., G]`` with the next one's, its bias -(1 + 4 r) / G removed; 0 where all are equal."""
    centred = means - means.mean(axis=-1, keepdims=True)
    total, G = (centred**2).sum(axis=-1), means.shape[-1]
    r = (centred[..., 1:] * centred[..., :-1]).sum(axis=-1) / np.where(total > 1e-24, total, 1)
    return np.where(total > 1e-24, (r * G + 1) / (G - 4), 0.0)


def of_accuracy(
    value: float, means: Float64, block: int, level: float = 0.95, unavailable_because: str = ""
) -> BlockInterval:
    """Of an accuracy with block means ``[R, G]``. ``unavailable_because``: why there is no interval, if known."""
    if not unavailable_because:  # the rate of the rarer answer is unknown near 0 and 1
        mixed = int(min((means.max(axis=0) > 0).sum(), (means.min(axis=0) < 1).sum()))
        if mixed < FEWEST_ERRORS:
            unavailable_because = f"only {mixed} blocks hold a right, or a wrong answer"
    return _of_sides(value, [means], (0.0, 1.0), block, level, unavailable_because)


def of_difference(
    value: float,
    a: Float64,
    b: Float64,
    block: int,
    level: float = 0.95,
    unavailable_because: str = "",
    same_trainings: bool = False,
) -> BlockInterval:
    """Of a difference, by the block means ``[R, G]`` of both sides on the same samples.

    A side of one seed is taken as it is: of a learner that draws nothing, or of this training. ``same_trainings``: each seed of
    ``a`` is the training of that seed of ``b``, evaluated in another way.
    """
    if not unavailable_because and float(np.ptp(a.mean(axis=0) - b.mean(axis=0))) <= AGREE:
        unavailable_because = "the two are right in the same blocks equally often"
    sides = [a - b] if same_trainings and not unavailable_because else [a, -b]
    return _of_sides(value, sides, (-1.0, 1.0), block, level, unavailable_because)


def _of_sides(
    value: float,
    sides: list[Float64],
    possible: tuple[float, float],
    block: int,
    level: float,
    unavailable_because: str,
) -> BlockInterval:
    """Of the sum of the means of ``sides [R, G]``, whose seeds are drawn independently."""
    seeds, G = max(len(s) for s in sides), sides[0].shape[1]
    if unavailable_because:
        return BlockInterval(Interval(value), G, block, seeds, Interval(value), unavailable_because)
    series = np.sum([s.mean(axis=0) for s in sides], axis=0)
    single = sides[0] if len(sides) == 1 else (sides[0][:, None] + sides[1]).reshape(-1, G)
    r = min(max(0.0, float(dependence(single).mean())), MOST_DEPENDENCE)
    dependent, pivot = r + min(r, 1 / math.sqrt(G)), Pivot.of_mean(series)
    (low, high), wider = pivot.bounds(level), math.sqrt((1 + dependent) / (1 - dependent))
    around = Interval(value, value - (pivot.value - low) * wider, value + (high - pivot.value) * wider)
    if not math.isfinite((found := _bounded(around, *possible)).low):
        unavailable_because = f"{G} blocks of {block} are too few: a longer stream is needed"
    over = _bounded(_over_seeds(around, sides, G - 1, level), *possible)
    return BlockInterval(found, G, block, seeds, over, unavailable_because)


def _over_seeds(around: Interval, sides: list[Float64], degrees: float, level: float) -> Interval:
    """The interval ``around``, of these trainings, with the variance of training seeds added; NaN bounds with too few seeds."""
    drawn = [s.mean(axis=1) for s in sides if len(s) > 1]
    if min(map(len, drawn), default=0) < FEWEST_OVER:
        return Interval(around.value)
    parts = [(float(accuracies.var(ddof=1)) / len(accuracies), len(accuracies) - 1.0) for accuracies in drawn]
    reach = max(around.value - around.low, around.high - around.value)
    return banerjee(around.value, [((reach / t_quantile(level, degrees)) ** 2, degrees), *parts], level)


def _bounded(found: Interval, least: float, most: float) -> Interval:
    """Within what is possible; NaN bounds where the interval holds all of that, or has none."""
    if not math.isfinite(found.low) or (found.low <= least and found.high >= most):
        return Interval(found.value)
    return Interval(found.value, max(least, found.low), min(most, found.high))
