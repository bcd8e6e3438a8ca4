"""Do trainings show anything above chance? Exact tests of how many test images of each class were right.

Chance is the accuracy of the best answer that does not look at the image: to call every image one of the commonest class. With
as many images of each of K classes that is 1 / K, as for guessing.

Let a training answer without regard to the image's class: always alike, or by draws, or by what else is in the image. Test
images that are drawn independently of each other, given their classes, are then right independently of each other, those of
class c with a probability q_c, and the q_c add up to 1 at most.

- All images together: chance bounds their mean probability, and of all such sums the binomial one has the largest tail ("On the
  distribution of the number of successes in independent trials", Hoeffding, 1956).
- Where classes have unequal numbers of images, one of many images hides the others in that sum. There the sum of the shares
  that are right of each class counts as well, which is 1 at most in the mean: Chernoff's bound of its tail, for the worst q.
  The lesser of both p-values is taken twice.

Trainings share images, and seeds: the least p-value of R trainings is taken times R (Bonferroni), which holds however they
depend on each other. So a method that guesses everywhere is significantly above chance in at most `LEVEL` of all draws of test
images; in fewer, since numbers of images are whole and the bounds are loose. This is a statement on fixed trainings. Over
trainings it says less: images of a class look alike, so that a network that learned nothing may have much of one class right,
and the more trainings there are, the more often one of them is above chance. To be above chance is no sign that anything was
learned.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

LEVEL = 0.05
"""Of the test over all trainings together."""


@dataclass(frozen=True)
class Chance:
    """The comparison of a method with chance, over several trainings.

    Attributes:
        trainings: how many were tested together.
        images: test images of the training that has the fewest.
        p: that one of them or more has as much right by chance, at most.
        best: the same if all had been right.
        significant_from: the least share of images right in the training with the fewest that would be significantly above
            chance, as a fraction; None if all right would not be, or if classes have unequal numbers of images, because it then
            depends on which images.
    """

    trainings: int
    images: int
    p: float
    best: float
    significant_from: float | None

    @property
    def above(self) -> bool:
        """Some training is above chance."""
        return self.p <= LEVEL


def beside_chance(right: Sequence[Sequence[int]], class_n: Sequence[Sequence[int]]) -> Chance:
    """Of R trainings: images right of each class, ``right [R][K]``, of those there are, ``class_n [R][K]``.

    Raises:
        ValueError: nothing to test, a class without images, or more right than there are.
    """
    from scipy import stats

    pairs = [
        (np.asarray(r, dtype=np.int64), np.asarray(n, dtype=np.int64)) for r, n in zip(right, class_n, strict=True)
    ]
    if not pairs or any(
        not len(n) or r.shape != n.shape or (n < 1).any() or (r > n).any() or (r < 0).any() for r, n in pairs
    ):
        raise ValueError(
            f"{len(pairs)} trainings with images {list(map(list, class_n))} and right {list(map(list, right))}: no test"
        )
    R = len(pairs)
    n = min((n for _, n in pairs), key=lambda n: int(n.sum()))
    significant_from = None
    if all((one == one[0]).all() for _, one in pairs):
        critical = int(stats.binom.isf(LEVEL / R, n.sum(), 1 / len(n))) + 1
        significant_from = critical / int(n.sum()) if critical <= n.sum() else None
    return Chance(
        trainings=R,
        images=int(n.sum()),
        p=min(1.0, R * min(_p(r, n) for r, n in pairs)),
        best=min(1.0, R * min(_best(tuple(n.tolist())) for _, n in pairs)),
        significant_from=significant_from,
    )


Counts = npt.NDArray[np.int64]


def _p(right: Counts, n: Counts) -> float:
    """Of one training: images right ``[K]`` of ``n [K]``."""
    from scipy import stats

    together = float(stats.binom.sf(right.sum() - 1, n.sum(), n.max() / n.sum()))
    if (n == n[0]).all():
        return together
    return min(1.0, 2 * min(together, _by_class(right, n)))


@lru_cache(maxsize=1000)
def _best(n: tuple[int, ...]) -> float:
    """`_p` of all right."""
    return _p(np.array(n), np.array(n))


def _by_class(right: Counts, n: Counts) -> float:
    """Bound of the probability that the sum of ``right / n`` over K classes is so large, whatever the q_c are.

    For each l > 0 it is at most exp(sum_c n_c log(1 + q_c a_c) - l s), with a_c = exp(l / n_c) - 1 and s the sum that was seen.
    In q this is concave, with its maximum where q_c = max(0, n_c / m - 1 / a_c) and the m that makes them add up to 1.
    """
    from scipy import optimize

    seen = float((right / n).sum())
    if seen <= 1:
        return 1.0

    def exponent(log_l: float) -> float:
        a = np.expm1(np.exp(log_l) / n)

        def q(log_m: float) -> npt.NDArray[np.float64]:
            found: npt.NDArray[np.float64] = np.maximum(0, n / np.exp(log_m) - 1 / a)
            return found

        low, high = (
            np.log((n / (1 + 1 / a)).min()) - 1,
            np.log((n * a).max()),
        )  # there they add up to 1 or more, and to 0
        worst = q(optimize.brentq(lambda log_m: float(q(log_m).sum()) - 1, low, high))
        return float((n * np.log1p(worst * a)).sum() - np.exp(log_l) * seen)

    most = float(np.log(500 * n.min()))  # a_c stays finite
    found = optimize.minimize_scalar(exponent, bounds=(-10.0, most), method="bounded")
    return float(np.exp(min(0.0, found.fun)))
