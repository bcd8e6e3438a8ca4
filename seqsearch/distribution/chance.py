"""Whether trainings show anything above chance: exact binomial tests of how many test images were right.

Chance is what the best answer gives that does not look at the image: to call every image one of the commonest class. With as many
images of each of K classes that is 1 / K, which guessing gives too.

Let a training answer without regard to the image's class: always alike, or by draws, or by what else is in the image. Test images
that are drawn independently of each other, given their classes, are then right independently of each other, and chance bounds
their mean probability. Of all such sums the binomial one has the largest tail ("On the distribution of the number of successes in
independent trials", Hoeffding, 1956). Trainings share images, and seeds: the least p-value of R trainings is taken times R
(Bonferroni), which holds however they depend on each other. So a method that guesses everywhere is told from chance in at most
`LEVEL` of all draws of test images; in fewer, since numbers of images are whole and the bounds are loose.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

LEVEL = 0.05
"""Of the test over all trainings together."""


@dataclass(frozen=True)
class Chance:
    """What is known of a method beside chance, over several trainings.

    Attributes:
        trainings: how many were tested together.
        images: test images of the training that has the fewest.
        p: that one of them or more has so many images right by chance, at most.
        told_from: the least share of images right in the training with the fewest that would be told from chance, as a
            fraction; None if all right would not be.
    """

    trainings: int
    images: int
    p: float
    told_from: float | None

    @property
    def above(self) -> bool:
        """Some training is above chance."""
        return self.p <= LEVEL


def beside_chance(right: Sequence[int], class_n: Sequence[Sequence[int]]) -> Chance:
    """Of R trainings: images right ``right [R]`` of the images of each class ``class_n [R][K]``.

    Raises:
        ValueError: nothing to test, or more right than there are.
    """
    from scipy import stats

    images = np.array([sum(n) for n in class_n])
    if not len(right) or len(right) != len(images) or (images < 1).any() or (np.asarray(right) > images).any():
        raise ValueError(f"{len(right)} trainings with images {images.tolist()} and right {list(right)}: no test")
    chance = np.array([max(n) / sum(n) for n in class_n])
    p = stats.binom.sf(np.asarray(right) - 1, images, chance)
    least = int(images.argmin())
    n, share = int(images[least]), float(chance[least])
    critical = int(stats.binom.isf(LEVEL / len(right), n, share)) + 1
    return Chance(
        trainings=len(right), images=n, p=min(1.0, len(right) * float(np.min(p))),
        told_from=critical / n if critical <= n else None,
    )  # fmt: skip
