"""How much better methods score on sequences that were found without them than on those found with them.

Every search leaves out one method of ``M`` in turn, so that a group of ``M`` sequences comes of it; every method is scored on
all. In the mean of held-out accuracies minus that of searched ones, how good a method is cancels, and so does how hard a sequence
is: each is there once as held out and, with the same weight in all, M - 1 times as searched. What is left is what being searched
for costs a method, and how methods happen to differ on single sequences.

The variance is a sum of parts, and the interval Banerjee's (`seqsearch.distribution.parts`):

- *searches*, if there are two or more groups: the variance of the difference over groups, divided by their number;
- *training seeds*, if there are two or more: likewise, over seeds;
- *test images*, where it is known which were right: the variance within classes of what each adds to the difference. Noise of
  training is in it, too, which makes it larger than need be.

The methods are those studied, no sample of methods: nothing is said of others.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seqsearch.distribution.interval import AGREE, Float64, Interval, finite
from seqsearch.distribution.parts import Part, banerjee, image_covariances

FEWEST = 3
"""Methods; without one of fewer there is a search for a single one."""


@dataclass(frozen=True)
class HeldOut:
    """Mean over methods of accuracy held out minus searched; positive: methods score better where they were left out.

    Attributes:
        difference: bounds are NaN where there are none, and ``lacking`` says why.
        by_method: ``[M]`` differences of single methods. How hard the sequences are does not cancel in them.
        parts: what the interval is over: of ``searches``, ``training seeds`` and ``test images`` those that vary here; it is
            conditional on the others.
    """

    difference: Interval
    by_method: tuple[float, ...]
    groups: int
    seeds: int
    parts: tuple[str, ...]
    lacking: str


def held_out(
    accuracy: ArrayLike, image_shares: ArrayLike | None = None, classes: ArrayLike | None = None, level: float = 0.95
) -> HeldOut:
    """From final accuracies ``[S, M, M, R]``: of search group s, left out j, method m, training seed r.

    ``image_shares`` ``[I]``: what each test image adds to the difference, ``classes`` ``[I]`` its class.

    Raises:
        ValueError: another shape, fewer than `FEWEST` methods, missing values, shares that do not add up to the difference.
    """
    a = finite(accuracy, "accuracies", dimensions=(4,))
    S, M, _, R = a.shape
    if a.shape[1] != a.shape[2] or M < FEWEST:
        raise ValueError(
            f"accuracies must be [groups, methods, methods, seeds] of {FEWEST} methods or more, not {a.shape}"
        )
    own = np.einsum("smmr->smr", a)
    each = own - (a.sum(axis=1) - own) / (M - 1)
    d_SR = each.mean(axis=1)
    value = float(d_SR.mean())
    parts: dict[str, Part] = {}
    if S > 1:
        parts["searches"] = (float(d_SR.mean(axis=1).var(ddof=1)) / S, S - 1)
    if R > 1:
        parts["training seeds"] = (float(d_SR.mean(axis=0).var(ddof=1)) / R, R - 1)
    lacking = _lacking(S, R, parts)
    if image_shares is not None and classes is not None:
        parts.update(_images(value, np.asarray(image_shares, dtype=np.float64), np.asarray(classes)))
    difference = Interval(value) if lacking else banerjee(value, parts.values(), level)
    return HeldOut(difference, tuple(each.mean(axis=(0, 2)).tolist()), S, R, () if lacking else tuple(parts), lacking)


def _lacking(S: int, R: int, parts: dict[str, Part]) -> str:
    if S == 1 and R == 1:
        return "one search of each group and one training seed: nothing varies (--searches, --score-seeds)"
    if any(variance <= AGREE**2 for variance, _ in parts.values()):
        return "what searches or seeds differ by cannot be seen: more of them needed (--searches, --score-seeds)"
    return ""


def _images(value: float, shares: Float64, classes: NDArray[np.integer]) -> dict[str, Part]:
    if shares.shape != classes.shape or abs(float(shares.sum()) - value) > 1e-6:
        raise ValueError(f"{shares.shape} images of {classes.shape} classes do not add up to the difference")
    between, degrees = image_covariances(shares[None, None], classes)
    return {"test images": (float(between[0, 0]), degrees)} if degrees else {}
