"""Mean accuracy of given sequences, and how much two sets of sequences differ, under common training seeds.

What `seqsearch.distribution.drop` is for found against random sequences, for the found ones of two searches: of each there may be a
single one, and then all is said of these two sequences. Test images are taken as they are.

The variance is a sum of parts, each with its own Student's quantile ("Approximate Confidence Interval for Linear Functions of Means
of k Populations when the Population Variances are not Equal", Banerjee, 1960): the sequences of a side where there are two or more,
and the training seeds, by the variance of the difference from seed to seed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from numpy.typing import ArrayLike
from scipy import stats

from seqsearch.distribution.interval import AGREE, Float64, Interval, finite, tail


@dataclass(frozen=True)
class Estimate:
    """A mean, or a difference of means, over ``seeds`` training seeds and ``sequences`` (of each side).

    ``lacking`` says why there are no bounds, and is empty where there are.
    """

    value: Interval
    sequences: tuple[int, ...]
    seeds: int
    lacking: str = ""


def mean_accuracy(A: ArrayLike, level: float = 0.95) -> Estimate:
    """Of ``A [S, R]``: sequence by training seed.

    With one sequence it is conditional on that sequence, with one seed on that seed, always on the test images.

    Raises:
        ValueError: another shape, or missing values.
    """
    a = finite(A, "accuracies", dimensions=(2,))
    return _estimate([a], float(a.mean()), a.mean(axis=0), level)


def mean_difference(first: ArrayLike, second: ArrayLike, level: float = 0.95) -> Estimate:
    """Mean of ``first [S, R]`` minus mean of ``second [S2, R]``; column r of both was trained with the same seed.

    Raises:
        ValueError: another shape, missing values, or different numbers of seeds.
    """
    a, b = finite(first, "accuracies", dimensions=(2,)), finite(second, "accuracies", dimensions=(2,))
    if a.shape[1] != b.shape[1]:
        raise ValueError(f"{a.shape} and {b.shape} must share training seeds")
    return _estimate([a, b], float(a.mean() - b.mean()), a.mean(axis=0) - b.mean(axis=0), level)


def _estimate(sides: list[Float64], value: float, by_seed: Float64, level: float) -> Estimate:
    parts = [(float(s.mean(axis=1).var(ddof=1)) / len(s), len(s) - 1) for s in sides if len(s) > 1]
    if len(by_seed) > 1:
        parts.append((float(by_seed.var(ddof=1)) / len(by_seed), len(by_seed) - 1))
    lacking = _lacking(sides, parts)
    reach = math.sqrt(sum(v * float(stats.t.isf(tail(level), degrees)) ** 2 for v, degrees in parts))
    interval = Interval(value) if lacking else Interval(value, value - reach, value + reach)
    return Estimate(interval, tuple(map(len, sides)), len(by_seed), lacking)


def _lacking(sides: list[Float64], parts: list[tuple[float, int]]) -> str:
    if not parts:
        return "one sequence and one training seed: more seeds needed"
    if any(v <= AGREE**2 and len(s) > 1 for s, (v, _) in zip([s for s in sides if len(s) > 1], parts, strict=False)):
        return "sequences score alike, so that how they vary is not known"
    if sum(v for v, _ in parts) <= AGREE**2:
        return "nothing differs from seed to seed"
    return ""
