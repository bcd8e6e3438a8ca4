"""A variance that is a sum of parts, each with its own degrees of freedom, and the interval that it gives.

The interval's half-width is the root of the sum of each part times the square of its own Student's quantile ("Approximate
Confidence Interval for Linear Functions of Means of k Populations when the Population Variances are not Equal", Banerjee, 1960):
for independent normal parts it holds in at least 95 % of cases, whatever their ratios.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from seqsearch.distribution.interval import AGREE, Float64, Interval, tail

FEWEST_IMAGES = 5
"""Different test images that must be right, and wrong, with some seed, where sequences hold the same images: of fewer, how they
vary is chance."""

Part = tuple[float, float]
"""A part of the variance, and the degrees of freedom behind it."""


def banerjee(value: float, parts: Iterable[Part], level: float) -> Interval:
    """The interval of ``value`` by its ``parts``; NaN bounds without parts, or where something is not finite."""
    known = list(parts)
    total = sum(variance for variance, _ in known)
    if not known or not math.isfinite(value + total):
        return Interval(value)
    reach = math.sqrt(sum(variance * quantile(level, degrees) ** 2 for variance, degrees in known))
    return Interval(value, value - reach, value + reach)


@lru_cache(maxsize=1024)
def quantile(level: float, degrees: float) -> float:
    """Student's, two-sided."""
    return float(stats.t.isf(tail(level), degrees))


def alike(values: Float64) -> bool:
    """They differ by rounding at most."""
    return bool(np.ptp(values) <= AGREE)


def extreme(accuracies: Float64) -> bool:
    """No error at all, or nothing but errors: how rare the others are cannot be seen."""
    return alike(np.append(accuracies, 0.0)) or alike(np.append(accuracies, 1.0))


def image_covariances(shares: NDArray[np.floating], classes: NDArray[np.integer]) -> tuple[Float64, int]:
    """Covariances of the accuracies of any two sequences by their test images ``[S, S]``, and the degrees behind them.

    ``shares [S, R, I]`` is what each image adds to each accuracy. Covariances are over the images of a class and, from two seeds
    on, between different seeds, so that no noise of training is in them: U-statistics, unbiased for two images as for two
    hundred. Degrees: images less classes, 0 if some class has but one (and the covariances are 0 then).
    """
    S, R, n = shares.shape
    flat, degrees = centred(shares.reshape(S * R, n), classes)
    gram = (flat @ flat.T).reshape(S, R, S, R).transpose(0, 2, 1, 3)
    between: Float64 = gram.sum(axis=(2, 3))
    if R > 1:
        between = (between - np.einsum("stii->st", gram)) / (R * (R - 1))
    return between, degrees


def centred(shares: NDArray[np.floating], classes: NDArray[np.integer]) -> tuple[Float64, int]:
    """``shares [N, I]`` less the mean of each class, scaled so that inner products are covariances; and their degrees.

    All is 0, the degrees too, if some class has one image.
    """
    _, own, sizes = np.unique(classes, return_inverse=True, return_counts=True)
    if sizes.min() < 2:
        return np.zeros(shares.shape), 0
    ordered = shares[:, np.argsort(own, kind="stable")].astype(np.float64)
    means = np.add.reduceat(ordered, np.concatenate([[0], np.cumsum(sizes)[:-1]]), axis=1) / sizes
    found: Float64 = (ordered - np.repeat(means, sizes, axis=1)) * np.sqrt(np.repeat(sizes / (sizes - 1), sizes))
    return found, len(classes) - len(sizes)


def off_diagonal(square: Float64) -> float:
    """The mean of what is not on the diagonal."""
    n = len(square)
    return float((square.sum() - np.trace(square)) / (n * (n - 1)))


def own(square: Float64, undrawn: float = 1.0) -> float:
    """Of the mean of sequences, by their covariances ``[n, n]``: between different ones, a single one with itself.

    ``undrawn``: the share of the population that is not among them. Of the rest the spread of the sequences does not hold what
    each does by itself, so that it is here.
    """
    n, diagonal = len(square), float(np.diagonal(square).mean())
    if n == 1:
        return diagonal
    off = off_diagonal(square)
    return off + (1 - undrawn) / n * (diagonal - off)


TOO_RARE = "are wrong, or right, of classes that have any right: more test images needed"
"""Of how many images there are too few, by `rarer`."""


def rarer(shares: NDArray[np.floating], classes: NDArray[np.integer]) -> float:
    """How many different images of a sequence were right with some seed, or wrong, whichever is fewer; no more than there are
    judgements of that kind over all seeds. Of several sequences the mean.

    By ``shares [n, R, I]``. Images that all seeds judge alike count once: a further seed says nothing of others. Of
    classes without an image that was right nothing is counted.
    """
    size = np.abs(shares)
    n, right = len(size), shares.sum(axis=2)
    held = np.isin(classes, np.unique(classes[size.any(axis=(0, 1))])).sum()
    judgements = min(right.sum(), (1 - right).sum()) * held
    _, of = np.unique(classes, return_inverse=True)
    most = np.zeros((of.max() + 1, n))  # what an image adds where it is right, by class and sequence
    np.maximum.at(most, of, size.max(axis=1).T)
    whole = most[of].T[:, None]
    if (size >= (1 - AGREE) * whole).all():  # shares that are no single images' say nothing of different ones
        return float(judgements / n)
    different = min((size > AGREE * whole).any(axis=1).sum(), (size < (1 - AGREE) * whole).any(axis=1).sum())
    return float(min(judgements, different) / n)
