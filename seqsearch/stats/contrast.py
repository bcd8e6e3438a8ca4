"""A weighted sum of means, e.g. a difference of two, with its confidence interval.

The drop from random to found sequences, the gap to joint training, the effects of explain, the difference of two runs and that
of held-out and searched methods are calls of `contrast`. Each mean is that of a `Stratum`: sequences of one kind, trained with
the first of the same R seeds. Strata are drawn independently of each other; seeds are common to all, test images to all that
hold their class. Studies of several readers and cases have this structure ("One-shot estimate of MRMC variance: AUC", Gallas,
2006). The variance is a sum of parts:

- *of each stratum that is a draw* (random sequences, regroupings, searches): the variance of its sequences' means over seeds,
  divided by their number, and times the share of the population that was not drawn, if there is an end of it;
- *training seeds*, from `FEWEST_OVER` on: the variance of the sum from seed to seed, divided by their number. If some strata
  have only the first Q of the R seeds, their correlation with the others is unknown. Then the part is the variance of the
  others' sum from seed to seed, times the larger of 1 / R (seeds act on these alone) and 1 / Q - 1 / R (they act on all alike);
- *test images* (`image_part`): covariances over the images of a class, between different sequences of a draw: the effect of
  images that only one sequence has is in the spread of the draw.

With fewer than `FEWEST_OVER` searches or seeds there is no such part, and the statement is conditional on them. From three on
the interval can be much wider, so that `Contrast.conditional` has the conditional one as well.

The interval is Banerjee's (`seqsearch.stats.interval.banerjee`): Satterthwaite's degrees of freedom give a narrower one, which
holds too rarely where a part rests on two or three values. The part of a draw of n random sequences has fewer degrees of
freedom than the n - 1 of normal accuracies (`degrees_of`), so that it holds for skewed ones as well. Found sequences and
training seeds have n - 1. With three or five of them, fewer degrees would double the width, and with n - 1 the drop holds in 91
% or more for skewed ones, too. The mean of one draw of random sequences has the rule of all means (`seqsearch.stats.mean`).
`benchmarks.coverage.found`, `effects`, `compare` and `held_out` measure how often all these hold.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from seqsearch.stats.interval import AGREE, Float64, Interval, Part, all_equal, banerjee, degrees_of, finite, t_quantile
from seqsearch.stats.mean import DIFFERENCE, FEWEST, Limits, mean_interval

SEEDS, IMAGES = "training seeds", "test images"
FEWEST_OVER = 3
"""Searches, or training seeds, from which on a statement is over them: two values do not say how others vary."""


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
        identical: equal scores are no coincidence: a method whose accuracy does not depend on the order of tasks.
        searched: searches found them.
    """

    kind: str
    values: Float64
    images: NDArray[np.floating] | None = None
    population: float = math.inf
    same_images: bool = False
    identical: bool = False
    searched: bool = False

    @classmethod
    def of_found(cls, kind: str, values: Float64, images: NDArray[np.floating] | None) -> Stratum:
        """Sequences that searches found: a draw from `FEWEST_OVER` on, unless all have one accuracy; else all there are."""
        few = len(values) < FEWEST_OVER
        these = few or all_equal(values.mean(axis=1))
        return cls(kind, values, images, len(values) if these else math.inf, same_images=few, searched=True)

    @property
    def not_sampled(self) -> float:
        """The share of the population that is not among them."""
        return 1 - len(self.values) / self.population


@dataclass(frozen=True)
class Contrast:
    """A sum of means with signs.

    Attributes:
        interval: by itself, at ``level``.
        conditional: of these searches and training seeds, by itself; the same where there is nothing more general.
        together: at the level at which all intervals of the family hold together (Bonferroni); the same if it is one.
        variances: by part; those that it leaves out are missing, and it is conditional on these.
        shares: of the squared width of ``interval``, by part.
        unavailable_because: what there is too little of for an interval, empty if there is one or nothing differs.
        nothing_differs: the sum is 0 with every seed that all strata have, and no stratum varies with any seed.
    """

    interval: Interval
    conditional: Interval
    together: Interval
    level: float
    variances: dict[str, float]
    shares: dict[str, float]
    unavailable_because: str
    nothing_differs: bool

    @property
    def over_seeds(self) -> bool:
        """Whether the interval is for other training seeds, not only for these trainings."""
        return SEEDS in self.variances

    @property
    def these_images(self) -> bool:
        """Whether the interval is for these test images only: too few, or not known one by one."""
        return IMAGES not in self.variances


def all_right_or_wrong(*sides: Float64) -> str:
    """The reason for no interval if a side has no error at all, or nothing but errors: the rarer outcome has an unknown rate."""
    if any(all_equal(np.append(s, 0.0)) or all_equal(np.append(s, 1.0)) for s in sides):
        return "all images of one side are right, or all are wrong: more test images needed"
    return ""


Terms = Sequence[tuple[float, Stratum]]
"""Weights and strata. For a difference the weights of each side sum up to 1 or -1; for the relative drop they are derivatives."""
Parts = dict[tuple[str, int], Part]
"""By name, and number of the stratum."""


def contrast(
    terms: Terms,
    classes: NDArray[np.integer] | None = None,
    level: float = 0.95,
    *,
    family: int = 1,
    unavailable_because: str = "",
    given: Terms | None = None,
    limits: Limits = DIFFERENCE,
    value: float | None = None,
) -> Contrast:
    """The weighted sum of the means of strata; ``classes [I]`` of the test images, where they are known.

    Args:
        family: intervals that are read together, for ``Contrast.together``.
        unavailable_because: what the caller knows there to be too little of, for any interval.
        given: the terms of the conditional interval, where they are others; else these, with searches not sampled.
        limits: at which the interval of the mean of a single stratum is cut.
        value: what the sum is the linear approximation of; the interval is around it.

    Raises:
        ValueError: no strata, values that are missing, or images that do not add up to the values.
    """
    if not terms:
        raise ValueError("a contrast needs strata")
    for _, s in terms:
        finite(s.values, s.kind, dimensions=(2,))
    same = (value is None or abs(value) <= AGREE) and _nothing_differs(terms)
    given = given or [(w, replace(s, population=len(s.values)) if s.searched else s) for w, s in terms]
    of_these, _ = _parts(given, classes, False, unavailable_because)
    parts, unavailable_because = _parts(terms, classes, _seeds(terms)[1] >= FEWEST_OVER, unavailable_because)
    if value is None:
        value = float(sum(w * s.values.mean() for w, s in terms))
    if same:
        parts, of_these, unavailable_because, value = {}, {}, "", 0.0
    value = 0.0 if abs(value) <= AGREE else value
    variances, shares = _by_name(parts, level)
    return Contrast(
        interval=_interval(terms, value, parts, level, limits),
        conditional=_interval(given, value, of_these, level, limits),
        together=_interval(terms, value, parts, 1 - (1 - level) / family, limits),
        level=level,
        variances=variances,
        shares=shares,
        unavailable_because=unavailable_because,
        nothing_differs=same,
    )


def _seeds(terms: Terms) -> tuple[int, int]:
    """The fewest and the most training seeds of a stratum."""
    numbers = [s.values.shape[1] for _, s in terms]
    return min(numbers), max(numbers)


def _nothing_differs(terms: Terms) -> bool:
    Q, _ = _seeds(terms)
    by_seed = sum(w * s.values[:, :Q].mean(axis=0) for w, s in terms)
    return bool(np.abs(by_seed).max() <= AGREE) and all(all_equal(column) for _, s in terms for column in s.values.T)


def _unavailable(terms: Terms, classes: NDArray[np.integer] | None, parts: Parts) -> str:
    """The reason for no interval; empty if there is none."""
    for _, s in terms:
        n = len(s.values)
        if s.not_sampled > 0 and n < min(FEWEST, s.population):
            return f"too few {s.kind}, {int(min(FEWEST, s.population)) - n} more needed"
        if s.not_sampled > 0 and not s.identical and all_equal(s.values.mean(axis=1)):
            return f"the {s.kind} score alike, so that their spread is unknown: more {s.kind}, or test images, needed"
        if not s.same_images or s.images is None:
            continue
        of = np.zeros(s.images.shape[2], dtype=int) if classes is None else classes
        if rarer(np.abs(s.images), of) < FEWEST_IMAGES - 0.5:
            return (
                f"fewer than {FEWEST_IMAGES} test images of the {s.kind} were right with some seed, or wrong with some: more "
                "test images needed"
            )
    if not parts:
        return f"too few training seeds, {FEWEST_OVER - _seeds(terms)[1]} more needed"
    if not sum(variance for variance, _ in parts.values()) > AGREE**2:
        return "nothing varies on either side: more sequences and seeds needed"
    return ""


def _parts(
    terms: Terms, classes: NDArray[np.integer] | None, over_seeds: bool, unavailable_because: str
) -> tuple[Parts, str]:
    """The parts of the variance; or none, and what there is too little of."""
    parts: Parts = {}
    for i, (w, s) in enumerate(terms):
        n = len(s.values)
        if s.not_sampled > 0 and n > 1:
            spread = float(s.values.mean(axis=1).var(ddof=1)) / n
            parts[s.kind, i] = w**2 * s.not_sampled * spread, n - 1 if s.searched else degrees_of(n)
    if over_seeds:
        Q, R = _seeds(terms)
        by_seed = np.sum([w * s.values.mean(axis=0) for w, s in terms if s.values.shape[1] == R], axis=0)
        share = 1 / R if Q == R else max(1 / R, 1 / Q - 1 / R)
        parts[SEEDS, 0] = float(by_seed.var(ddof=1)) * share, R - 1
    of_images = image_part(terms, classes, over_seeds) if classes is not None else None
    parts |= {(IMAGES, 0): of_images} if of_images else {}
    unavailable_because = unavailable_because or _unavailable(terms, classes, parts)
    return ({}, unavailable_because) if unavailable_because else (parts, "")


def _by_name(parts: Parts, level: float) -> tuple[dict[str, float], dict[str, float]]:
    """Variances by name, and their shares of the squared width of the interval."""
    variances: dict[str, float] = {}
    squares: dict[str, float] = {}
    for (name, _), (variance, degrees) in parts.items():
        variances[name] = variances.get(name, 0.0) + variance
        squares[name] = squares.get(name, 0.0) + variance * t_quantile(level, degrees) ** 2
    return variances, {name: s / sum(squares.values()) for name, s in squares.items()}


def _interval(terms: Terms, value: float, parts: Parts, level: float, limits: Limits) -> Interval:
    """Of a single draw of random sequences that of its mean, which the other parts widen; else Banerjee's."""
    (_, s), *others = terms
    if others or s.not_sampled < 1 or not parts or s.identical or s.searched:
        i = banerjee(value, parts.values(), level)
        return i if others or not parts else Interval(value, max(limits[0], i.low), min(limits[1], i.high))
    rest = [part for (name, _), part in parts.items() if name != s.kind]
    shared = banerjee(value, rest, level).half_width if rest else 0.0
    return mean_interval(s.values.mean(axis=1), limits, level, shared)


FEWEST_IMAGES = 5
"""Different test images that must be right, and wrong, with some seed, where sequences hold the same images: of fewer, how they
vary is chance."""


def image_part(terms: Terms, classes: NDArray[np.integer], over_seeds: bool) -> Part | None:
    """The part of the test images in the variance of a sum of means, as far as the spread of the draws does not contain it.

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
