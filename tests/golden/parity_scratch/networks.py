"""PyCIL's own networks for CIFAR, narrow in depth, and those of this package with the same weights.

``plain`` is the kind of network that all methods but PODNet train there, with shortcuts without parameters; ``cosine`` is
PODNet's, whose shortcuts have parameters and whose last block ends without its activation.
"""

from __future__ import annotations

import importlib
from typing import Any

import torch

from seqsearch.backbones.parts.resnet import ResNet, without_last_activation
from tests.golden.parity.starts import near_normal

DEPTHS = {"plain": 8, "cosine": 14}
"""Layers of PyCIL's; blocks of a stage are a sixth of them. PODNet's has two in the last stage at least."""


def own(kind: str) -> torch.nn.Module:
    """That of this package."""
    blocks = (DEPTHS[kind] - 2) // 6
    found = ResNet((16, 32, 64), (blocks,) * 3, "cifar", projects=kind == "cosine")
    return without_last_activation(found) if kind == "cosine" else found


def theirs(kind: str) -> torch.nn.Module:
    """PyCIL's, which must be on the path."""
    file: Any = importlib.import_module("convs.cifar_resnet" if kind == "plain" else "convs.ucir_cifar_resnet")
    found: torch.nn.Module = file.CifarResNet(file.ResNetBasicblock, DEPTHS[kind])
    return found


def renamed(name: str) -> str:
    """Of a tensor of PyCIL: its name in this package."""
    known = {
        "conv_1_3x3": "conv1",
        "bn_1": "bn1",
        "stage_1": "layers.0",
        "stage_2": "layers.1",
        "stage_3": "layers.2",
        "conv_a": "conv1",
        "bn_a": "bn1",
        "conv_b": "conv2",
        "bn_b": "bn2",
        "conv": "0",
        "bn": "1",
    }
    return ".".join(known.get(part, part) for part in name.split("."))


def start(network: torch.nn.Module, public: bool = False) -> torch.nn.Module:
    """The network in eval mode with the common weights; batch statistics stay at 0 and 1, PyCIL's unused classifier as it is."""
    for name, weight in network.named_parameters():
        if not name.startswith("fc."):
            drawn = torch.from_numpy(near_normal(renamed(name) if public else name, *weight.shape)).float()
            spread = (2 / weight[0].numel()) ** 0.5 if weight.dim() > 1 else 0.125
            weight.data = (1.0 if weight.dim() == 1 and name.endswith("weight") else 0.0) + spread * drawn
    return network.eval()


@torch.no_grad()
def features_of(kind: str, public: bool = True) -> torch.Tensor:
    """Features ``[3, 64]`` of common images by PyCIL's network, or by that of this package."""
    images = torch.from_numpy(near_normal("pixels", 3, 3, 32, 32)).float()
    if public:
        found: torch.Tensor = start(theirs(kind), public=True)(images)["features"]
        return found
    network: torch.Tensor = start(own(kind))(images)
    return network
