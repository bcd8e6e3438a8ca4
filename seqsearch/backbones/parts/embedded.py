"""Common parts of the embedded backbones: weights that come with the package, identity, preprocessing."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from seqsearch.core.digests import digest_of
from seqsearch.pools.base import View

if TYPE_CHECKING:
    import torch
    from torch import nn


class Embedded(ABC):
    """See ``seqsearch.backbones.base.Backbone``. A subclass gives the network, and ``mean`` and ``std`` of pixels.

    Args:
        weights: the content of its safetensors file.
        made_of: everything else that features depend on, such as the sizes of the network.
    """

    name: str
    dim: int
    view = View(size=32)
    vit = True
    staged = False

    def __init__(self, weights: bytes, made_of: tuple[object, ...], mean: float, std: float) -> None:
        self._weights, self._mean, self._std = weights, mean, std
        fingerprint = hashlib.blake2b(weights).hexdigest()
        self.tag = f"{self.name}.r1-{fingerprint[:12]}"
        self.digest = digest_of(self.name, *made_of, fingerprint, mean, std, self.view)

    @abstractmethod
    def random_network(self) -> nn.Module:
        """The network with random weights, in its shipped form."""

    def module(self) -> nn.Module:
        """A fresh float32 copy on the CPU in eval mode: ``[n, 3, 32, 32]`` -> ``[n, dim]``."""
        from safetensors.torch import load

        model = self.random_network()
        model.load_state_dict({key: value.float() for key, value in load(self._weights).items()})
        return model.eval()

    def preprocess(self, images: NDArray[np.uint8]) -> torch.Tensor:
        """``[n, 3, 32, 32]`` bytes -> normalised float32 of the same shape."""
        import torch

        return (torch.from_numpy(np.ascontiguousarray(images)).float() / 255 - self._mean) / self._std
