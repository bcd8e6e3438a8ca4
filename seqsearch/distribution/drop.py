"""How much lower found sequences score than random ones, with an interval.

Final accuracies vary with the sequence, with the training seed and with the test images; images are shared by all sequences that
hold their class, seeds by all sequences. Studies of several readers and cases have the same structure ("One-shot estimate of MRMC
variance: AUC", Gallas, 2006).

The variance of the drop is a sum of four parts, each estimated from what varies:

- *random sequences*: the variance of their mean accuracies, divided by their number;
- *found sequences*, if there are two or more: likewise. With one, the drop is that of this sequence;
- *training seeds*: the variance of the drop from seed to seed, divided by their number. Noise of single trainings is in the
  spread of sequences, too. To count it twice is wider than need be; to take it off once fails where seeds act on one side alone;
- *test images*: covariances of two accuracies over the images of a class, between different sequences and different seeds, so
  that no other noise is in them: U-statistics, unbiased for two images as for two hundred.

The interval is Banerjee's (`seqsearch.distribution.parts`). Satterthwaite's degrees of freedom give narrower ones, which hold too
rarely where a part rests on two or three values (docs/distribution.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seqsearch.distribution.interval import AGREE, Float64, Interval, finite
from seqsearch.distribution.parts import (
    FEWEST_IMAGES,
    TOO_RARE,
    Part,
    alike,
    banerjee,
    extreme,
    image_covariances,
    own,
    quantile,
    rarer,
)

PARTS = ("found sequences", "random sequences", "training seeds", "test images")


@dataclass(frozen=True, eq=False)
class ImageShares:
    """What each test image adds to the accuracy of each sequence: its weight where it was classified right, else 0.

    ``found`` ``[F, R, I]`` and ``random`` ``[L, R, I]``, whose sums over the images are the accuracies; ``classes`` ``[I]`` names
    each image's class. A sequence that does not hold a class has 0 for its images.
    """

    found: NDArray[np.floating]
    random: NDArray[np.floating]
    classes: NDArray[np.integer]


@dataclass(frozen=True)
class Drop:
    """How much lower the found sequences score than random ones, in units of accuracy and as a fraction of random.

    Positive means that the found ones are harder. Bounds are NaN where the interval cannot be had, and ``lacking`` says what
    there is too little of.

    Attributes:
        found, random: mean final accuracies.
        variances: of the absolute drop, by `PARTS`; those that it leaves out are missing.
        shares: of the squared width of the relative interval, by `PARTS`.
        found_sequences, random_sequences, seeds: how many.
        nothing_differs: with each seed all sequences have the same accuracy, but for rounding. There is no interval then.
    """

    found: float
    random: float
    absolute: Interval
    relative: Interval
    level: float
    found_sequences: int
    random_sequences: int
    seeds: int
    variances: dict[str, float]
    shares: dict[str, float]
    lacking: str
    nothing_differs: bool

    @property
    def one_search(self) -> bool:
        """The interval speaks of this found sequence, not of what another search would find."""
        return self.found_sequences == 1

    @property
    def these_images(self) -> bool:
        """The interval speaks of these test images: too few, or not known one by one."""
        return "test images" not in self.variances


def drop(found: ArrayLike, random: ArrayLike, images: ImageShares | None = None, level: float = 0.95) -> Drop:
    """The drop of mean final accuracy from ``random [L, R]`` to ``found [F, R]``, the same R seeds on both sides.

    Methods are averaged before, not sampled. Without ``images``, or with fewer than two of some class, the interval speaks of
    these test images. With one seed it speaks of that seed, and with one seed and one found sequence there is none.

    Raises:
        ValueError: shapes that do not pair, accuracies that are missing, or images that do not add up to them.
    """
    f, r = finite(found, "accuracies", dimensions=(2,)), finite(random, "accuracies", dimensions=(2,))
    if f.shape[1] != r.shape[1]:
        raise ValueError(f"found {f.shape} and random {r.shape} must share training seeds")
    shared = None if images is None else _covariances(f, r, images)
    mean_f, mean_r = np.float64(f.mean()), np.float64(r.mean())
    same = all(alike(by_seed) for by_seed in np.concatenate([f, r]).T)
    parts = {} if same else _parts(f, r, shared, 1.0, 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):  # nothing can be said relative to an accuracy of zero: NaN
        derivatives = mean_f / mean_r**2, 1 / mean_r  # of 1 - found / random
        relative = {} if same else _parts(f, r, shared, *derivatives)
        drops = tuple(0.0 if abs(d) <= AGREE else float(d) for d in (mean_r - mean_f, 1 - mean_f / mean_r))
    squares = {name: variance * quantile(level, degrees) ** 2 for name, (variance, degrees) in relative.items()}
    known = math.isfinite(sum(squares.values())) and sum(squares.values()) > 0
    return Drop(
        found=float(mean_f), random=float(mean_r), absolute=banerjee(drops[0], parts.values(), level),
        relative=banerjee(drops[1], relative.values(), level), level=level, found_sequences=len(f), random_sequences=len(r),
        seeds=f.shape[1], variances={name: variance for name, (variance, _) in parts.items()},
        shares={name: s / sum(squares.values()) for name, s in squares.items()} if known else {},
        lacking="" if same else _lacking(f, r, shared, parts), nothing_differs=same,
    )  # fmt: skip


def _lacking(f: Float64, r: Float64, shared: _Covariances | None, parts: dict[str, Part]) -> str:
    """What there is too little of for any interval."""
    if parts:
        return ""
    if len(r) < 2:
        return "too few random sequences, 1 more needed"
    if len(f) == 1 and f.shape[1] == 1:
        return "too few training seeds, 1 more needed"
    if len(f) > 1 and alike(f.mean(axis=1)):
        return "the found sequences score alike, so that what searches differ by is not known: more searches needed"
    if extreme(f) or extreme(r):
        return "all images of one side are right, or all are wrong: more test images needed"
    if shared is not None and shared.rarer < FEWEST_IMAGES - 0.5:
        return f"fewer than {FEWEST_IMAGES} images of the found sequence {TOO_RARE}"
    return "nothing varies on either side: more sequences and seeds needed"


def _parts(f: Float64, r: Float64, shared: _Covariances | None, a: float, b: float) -> dict[str, Part]:
    """Of the variance of ``a`` times the mean of random minus ``b`` times that of found; empty if they cannot be had."""
    (F, R), L = f.shape, len(r)
    if L < 2 or F == R == 1 or extreme(f) or extreme(r) or (F > 1 and alike(f.mean(axis=1))):
        return {}
    if shared is not None and shared.rarer < FEWEST_IMAGES - 0.5:
        return {}
    parts = {"random sequences": (a**2 * float(r.mean(axis=1).var(ddof=1)) / L, float(L - 1))}
    if F > 1:
        parts["found sequences"] = b**2 * float(f.mean(axis=1).var(ddof=1)) / F, F - 1
    if R > 1:
        parts["training seeds"] = float((a * r.mean(axis=0) - b * f.mean(axis=0)).var(ddof=1)) / R, R - 1
    if shared is not None and shared.degrees > 0:
        variance = a**2 * shared.random + b**2 * shared.found - 2 * a * b * shared.across
        parts["test images"] = max(0.0, variance), shared.degrees
    total = sum(variance for variance, _ in parts.values())
    return parts if total > AGREE**2 or math.isnan(total) else {}


@dataclass(frozen=True)
class _Covariances:
    """Mean covariances of two accuracies by their test images: of random sequences, of found ones, of one of each.

    Between different sequences of a side (one found sequence: with itself) and different seeds, so that they hold neither the
    images that only one of them has nor noise of training. ``degrees``: images less classes, 0 if some class has but one.
    ``rarer``: how many different images of a single found sequence were right with some seed, or wrong, whichever is fewer.
    """

    random: float
    found: float
    across: float
    degrees: int
    rarer: float = math.inf


def _covariances(f: Float64, r: Float64, images: ImageShares) -> _Covariances:
    shares = np.concatenate([images.found, images.random]).astype(np.float64)
    if shares.shape[:2] != (len(f) + len(r), f.shape[1]) or images.classes.shape != shares.shape[2:]:
        raise ValueError(f"images of shape {shares.shape} do not pair with accuracies of {f.shape} and {r.shape}")
    if not np.allclose(shares.sum(axis=2), np.concatenate([f, r]), atol=1e-6):
        raise ValueError("images do not add up to the accuracies")
    F = len(f)
    fewer = rarer(shares[:1], images.classes) if F == 1 else math.inf
    between, degrees = image_covariances(shares, images.classes)
    if not degrees:
        return _Covariances(0.0, 0.0, 0.0, 0, fewer)
    return _Covariances(
        random=own(between[F:, F:]),
        found=own(between[:F, :F]),
        across=float(between[:F, F:].mean()),
        degrees=degrees,
        rarer=fewer,
    )
