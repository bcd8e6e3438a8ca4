"""How much better methods score on sequences that were found without them than on those found with them.

Every search leaves out one method of ``M`` in turn, so that a group of ``M`` sequences comes of it; every method is scored on
all. In the mean of held-out accuracies minus that of searched ones, how good a method is cancels, and so does how hard a sequence
is: each is there once as held out and, with the same weight in all, M - 1 times as searched. What is left is what being searched
for costs a method, and how methods happen to differ on single sequences.

The interval is over *searches* from three groups on, over *training seeds* from three on, and over *test images* where it is
known which were right (`seqsearch.distribution.contrast`); it is conditional on what it is not over.

The methods are those studied, no sample of methods: nothing is said of others.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from seqsearch.distribution.contrast import Stratum, contrast
from seqsearch.distribution.interval import Interval, finite

FEWEST = 3
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
    unavailable_because: str


def held_out(
    accuracy: ArrayLike, image_shares: ArrayLike | None = None, classes: ArrayLike | None = None, level: float = 0.95
) -> HeldOut:
    """From final accuracies ``[S, M, M, R]``: of search group s, left out j, method m, training seed r.

    ``image_shares`` ``[S, R, I]``: what each test image adds to the difference of a group and seed; ``classes`` ``[I]``: of
    which class it is.

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
