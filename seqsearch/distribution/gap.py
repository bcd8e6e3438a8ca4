"""How much larger the gap to joint training is on found sequences than on random ones, with intervals.

Joint training learns all classes of a sequence at once, with the same method and training seed. The gap is its accuracy minus
final accuracy, on the same test images. What makes classes hard for both trainings is in no gap, so that the difference of the
gaps is the part of a drop that continual learning adds.

The statements, their parts and their degrees of freedom are those of the drop (`seqsearch.distribution.drop`), of gaps instead of
accuracies. An image adds to a gap where one of the two trainings has it right and the other has it wrong.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from seqsearch.distribution.contrast import FEWEST_OVER, IMAGES
from seqsearch.distribution.drop import ImageShares, statement
from seqsearch.distribution.images import FEWEST_IMAGES, rarer
from seqsearch.distribution.interval import Float64, Interval, finite


@dataclass(frozen=True)
class GapDifference:
    """The gaps to joint training, in units of accuracy, and their difference: found minus random.

    Attributes:
        joint_found, joint_random: mean accuracy of joint training.
        found, random: mean gaps.
        difference: with the interval of the general statement; positive where found sequences have the larger gap.
        conditional: of these found sequences and trainings; the same where there is nothing more general.
        variances: of the difference, by `seqsearch.distribution.drop.PARTS`; those that it leaves out are missing.
        unavailable_because: what there is too little of for an interval, empty if there is one or nothing differs.
        nothing_differs: with each seed all sequences have the same gap, but for rounding. There is no interval then.
    """

    joint_found: float
    joint_random: float
    found: float
    random: float
    difference: Interval
    conditional: Interval
    level: float
    variances: dict[str, float]
    unavailable_because: str
    nothing_differs: bool

    @property
    def these_images(self) -> bool:
        """The interval speaks of these test images: too few, or not known one by one."""
        return IMAGES not in self.variances


def gap_difference(
    found: tuple[ArrayLike, ArrayLike],
    random: tuple[ArrayLike, ArrayLike],
    images: ImageShares | None = None,
    level: float = 0.95,
) -> GapDifference:
    """Of accuracies ``(joint, final)`` of found sequences, each ``[F, R]``, and of random ones ``[L, Q]``, on the first Q seeds.

    ``images``: what each adds to the gaps.

    Raises:
        ValueError: shapes that do not pair, accuracies that are missing, or images that do not add up to the gaps.
    """
    (f, joint_found), (r, joint_random) = _gaps(*found), _gaps(*random)
    unavailable = _unavailable(f, images)
    general = statement(f, r, images, (-1.0, 1.0), level, unavailable)
    return GapDifference(
        joint_found=joint_found,
        joint_random=joint_random,
        found=float(f.mean()),
        random=float(r.mean()),
        difference=general.interval,
        conditional=general.conditional,
        level=level,
        variances=general.variances,
        unavailable_because=general.unavailable_because,
        nothing_differs=general.nothing_differs,
    )


def _gaps(joint: ArrayLike, final: ArrayLike) -> tuple[Float64, float]:
    """Gaps of sequences with seeds, and the mean accuracy of joint training."""
    j, a = (finite(x, "accuracies", dimensions=(2,)) for x in (joint, final))
    if j.shape != a.shape:
        raise ValueError(f"joint training {j.shape} must have the sequences and seeds of {a.shape}")
    return j - a, float(j.mean())


def _unavailable(f: Float64, images: ImageShares | None) -> str:
    """What there is too little of for any interval: the images of few found sequences that tell the two trainings apart."""
    if images is None or len(f) >= FEWEST_OVER or rarer(np.abs(images.found), images.classes) >= FEWEST_IMAGES - 0.5:
        return ""
    return (
        f"joint training and the method disagree on fewer than {FEWEST_IMAGES} images of the found sequence: more test "
        "images needed"
    )
