"""The convolutional stem of the embedded backbone (apart, so that naming the backbone does not import torch)."""

from __future__ import annotations

import itertools

import torch
from torch import nn
from torch.nn.utils.fusion import fuse_conv_bn_eval


def convolution(inputs: int, outputs: int, kernel: int, stride: int = 1, batch_norm: bool = False) -> nn.Module:
    """A padded convolution, with a batch normalisation behind it when asked."""
    layer = nn.Conv2d(inputs, outputs, kernel, stride, padding=kernel // 2, bias=not batch_norm)
    return nn.Sequential(layer, nn.BatchNorm2d(outputs)) if batch_norm else layer


class Residual(nn.Module):
    """Two convolutions beside a shortcut; halves the side: [n, inputs, s, s] -> [n, outputs, s / 2, s / 2]."""

    def __init__(self, inputs: int, outputs: int, batch_norm: bool) -> None:
        super().__init__()
        self.first = convolution(inputs, outputs, 3, 2, batch_norm)
        self.second = convolution(outputs, outputs, 3, 1, batch_norm)
        self.shortcut = convolution(inputs, outputs, 1, 2, batch_norm)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return nn.functional.relu(self.shortcut(x) + self.second(nn.functional.relu(self.first(x))))


def stem(widths: list[int], batch_norm: bool) -> nn.Sequential:
    """Pixels [n, 3, s, s] -> feature map [n, widths[-1], s / f, s / f] with f = 2 ** (len(widths) - 1)."""
    pairs = itertools.pairwise(widths)
    return nn.Sequential(
        convolution(3, widths[0], 3, 1, batch_norm),
        nn.ReLU(),
        *(Residual(inputs, outputs, batch_norm) for inputs, outputs in pairs),
    )


def fold_batch_norm(module: nn.Module) -> None:
    """Replace every convolution that has a batch normalisation behind it by one convolution, in place (eval mode)."""
    for name, child in module.named_children():
        parts = list(child.children()) if isinstance(child, nn.Sequential) else []
        if len(parts) == 2 and isinstance(parts[0], nn.Conv2d) and isinstance(parts[1], nn.BatchNorm2d):
            setattr(module, name, fuse_conv_bn_eval(parts[0], parts[1]))
        else:
            fold_batch_norm(child)
