"""A sum of means with signs, e.g. the difference of two conditions, with an interval, from sequences trained with the same seeds.

Each mean is that of a `Stratum`: sequences of one kind, all trained with the same R seeds. Strata are drawn independently of each
other; seeds are common to all, test images to all that hold their class. The variance is a sum of parts:

- *of each kind of stratum that is a draw* (random sequences, regroupings, ...): the variance of its sequences' means over seeds,
  divided by their number, and times the share of the population that was not drawn, if there is an end of it;
- *training seeds*, from two on: the variance of the sum from seed to seed, divided by their number;
- *test images*: covariances over the images of a class (`seqsearch.distribution.parts`), between different sequences of a draw:
  what images only one of them has do is in the spread of the draw.

The interval is Banerjee's. The part of a draw of n sequences has fewer degrees of freedom than the n - 1 of normal accuracies
(`degrees_of`), so that it holds for skewed ones as well: Student's interval of eight draws from an exponential distribution holds
in 89 %, this in 94 % (docs/explain.md, `benchmarks.coverage_effects`).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from seqsearch.distribution.interval import AGREE, Float64, Interval, finite
from seqsearch.distribution.mean import FEWEST
from seqsearch.distribution.parts import (
    FEWEST_IMAGES,
    TOO_RARE,
    Part,
    alike,
    banerjee,
    image_covariances,
    own,
    quantile,
    rarer,
)
from seqsearch.distribution.pivot import degrees_of

SEEDS, IMAGES = "training seeds", "test images"


@dataclass(frozen=True, eq=False)
class Stratum:
    """Sequences of one kind, on one side of the contrast.

    Attributes:
        kind: what they are, in the plural, e.g. ``random sequences``.
        values: ``[n, R]`` a figure of each with each seed, the seeds in the same order in every stratum.
        images: ``[n, R, I]`` what each test image adds to it, the same images in every stratum; None where unknown.
        population: how many there are, of which these were drawn without putting back; infinity for draws without end, n where
            these are all that are meant.
        same_images: they all hold the same classes, so that their images are not drawn anew with each.
        identical: that they score alike is no coincidence: a method that does not mind the order of tasks.
    """

    kind: str
    values: Float64
    images: NDArray[np.floating] | None = None
    population: float = math.inf
    same_images: bool = False
    identical: bool = False

    @property
    def undrawn(self) -> float:
        """The share of the population that is not among them. With one seed 1: what one training happened to bring varies."""
        n, R = self.values.shape
        return 1.0 if R == 1 else 1 - n / self.population


@dataclass(frozen=True)
class Contrast:
    """A sum of means with signs.

    Attributes:
        interval: by itself, at ``level``.
        together: at the level at which all intervals of the family hold together (Bonferroni); the same if it is one.
        variances: by part; those that it leaves out are missing, and it is conditional on these.
        shares: of the squared width of ``interval``, by part.
        lacking: what there is too little of for an interval, empty if there is one or nothing differs.
        nothing_differs: the sum is 0 with every seed, and no stratum varies.
        unseeded: there is one training seed.
    """

    interval: Interval
    together: Interval
    level: float
    variances: dict[str, float]
    shares: dict[str, float]
    lacking: str
    nothing_differs: bool
    unseeded: bool

    @property
    def these_images(self) -> bool:
        """The interval speaks of these test images: too few, or not known one by one."""
        return IMAGES not in self.variances


Terms = Sequence[tuple[float, Stratum]]
"""Weights and strata; the weights of each side sum up to 1 or -1."""


def contrast(
    terms: Terms, classes: NDArray[np.integer] | None = None, level: float = 0.95, family: int = 1, lacking: str = ""
) -> Contrast:
    """The weighted sum of the means of strata; ``classes [I]`` of the test images, where they are known.

    Args:
        family: intervals that are read together, for ``Contrast.together``.
        lacking: what the caller knows there to be too little of, for any interval.

    Raises:
        ValueError: no strata, values that are missing, other seeds, or images that do not add up to the values.
    """
    if not terms:
        raise ValueError("a contrast needs strata")
    for _, s in terms:
        finite(s.values, s.kind, dimensions=(2,))
    if len({s.values.shape[1] for _, s in terms}) != 1:
        raise ValueError("strata must share training seeds")
    value = float(sum(w * s.values.mean() for w, s in terms))
    same = _nothing_differs(terms)
    lacking = "" if same else lacking or _lacking(terms, classes)
    parts = {} if lacking or same else _parts(terms, classes)
    if not lacking and not same and sum(v for v, _ in parts.values()) <= AGREE**2:
        lacking, parts = "nothing varies on either side: more sequences and seeds needed", {}
    by_name: dict[str, float] = {}
    squares: dict[str, float] = {}
    for (name, _), (variance, degrees) in parts.items():
        by_name[name] = by_name.get(name, 0.0) + variance
        squares[name] = squares.get(name, 0.0) + variance * quantile(level, degrees) ** 2
    return Contrast(
        interval=banerjee(value, parts.values(), level),
        together=banerjee(value, parts.values(), 1 - (1 - level) / family), level=level, variances=by_name,
        shares={name: s / sum(squares.values()) for name, s in squares.items()}, lacking=lacking, nothing_differs=same,
        unseeded=terms[0][1].values.shape[1] == 1,
    )  # fmt: skip


def _nothing_differs(terms: Terms) -> bool:
    by_seed = sum(w * s.values.mean(axis=0) for w, s in terms)
    return bool(np.abs(by_seed).max() <= AGREE) and all(alike(column) for _, s in terms for column in s.values.T)


def _lacking(terms: Terms, classes: NDArray[np.integer] | None) -> str:
    """What there is too little of for any interval."""
    for _, s in terms:
        n, R = s.values.shape
        if n == 1 and R == 1:
            return "too few training seeds, 1 more needed"
        if s.undrawn > 0 and n < min(FEWEST, s.population):
            return f"too few {s.kind}, {FEWEST - n} more needed"
        if s.undrawn > 0 and not s.identical and alike(s.values.mean(axis=1)):
            return f"the {s.kind} score alike, so that what they differ by is not known: more of them, or test images, needed"
        if not s.same_images or s.images is None:
            continue
        of = np.zeros(s.images.shape[2], dtype=int) if classes is None else classes
        if rarer(np.abs(s.images), of) < FEWEST_IMAGES - 0.5:
            return f"fewer than {FEWEST_IMAGES} images of the found classes {TOO_RARE}"
    return ""


def _parts(terms: Terms, classes: NDArray[np.integer] | None) -> dict[tuple[str, int], Part]:
    """By name, and number of the stratum."""
    parts: dict[tuple[str, int], Part] = {}
    for i, (w, s) in enumerate(terms):
        n = len(s.values)
        if s.undrawn > 0:
            spread = float(s.values.mean(axis=1).var(ddof=1)) / n
            parts[s.kind, i] = w**2 * s.undrawn * spread, degrees_of(n)
    by_seed = np.sum([w * s.values.mean(axis=0) for w, s in terms], axis=0)
    R = len(by_seed)
    if R > 1:
        parts[SEEDS, 0] = float(by_seed.var(ddof=1)) / R, R - 1
    if classes is not None and all(s.images is not None for _, s in terms):
        variance, degrees = _of_images(terms, classes)
        if degrees:
            parts[IMAGES, 0] = max(0.0, variance), degrees
    return parts


def _of_images(terms: Terms, classes: NDArray[np.integer]) -> tuple[float, int]:
    """The variance of the sum by the test images, as far as it is in no draw's spread, and its degrees."""
    values = np.concatenate([s.values for _, s in terms])
    shares = np.concatenate([np.asarray(s.images, dtype=np.float64) for _, s in terms])
    if shares.shape[:2] != values.shape or classes.shape != shares.shape[2:]:
        raise ValueError(f"images of shape {shares.shape} do not pair with values of {values.shape}")
    if not np.allclose(shares.sum(axis=2), values, atol=1e-6):
        raise ValueError("images do not add up to the values")
    between, degrees = image_covariances(shares, classes)
    ends = np.cumsum([0, *(len(s.values) for _, s in terms)])
    at = [slice(a, b) for a, b in itertools.pairwise(ends)]
    variance = 0.0
    for i, (w, s) in enumerate(terms):
        variance += w**2 * own(between[at[i], at[i]], s.undrawn)
        variance += 2 * sum(w * v * float(between[at[i], at[j]].mean()) for j, (v, _) in enumerate(terms[:i]))
    return variance, degrees
