"""Features that a stream brings instead of images: the backbone ``given:dim=D``, which is none and computes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from seqsearch.core.digests import digest_of
from seqsearch.core.errors import UserError
from seqsearch.core.typed import brief
from seqsearch.pools.base import View

if TYPE_CHECKING:
    import torch

WIDEST = 1 << 20
"""Values of a feature, at most."""


class Given:
    """See ``seqsearch.backbones.base.Backbone``: features ``[n, dim]`` come with the stream."""

    view = View(1)
    vit = False

    def __init__(self, dim: int) -> None:
        self.dim = dim
        self.name = f"given:dim={dim}"
        self.tag = f"given.{dim}"
        self.digest = digest_of("given features", dim)

    def module(self) -> NoReturn:
        """
        Raises:
            UserError: always.
        """
        raise UserError(
            f"backbone '{self.name}' has no network, its features came with the stream: take a learner of frozen features, "
            "or a stream of images"
        )

    def preprocess(self, images: NDArray[np.uint8]) -> torch.Tensor:
        """Bytes as numbers from 0 to 1; there are no images to look at."""
        import torch

        return torch.from_numpy(np.asarray(images, dtype=np.float32) / 255)


def build(dim: int) -> Given:
    """The stand-in for features of ``dim`` values.

    Raises:
        UserError: ``dim`` is no number of values.
    """
    if isinstance(dim, bool) or not isinstance(dim, int) or not 1 <= dim <= WIDEST:
        raise UserError(f"backbone 'given': dim={brief(dim)} must be a whole number from 1 to {WIDEST}")
    return Given(dim)


def check_given(backbone: Any, pool: Any) -> None:
    """That a stream goes with a backbone: features with `Given` of as many values, images with any other, labels alone with all.

    Raises:
        UserError: they do not.
    """
    dim = getattr(pool, "dim", None) if hasattr(pool, "given_features") else None
    wanted = backbone.dim if isinstance(backbone, Given) else None
    if dim != 0 and dim != wanted:
        has = f"brings features of {dim} values" if dim is not None else "brings images and no features"
        mend = f"take given:dim={dim}" if dim else "take another one"
        raise UserError(f"stream {pool.name!r} {has}, and the backbone is {backbone.name!r}: {mend}")
