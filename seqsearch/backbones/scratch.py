"""Networks without weights, ``scratch:NAME``: every training begins with values drawn from its seed and replicate.

- ``scratch:resnet32``: the network for CIFAR of "Deep Residual Learning for Image Recognition": three stages of five blocks,
  16, 32 and 64 channels, shortcuts without parameters; 464 thousand parameters, 64 features.
- ``scratch:resnet18``: four stages of two blocks, 64 to 512 channels, 11.2 million parameters, 512 features; ``stem=cifar``
  (the default) takes images as they are, ``stem=imagenet`` makes them four times smaller first.
- ``scratch:tiny``: three stages of one block, 16, 32 and 64 channels, 75 thousand parameters, 64 features: seconds on a
  processor.

``size`` is the side of the images in pixels: 32, or 224 with ``stem=imagenet``. Pixels are brought to -2 ... 2, whatever the
data. Batch statistics are learned: train mode in training, else eval mode.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from seqsearch.core.digests import digest_of
from seqsearch.core.errors import UserError
from seqsearch.pools.base import View

if TYPE_CHECKING:
    import torch
    from torch import nn

NETWORKS: dict[str, tuple[tuple[int, ...], tuple[int, ...], bool]] = {
    "resnet18": ((64, 128, 256, 512), (2, 2, 2, 2), True),
    "resnet32": ((16, 32, 64), (5, 5, 5), False),
    "tiny": ((16, 32, 64), (1, 1, 1), True),
}
"""Channels and blocks of each stage; whether shortcuts have parameters."""
MEAN, STD = 0.5, 0.25
SMALLEST, LARGEST = 8, 1024
"""Sides of images."""


class Scratch:
    """See `seqsearch.backbones.base.FromScratch`."""

    vit = False
    staged = True

    def __init__(self, network: str, stem: str, size: int) -> None:
        self._made = (*NETWORKS[network][:2], stem, NETWORKS[network][2])
        self.name, self.dim, self.view = f"scratch:{network}", NETWORKS[network][0][-1], View(size=size)
        self.tag = f"{network}.{stem}{size}.scratch"
        self.digest = digest_of("scratch", self._made, MEAN, STD, self.view)

    def module(self) -> nn.Module:
        """A network of one fixed seed, on the CPU in eval mode: ``[n, 3, s, s]`` -> ``[n, dim]``; methods get others."""
        import torch

        return self.initialised(torch.Generator().manual_seed(0)).eval()

    def initialised(self, generator: torch.Generator) -> nn.Module:
        """A network whose weights are drawn from ``generator``, in eval mode as all that is lent."""
        from seqsearch.backbones.parts.resnet import initialised

        return initialised(*self._made, generator).eval()

    def preprocess(self, images: NDArray[np.uint8]) -> torch.Tensor:
        """``[n, 3, s, s]`` bytes -> float32 between -2 and 2, of the same shape."""
        import torch

        return (torch.from_numpy(np.ascontiguousarray(images)).float() / 255 - MEAN) / STD


def build(network: str = "", stem: str = "", size: int = 0) -> Scratch:
    """The backbone of one of `NETWORKS`.

    Raises:
        UserError: unknown network or stem, a size that is none.
    """
    if network not in NETWORKS:
        raise UserError(f"backbone 'scratch:{network}': must be one of {', '.join(f'scratch:{n}' for n in NETWORKS)}")
    if stem not in ("", "cifar", "imagenet") or (stem and network != "resnet18"):
        raise UserError(f"backbone 'scratch:{network}': stem={stem}: only resnet18 has one, cifar or imagenet")
    size = size or (224 if stem == "imagenet" else 32)
    if isinstance(size, bool) or not isinstance(size, int) or not SMALLEST <= size <= LARGEST:
        raise UserError(
            f"backbone 'scratch:{network}': size={size}: must be a whole number from {SMALLEST} to {LARGEST}"
        )
    return Scratch(network, stem or "cifar", size)
