"""A pool beside the images that a network was pre-trained on: names of classes, equal images, near duplicates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch

from seqsearch.backbones.base import Backbone
from seqsearch.features.store import UnionFeatures
from seqsearch.pools.union import Union
from seqsearch.storage.files import cache_root
from seqsearch.study.near_duplicates import NearDuplicates, near_duplicates
from seqsearch.study.overlap import overlaps


@dataclass(frozen=True)
class Compared:
    """Overlap of a pool with other images.

    Attributes:
        named: classes that have the same name as one of the others, or may have, and the name of that one.
        images: different images that are in both, pixel for pixel.
        near: near duplicates by features of a backbone; None: they were not looked for.
    """

    named: Mapping[str, str]
    images: int
    near: NearDuplicates | None


def compared(pools: Union, others: Union, backbone: Backbone | None, device: str) -> Compared:
    """Compare a pool with ``others``, the images that a network was pre-trained on.

    Args:
        backbone: near duplicates are found by its features; None: they are not looked for.
        device: where it computes.

    Raises:
        UserError: an image cannot be read, or features are not finite.
    """
    found = overlaps(others, pools, range(len(others.classes)), range(len(pools.classes)))
    named = {s.evaluated: s.tuned for s in found.shared if s.called}
    if backbone is None:
        return Compared(named, found.images, None)
    both, first = Union([*others.parts, *pools.parts]), len(others.classes)
    features = UnionFeatures(cache_root(), both, backbone, torch.device(device))
    near = near_duplicates(both, features.rows, range(first), range(first, len(both.classes)), device)
    return Compared(named, found.images, near)
