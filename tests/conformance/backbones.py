"""Networks with random weights: a transformer of two blocks with a class token, a ResNet with batch normalisation, a ViT-B."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray
from timm.models.resnet import BasicBlock, ResNet
from timm.models.vision_transformer import VisionTransformer
from torch import nn

from seqsearch.pools.base import View


class Small:
    """See `seqsearch.backbones.base.Backbone`."""

    view = View(size=32)

    def __init__(self, name: str, make: Callable[[], nn.Module], vit: bool) -> None:
        self.name = self.tag = self.digest = name
        self._make, self.vit = make, vit
        self.dim: int = self.module()(torch.zeros(1, 3, 32, 32)).shape[1]

    def module(self) -> nn.Module:
        with torch.random.fork_rng():
            torch.manual_seed(0)
            model = self._make()
            for p in model.parameters():
                if p.ndim > 1:  # timm's own values are so small that all images look alike
                    nn.init.normal_(p, std=1.4 * p[0].numel() ** -0.5)
        return model.eval()

    def preprocess(self, images: NDArray[np.uint8]) -> torch.Tensor:
        return (torch.from_numpy(np.ascontiguousarray(images)).float() / 255 - 0.5) / 0.25


def two_blocks() -> Small:
    """Sixteen patches and a class token, width 48, three heads."""
    return Small(
        "two_blocks", lambda: VisionTransformer(32, 8, embed_dim=48, depth=2, num_heads=3, num_classes=0), True
    )


def small_resnet() -> Small:
    """Four residual blocks, 32 features."""
    channels = (8, 16, 24, 32)
    return Small("small_resnet", lambda: ResNet(BasicBlock, (1, 1, 1, 1), channels=channels, num_classes=0), False)


def vit_base() -> Small:
    """A ViT-B/16 of the real widths, but for its table of positions: what benchmarks measure sizes on, too large for tests."""
    return Small("vit_base", lambda: VisionTransformer(32, 16, num_classes=0), True)
