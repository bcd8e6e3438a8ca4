"""How much lower found sequences score than random ones, with intervals.

Final accuracies vary with the sequence, with the training seed and with the test images; images are shared by all sequences that
hold their class, seeds by all sequences. Studies of several readers and cases have the same structure ("One-shot estimate of MRMC
variance: AUC", Gallas, 2006).

Random sequences have the first Q of the R training seeds of the found ones. There are two statements, and the second is added to
the first, never put in its place:

- *conditional*: these trainings of these found sequences against random sequences. Its variance has the part of the *random
  sequences* (the variance of their accuracies, over their number) and that of the *test images*;
- *general*: also over *training seeds* from three on, and over *found sequences* (searches) from three on. With fewer, it stays
  conditional on those that are there: two values do not say how others vary.

The part of the training seeds is the variance of the drop from seed to seed, over R. Where random sequences have fewer seeds
(Q < R), it is the variance of the found accuracies from seed to seed, times the larger of 1 / R (seeds act on found sequences
alone) and 1 / Q - 1 / R (seeds act on all sequences alike). Covariances by test images are between different sequences and
different seeds, so that no other noise is in them: U-statistics, unbiased for two images as for two hundred.

Intervals are Banerjee's (`seqsearch.distribution.parts`). Satterthwaite's degrees of freedom give narrower ones, which hold too
rarely where a part rests on two or three values (docs/distribution.md). The random sequences have `degrees_of` their number, so
that skewed accuracies are covered as well.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seqsearch.distribution.interval import AGREE, Float64, Interval, finite
from seqsearch.distribution.mean import FEWEST
from seqsearch.distribution.parts import (
    FEWEST_IMAGES,
    TOO_RARE,
    Part,
    alike,
    banerjee,
    centred,
    extreme,
    image_covariances,
    own,
    quantile,
    rarer,
)
from seqsearch.distribution.pivot import degrees_of

PARTS = ("found sequences", "random sequences", "training seeds", "test images")
FOUND, RANDOM, SEEDS, IMAGES = PARTS
FEWEST_OVER = 3
"""Searches, or training seeds, from which on a statement is over them."""


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

    Positive means that the found ones are harder. Bounds are NaN where the interval cannot be had, and ``lacking`` says what
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
    lacking: str
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
    if r.shape[1] > f.shape[1]:
        raise ValueError(f"random {r.shape} must have the training seeds of found {f.shape}, or the first of them")
    shared = None if images is None else covariances(f, r, images)
    mean_f, mean_r = np.float64(f.mean()), np.float64(r.mean())
    Q = r.shape[1]
    same = all(alike(by_seed) for by_seed in np.concatenate([f[:, :Q], r]).T) and all(map(alike, f.T))
    lacking = "" if same else _lacking(f, r, shared)
    without = bool(same or lacking)
    with np.errstate(divide="ignore", invalid="ignore"):  # nothing can be said relative to an accuracy of zero: NaN
        derivatives = mean_f / mean_r**2, 1 / mean_r  # of 1 - found / random
        absolute = {} if without else variance_parts(f, r, shared, 1.0, 1.0)
        relative = {} if without else variance_parts(f, r, shared, *derivatives)
        narrow = {} if without else variance_parts(f, r, shared, *derivatives, conditional=True)
        drops = tuple(float(d) for d in (mean_r - mean_f, 1 - mean_f / mean_r))
    drops = tuple(0.0 if abs(d) <= AGREE or (same and math.isfinite(d)) else d for d in drops)
    if not without and not absolute:
        lacking = "nothing varies on either side: more sequences and seeds needed"
    squares = {name: variance * quantile(level, degrees) ** 2 for name, (variance, degrees) in relative.items()}
    known = math.isfinite(sum(squares.values())) and sum(squares.values()) > 0
    return Drop(
        found=float(mean_f),
        random=float(mean_r),
        absolute=banerjee(drops[0], absolute.values(), level),
        relative=banerjee(drops[1], relative.values(), level),
        conditional=banerjee(drops[1], narrow.values(), level),
        level=level,
        found_sequences=len(f),
        random_sequences=len(r),
        seeds=f.shape[1],
        variances={name: variance for name, (variance, _) in absolute.items()},
        shares={name: s / sum(squares.values()) for name, s in squares.items()} if known else {},
        lacking=lacking,
        nothing_differs=same,
    )


def _lacking(f: Float64, r: Float64, shared: Covariances | None) -> str:
    """What there is too little of for any interval."""
    if len(r) < FEWEST:
        return f"too few random sequences, {FEWEST - len(r)} more needed"
    if extreme(f) or extreme(r):
        return "all images of one side are right, or all are wrong: more test images needed"
    if shared is not None and shared.rarer < FEWEST_IMAGES - 0.5:
        return f"fewer than {FEWEST_IMAGES} images of the found sequence {TOO_RARE}"
    return ""


def variance_parts(
    f: Float64, r: Float64, shared: Covariances | None, a: float, b: float, conditional: bool = False
) -> dict[str, Part]:
    """Of the variance of ``a`` times the mean of random minus ``b`` times that of found; empty if nothing varies."""
    (F, R), (L, Q) = f.shape, r.shape
    over_searches = F >= FEWEST_OVER and not conditional and not alike(f.mean(axis=1))
    parts = {RANDOM: (a**2 * float(r.mean(axis=1).var(ddof=1)) / L, degrees_of(L))}
    if over_searches:
        parts[FOUND] = b**2 * float(f.mean(axis=1).var(ddof=1)) / F, F - 1
    if R >= FEWEST_OVER and not conditional:
        by_seed, share = b * f.mean(axis=0), max(1 / R, 1 / Q - 1 / R)
        if Q == R:
            by_seed, share = a * r.mean(axis=0) - by_seed, 1 / R
        parts[SEEDS] = float(by_seed.var(ddof=1)) * share, R - 1
    if shared is not None and shared.degrees > 0:
        of_found = shared.found if over_searches else shared.these_found if SEEDS in parts else shared.these_trainings
        variance = a**2 * shared.random + b**2 * of_found - 2 * a * b * shared.across
        parts[IMAGES] = max(0.0, variance), shared.degrees
    total = sum(variance for variance, _ in parts.values())
    return parts if total > AGREE**2 or math.isnan(total) else {}


@dataclass(frozen=True)
class Covariances:
    """Mean covariances of two accuracies (or gaps to joint training) by their test images: of random sequences, of found ones, of
    one of each.

    Between different seeds, so that no noise of training is in them. ``random`` and ``found``: between different sequences, since
    the images of a single sequence act on the spread of sequences; ``these_found``: of all pairs, where the found ones are no
    draw; ``these_trainings``: with the noise of training, where seeds are no draw either. ``degrees``: images less classes, 0 if
    some class has but one. ``rarer``: how many different images of a found sequence were right with some seed, or wrong,
    whichever is fewer.
    """

    random: float
    found: float
    these_found: float
    these_trainings: float
    across: float
    degrees: int
    rarer: float


def covariances(f: Float64, r: Float64, images: ImageShares) -> Covariances:
    """Of accuracies, or differences of accuracies, ``f [F, R]`` and ``r [L, Q]``, by what each image adds to them."""
    found, random = images.found.astype(np.float64), images.random.astype(np.float64)
    for shares, accuracies in ((found, f), (random, r)):
        if shares.shape[:2] != accuracies.shape or images.classes.shape != shares.shape[2:]:
            raise ValueError(f"images of shape {shares.shape} do not pair with accuracies of {accuracies.shape}")
        if not np.allclose(shares.sum(axis=2), accuracies, atol=1e-6):
            raise ValueError("images do not add up to the accuracies")
    fewer = rarer(found, images.classes) if len(f) < FEWEST_OVER else math.inf
    of_random, degrees = image_covariances(random, images.classes)
    if not degrees:
        return Covariances(0.0, 0.0, 0.0, 0.0, 0.0, 0, fewer)
    of_found = image_covariances(found, images.classes)[0]
    return Covariances(
        random=own(of_random),
        found=own(of_found),
        these_found=own(of_found, undrawn=0.0),
        these_trainings=float((centred(found.mean(axis=(0, 1))[None], images.classes)[0] ** 2).sum()),
        across=_across(found, random, images.classes),
        degrees=degrees,
        rarer=fewer,
    )


def _across(found: Float64, random: Float64, classes: NDArray[np.integer]) -> float:
    """Mean covariance of a found and a random sequence, with different seeds where there are any."""
    F, Q = len(found), random.shape[1]
    if found.shape[1] == Q:
        both = image_covariances(np.concatenate([found, random]), classes)[0]
        return float(both[:F, F:].mean())
    others, these = centred(found[:, Q:].mean(axis=1), classes)[0], centred(random.mean(axis=1), classes)[0]
    return float((others @ these.T).mean())
