"""Which test images were right: the part of a variance that they make, and how many of them are right, or wrong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from seqsearch.distribution.interval import AGREE, Float64
from seqsearch.distribution.parts import Part

FEWEST_IMAGES = 5
"""Different test images that must be right, and wrong, with some seed, where sequences hold the same images: of fewer, how they
vary is chance."""
TOO_RARE = "are wrong, or right, in classes with any right answer: more test images needed"
"""Of how many images there are too few, by `rarer`."""


class Sampled(Protocol):
    """Sequences, with what each test image adds to the figure of each."""

    @property
    def values(self) -> Float64: ...
    @property
    def images(self) -> NDArray[np.floating] | None: ...
    @property
    def not_sampled(self) -> float: ...


def image_part(terms: Sequence[tuple[float, Sampled]], classes: NDArray[np.integer], over_seeds: bool) -> Part | None:
    """What the draw of the test images adds to the variance of a sum of means: what the spread of the draws does not contain.

    Of sequences that are a draw, covariances of different ones count: what images do to a single one is in their spread. They are
    between different seeds, so that no noise of training is in them: U-statistics, unbiased for two images as for two hundred.
    Of sequences that are no draw all count, and, not ``over_seeds``, with all seeds: the variance of the mean of these trainings.

    Returns:
        The part, whose degrees are the images less the classes; None where some figures have no images, or some class has but
        one.

    Raises:
        ValueError: images that do not pair with the figures, or do not add up to them.
    """
    shares = [np.asarray(s.images, dtype=np.float64) for _, s in terms if s.images is not None]
    if len(shares) < len(terms):
        return None
    for x, (_, s) in zip(shares, terms, strict=True):
        if x.shape[:2] != s.values.shape or classes.shape != x.shape[2:]:
            raise ValueError(f"images of shape {x.shape} do not pair with accuracies of {s.values.shape}")
        if not np.allclose(x.sum(axis=2), s.values, atol=1e-6):
            raise ValueError("images do not add up to the accuracies")
    if np.unique(classes, return_counts=True)[1].min() < 2:
        return None
    about = [centred(x, classes) for x in shares]
    variance = 0.0
    for i, (w, s) in enumerate(terms):
        variance += w**2 * _own(about[i], s.not_sampled, over_seeds)
        for j, (v, other) in enumerate(terms[:i]):
            drawn = s.not_sampled > 0 or other.not_sampled > 0
            variance += 2 * w * v * float(mean_products(about[i], about[j], apart=over_seeds or drawn).mean())
    return max(0.0, variance), len(classes) - len(np.unique(classes))


def centred(shares: Float64, classes: NDArray[np.integer]) -> Float64:
    """``shares [n, R, I]`` less the mean of each class, two images or more, scaled so that inner products are covariances."""
    _, sizes = np.unique(classes, return_counts=True)
    ordered = shares[..., np.argsort(classes, kind="stable")]
    means = np.add.reduceat(ordered, np.concatenate([[0], np.cumsum(sizes)[:-1]]), axis=-1) / sizes
    found: Float64 = (ordered - np.repeat(means, sizes, axis=-1)) * np.sqrt(np.repeat(sizes / (sizes - 1), sizes))
    return found


def mean_products(a: Float64, b: Float64, apart: bool) -> Float64:
    """Inner products of ``a [n, R, I]`` and ``b [m, Q, I]``, mean over pairs of seeds ``[n, m]``; the first seeds are the same.

    ``apart``: over pairs of different seeds, if there are any.
    """
    (_, R, _), (_, Q, _) = a.shape, b.shape
    products: Float64 = a.sum(axis=1) @ b.sum(axis=1).T
    pairs = R * Q
    if apart and pairs > 1:
        both = min(R, Q)
        products = products - np.tensordot(a[:, :both], b[:, :both], axes=([1, 2], [1, 2]))
        pairs -= both
    found: Float64 = products / pairs
    return found


def _own(shares: Float64, not_sampled: float, over_seeds: bool) -> float:
    """Of the mean of sequences: by all of them as far as they are all there are, by different ones as far as they are a draw."""
    n, all_pairs = len(shares), float(mean_products(shares, shares, apart=over_seeds).mean())
    if not_sampled == 0 or n == 1:
        return all_pairs
    products = mean_products(shares, shares, apart=True)
    different = float((products.sum() - np.trace(products)) / (n * (n - 1)))
    return not_sampled * different + (1 - not_sampled) * all_pairs


def rarer(shares: NDArray[np.floating], classes: NDArray[np.integer]) -> float:
    """How many different images of a sequence were right with some seed, or wrong, whichever is fewer; no more than there are
    evaluations of that kind over all seeds. Of several sequences the mean.

    By ``shares [n, R, I]``. Images that all seeds evaluate alike count once: a further seed says nothing of others. Of
    classes without an image that was right nothing is counted.
    """
    size = np.abs(shares)
    n, right = len(size), shares.sum(axis=2)
    held = np.isin(classes, np.unique(classes[size.any(axis=(0, 1))])).sum()
    results = min(right.sum(), (1 - right).sum()) * held
    _, of = np.unique(classes, return_inverse=True)
    most = np.zeros((of.max() + 1, n))  # what an image adds where it is right, by class and sequence
    np.maximum.at(most, of, size.max(axis=1).T)
    whole = most[of].T[:, None]
    if (size >= (1 - AGREE) * whole).all():  # shares that are no single images' say nothing of different ones
        return float(results / n)
    different = min((size > AGREE * whole).any(axis=1).sum(), (size < (1 - AGREE) * whole).any(axis=1).sum())
    return float(min(results, different) / n)
