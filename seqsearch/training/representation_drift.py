"""How far training has moved a method's features from those of the frozen network, on a few images that it learned from.

A method whose features hardly differ from the frozen ones is a classifier on frozen features, whatever its page says. This is
measured for every state that is trained, when the state is stored already: nothing that it looks at can change a result.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch

from seqsearch.backbones.base import FromScratch
from seqsearch.core.deadline import ends_session
from seqsearch.methods.data import Batch

if TYPE_CHECKING:
    from seqsearch.methods.base import Method
    from seqsearch.pools.base import Rows
    from seqsearch.training.context import PoolSource

MOST = 8
"""Images that are looked at."""


def representation_drift(method: Method, source: PoolSource, rows: Rows) -> float | None:
    """The distance of a method in a state just trained, or None.

    It is the mean over images of ``|f - f_0| / |f_0|``, with f the method's features and f_0 those of the network as pre-trained,
    whatever the method was before: of one that adapts to its first task alone every state says how far that went. Features
    ``[n, k d]``, k times as wide as the backbone, as of several networks or sets of adapters, are compared part by part.

    There is none of features that are the frozen ones by declaration (`Method.feature_space`), for a network from scratch, whose
    first weights mean nothing, for features of another width, and where a method fails to give any: what does not need them
    must not fail for it.

    Args:
        method: it has learned `rows` just now.
        source: of images and of the frozen network.
        rows: at most `MOST` training images of its last experience ``[n]``.
    """
    if isinstance(source.backbone, FromScratch) or not len(rows):
        return None
    try:
        if method.feature_space() == source.features.space:
            return None
        batch = Batch(rows, source)
        with torch.no_grad():
            found = method.features(batch).detach().float().cpu()
        distance = relative(found, source.features.network.of(batch.inputs))
    except BaseException as error:
        if ends_session(error):
            raise
        return None
    return distance if math.isfinite(distance) else None


def relative(found: torch.Tensor, frozen: torch.Tensor) -> float:
    """Mean of ``|f - f_0| / |f_0|`` over images, f ``[n, k d]`` being compared with k copies of f_0 ``[n, d]``; NaN if it is no
    multiple of its width."""
    if found.ndim != 2 or len(found) != len(frozen) or not found.shape[1] or found.shape[1] % frozen.shape[1]:
        return math.nan
    copies = frozen.repeat(1, found.shape[1] // frozen.shape[1])
    return float(((found - copies).norm(dim=1) / copies.norm(dim=1)).mean())
