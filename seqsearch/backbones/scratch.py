"""Networks without weights, ``scratch:NAME``: every training begins with values drawn from its seed and replicate.

- ``scratch:resnet32``: the network for CIFAR of "Deep Residual Learning for Image Recognition": three stages of five blocks,
  16, 32 and 64 channels, shortcuts without parameters; 464 thousand parameters, 64 features.
- ``scratch:resnet18``: four stages of two blocks, 64 to 512 channels, 11.2 million parameters, 512 features; its first layer
  takes images as they are, that of ``scratch:resnet18-imagenet`` makes them four times smaller, and that of
  ``scratch:resnet18-pooled`` is the one for small images with pooling behind it, which halves them: the PyCIL toolbox takes it
  for ImageNet where the first task is larger than the others.
- ``scratch:tiny``: three stages of one block, 16, 32 and 64 channels, 77 thousand parameters, 64 features: seconds on a
  processor.

A number behind the name is the side of the images in pixels, as in ``scratch:tiny-16``: else it is 32, or 224 with one of these
two stems. Pixels are brought to -2 ... 2, whatever the data. Batch statistics are learned in training, and used in eval mode.
"""

from __future__ import annotations

import re
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
        self.presets = ("tiny", "scratch") if network == "tiny" else ("scratch",)
        self.tag = f"{network}.{stem}{size}.scratch"
        self.digest = digest_of("scratch", self._made, MEAN, STD, self.view)

    def module(self) -> nn.Module:
        """A network of one fixed seed, on the CPU in eval mode: ``[n, 3, s, s]`` -> ``[n, dim]``; methods get others."""
        import torch

        return self.initialised(torch.Generator().manual_seed(0)).eval()

    def initialised(self, generator: torch.Generator) -> nn.Module:
        """A network whose weights are drawn from ``generator``, in eval mode as all shared networks."""
        from seqsearch.backbones.parts.resnet import initialised

        return initialised(*self._made, generator).eval()

    def preprocess(self, images: NDArray[np.uint8]) -> torch.Tensor:
        """``[n, 3, s, s]`` bytes -> float32 between -2 and 2, of the same shape."""
        import torch

        return (torch.from_numpy(np.ascontiguousarray(images)).float() / 255 - MEAN) / STD


def build(network: str = "") -> Scratch:
    """The backbone of a text ``NAME[-imagenet|-pooled][-SIZE]``, as in ``scratch:resnet18-imagenet`` or ``scratch:tiny-16``.

    Raises:
        UserError: unknown network, a stem or size that it cannot have.
    """
    said = re.fullmatch(r"([a-z0-9]+)(?:-(imagenet|pooled))?(?:-([0-9]{1,9}))?", network)
    if said is None or said[1] not in NETWORKS:
        known = ", ".join(f"scratch:{name}" for name in NETWORKS)
        raise UserError(
            f"backbone {f'scratch:{network}'!r}: must be one of {known}, or with a size, as scratch:tiny-16"
        )
    if said[2] and said[1] != "resnet18":
        raise UserError(f"backbone {f'scratch:{network}'!r}: only resnet18 has stems for ImageNet")
    size = int(said[3] or (224 if said[2] else 32))
    if not SMALLEST <= size <= LARGEST:
        raise UserError(f"backbone {f'scratch:{network}'!r}: images of {size} pixels: must be {SMALLEST} to {LARGEST}")
    return Scratch(said[1], said[2] or "cifar", size)
