"""Images of two pools that look alike to a frozen backbone: near duplicates, which fingerprints of pixels miss.

Of each evaluation image, the nearest image to tune on by cosine distance of features (exact, FAISS). What is near is a matter
of the backbone and of the pools, so that it stands beside how near images of one pool are to each other: there, too, near
duplicates and many views of one thing lie close. It names pairs to look at. It proves nothing, and refuses nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from seqsearch.backbones.base import FromScratch
from seqsearch.core.errors import UserError
from seqsearch.core.typed import brief
from seqsearch.features.geometry import nearest, unit_rows
from seqsearch.pools.base import Rows, row_offsets
from seqsearch.pools.union import Union, class_names

Floats = NDArray[np.float32]
SHARE = 0.01
"""Of images of one pool: nearer to an image of the other pool than all but so many are to another image of their own is near."""
ROUNDING = 1e-6
"""Of distances in float32: images that are the same lie this near."""
NAMED = 20
"""Pairs that are named, the closest."""


@dataclass(frozen=True)
class Pair:
    """An evaluation image and the image to tune on that is nearest to it.

    Attributes:
        tuned, evaluated: unique names of their classes.
        tuned_row, evaluated_row: their places among the images of these classes, from 0.
        distance: cosine distance, 0 to 2.
        own: that of the evaluation image to the nearest other one of its own pool.
    """

    tuned: str
    tuned_row: int
    evaluated: str = field(metadata={"json": "judged"})
    evaluated_row: int = field(metadata={"json": "judged_row"})
    distance: float
    own: float


@dataclass(frozen=True)
class NearDuplicates:
    """Of the classes in play.

    Attributes:
        pairs: the closest, nearest first; each evaluation image at most once.
        tuned, evaluated: images compared.
        below: the distance that all but `SHARE` of the images of both pools keep to the nearest other image of their own pool.
        near: evaluation images that are nearer than that to one to tune on.
        within, across: median distance to the nearest image of its own pool, both pools together; of those to evaluate on to the
            nearest one to tune on.
    """

    pairs: tuple[Pair, ...]
    tuned: int
    evaluated: int = field(metadata={"json": "judged"})
    below: float
    near: int
    within: float
    across: float


def check_frozen(name: str, backbone: object) -> None:
    """
    Raises:
        UserError: a backbone begins from scratch.
    """
    if isinstance(backbone, FromScratch):
        raise UserError(
            f"--look-alikes {brief(name)}: begins from scratch, its features say nothing: name one with weights, e.g. glyph_vit "
            "or resnet18"
        )


def near_duplicates(
    images: Union,
    features: Callable[[Rows], Floats],
    tuned: Sequence[int],
    evaluated: Sequence[int],
    device: str = "cpu",
) -> NearDuplicates:
    """Compare all images of these classes of ``images``, by index.

    Args:
        features: of rows ``[n]`` of ``images``, ``[n, d]``; 4 n d bytes are held for each side.
        device: that of FAISS.

    Raises:
        UserError: features that are not finite, an image that cannot be read, or fewer than two images on a side.
    """
    offsets = row_offsets(images.classes)
    nothing = np.zeros(0, np.int64)
    sides = [
        np.concatenate([nothing, *(np.arange(offsets[c], offsets[c + 1]) for c in sorted(set(side)))])
        for side in (tuned, evaluated)
    ]
    if min(map(len, sides)) < 2:
        raise UserError("look-alikes need two images or more on each side")
    try:
        one, other = (unit_rows(features(rows)) for rows in sides)
    except UserError:
        raise
    except ValueError as error:
        raise UserError(f"look-alikes: {error}: choose another backbone") from None
    cosines, whose = nearest(other, one, 1, device)
    own = [_own(side, device) for side in (one, other)]
    distances, both = _distance(cosines[:, 0]), np.concatenate(own)
    below, names = float(np.quantile(both, SHARE, method="lower")), class_names(images)

    def place(row: int) -> tuple[str, int]:
        index = int(np.searchsorted(offsets, row, side="right")) - 1
        return names[index], int(row - offsets[index])

    closest = np.argsort(distances, kind="stable")[:NAMED].tolist()
    pairs = (
        Pair(*place(int(sides[0][whose[i, 0]])), *place(int(sides[1][i])), float(distances[i]), float(own[1][i]))
        for i in closest
    )
    near = int((distances + ROUNDING < below).sum())
    return NearDuplicates(
        tuple(pairs), len(one), len(other), below, near, float(np.median(both)), float(np.median(distances))
    )


def _own(side: Floats, device: str) -> Floats:
    """Distance of each image to the nearest other one of its side ``[n]``."""
    cosines, whose = nearest(side, side, 2, device)
    itself = whose == np.arange(len(side))[:, None]
    itself[~itself.any(axis=1), 1] = True  # two others that are the same come before it
    return _distance(cosines[~itself])


def _distance(cosines: Floats) -> Floats:
    found: Floats = np.clip(1 - cosines, 0, 2)
    return found
