"""Which methods may be the best on found sequences: the 95 % set of the best.

A method leaves the set if another is better beyond the error of their difference ("Simultaneous Confidence Intervals for All
Distances from the 'Best'", Hsu, 1981). Each of the k - 1 differences to a method is taken at (1 - level) / (k - 1), one-sided, so
that the truly best one leaves with a probability of at most 1 - level, however the methods go together. The interval of a
difference is `seqsearch.distribution.contrast`'s: methods are paired on sequences, seeds and test images.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

from numpy.typing import ArrayLike

from seqsearch.distribution.contrast import Stratum, contrast
from seqsearch.distribution.drop import FOUND, ImageShares
from seqsearch.distribution.interval import finite

Images = Callable[[int, int], ImageShares | None]
"""Of two methods, by number: what each test image adds to the accuracies of the first (``found``) and the second (``random``)."""


def set_of_best(
    accuracies: Sequence[ArrayLike], images: Images = lambda i, j: None, level: float = 0.95
) -> tuple[int, ...]:
    """The numbers of the methods that may be the best, of ``accuracies`` ``[F, R]`` of each on the same sequences and seeds.

    Pairs of which too little is known for an interval take no method out.

    Raises:
        ValueError: other shapes, missing values, or images that do not add up to the accuracies.
    """
    values = [finite(a, "accuracies", dimensions=(2,)) for a in accuracies]
    if len({v.shape for v in values}) > 1:
        raise ValueError("methods must have the same sequences and seeds")
    pairs = itertools.combinations(range(len(values)), 2)
    worse = set()
    for i, j in pairs:
        of = images(i, j)
        shares = None if of is None else of.found - of.random
        difference = Stratum.of_found(FOUND, values[i] - values[j], shares)
        one_sided = 1 - 2 * (1 - level) / (len(values) - 1)
        sign = contrast([(1.0, difference)], None if of is None else of.classes, one_sided).interval.sign
        worse |= {j} if sign > 0 else {i} if sign < 0 else set()
    return tuple(i for i in range(len(values)) if i not in worse)
