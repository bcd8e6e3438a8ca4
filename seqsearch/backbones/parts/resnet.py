"""Residual networks of basic blocks that begin from scratch, with batch normalisation, and the stages of such networks."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import torch
from timm.models.resnet import ResNet as TimmResNet
from torch import Tensor, nn

from seqsearch.core.errors import UserError


class Padded(nn.Module):
    """The shortcut without parameters of "Deep Residual Learning for Image Recognition" (option A): every second point, and
    channels of zeros behind those there are: ``[n, inputs, s, s]`` -> ``[n, outputs, s / 2, s / 2]``."""

    def __init__(self, more: int) -> None:
        super().__init__()
        self.more = more

    def forward(self, x: Tensor) -> Tensor:
        return nn.functional.pad(x[:, :, ::2, ::2], (0, 0, 0, 0, 0, self.more))


class Block(nn.Module):
    """Two 3 x 3 convolutions beside a shortcut; names of its parts are timm's."""

    def __init__(self, inputs: int, outputs: int, stride: int, projects: bool) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.bn1, self.act1 = nn.BatchNorm2d(outputs), nn.ReLU()
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.bn2, self.act2 = nn.BatchNorm2d(outputs), nn.ReLU()
        self.downsample: nn.Module = nn.Identity()
        if (stride > 1 or inputs != outputs) and projects:
            self.downsample = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))
        elif stride > 1:
            self.downsample = Padded(outputs - inputs)

    def forward(self, x: Tensor) -> Tensor:
        y = self.bn2(self.conv2(self.act1(self.bn1(self.conv1(x)))))
        found: Tensor = self.act2(y + self.downsample(x))
        return found


class ResNet(nn.Module):
    """Images ``[n, 3, s, s]`` -> features ``[n, widths[-1]]``: the last stage's map, averaged over its points.

    Args:
        widths: channels of each stage; every stage but the first halves the side.
        blocks: of each stage.
        stem: ``cifar``: one 3 x 3 convolution; ``imagenet``: 7 x 7 with stride 2 and pooling, which make an image four times
            smaller; ``pooled``: that of ``cifar`` with the pooling of ``imagenet``.
        projects: whether shortcuts that change the shape are 1 x 1 convolutions, or `Padded`.
    """

    def __init__(self, widths: Sequence[int], blocks: Sequence[int], stem: str, projects: bool) -> None:
        super().__init__()
        kernel, stride = (7, 2) if stem == "imagenet" else (3, 1)
        self.conv1 = nn.Conv2d(3, widths[0], kernel, stride, kernel // 2, bias=False)
        self.bn1, self.act1 = nn.BatchNorm2d(widths[0]), nn.ReLU()
        self.maxpool: nn.Module = nn.MaxPool2d(3, 2, 1) if stem != "cifar" else nn.Identity()
        stages = []
        for k, (inputs, outputs) in enumerate(itertools.pairwise([widths[0], *widths])):
            first = Block(inputs, outputs, 1 if k == 0 else 2, projects)
            stages.append(nn.Sequential(first, *(Block(outputs, outputs, 1, projects) for _ in range(blocks[k] - 1))))
        self.layers = nn.ModuleList(stages)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")

    def stage_modules(self) -> list[nn.Module]:
        """See `seqsearch.backbones.base.Staged`."""
        first, *others = self.layers
        return [nn.Sequential(self.conv1, self.bn1, self.act1, self.maxpool, first), *others]

    def forward(self, images: Tensor) -> Tensor:
        for stage in self.stage_modules():
            images = stage(images)
        return pooled(images)


def pooled(feature_map: Tensor) -> Tensor:
    """Features ``[n, c]`` of a map ``[n, c, h, w]``: its mean over points."""
    return feature_map.mean((2, 3))


def has_stages(network: nn.Module) -> bool:
    """Whether `stages` knows the stages of a network."""
    return hasattr(network, "stage_modules") or isinstance(network, TimmResNet)


def stages(network: nn.Module) -> list[nn.Module]:
    """The modules of a network's stages, in order: the first takes images ``[n, 3, s, s]``, each gives a map, and the
    network's feature is the last map, `pooled`. They are the network's own: trained with it.

    Raises:
        UserError: it has none (a transformer), or they are not known.
    """
    if hasattr(network, "stage_modules"):
        staged: Any = network
        found: list[nn.Module] = staged.stage_modules()
        return found
    if isinstance(network, TimmResNet):
        stem = (network.conv1, network.bn1, network.act1, network.maxpool, network.layer1)
        return [nn.Sequential(*stem), network.layer2, network.layer3, network.layer4]
    raise UserError(f"{type(network).__name__} gives no feature maps: take a ResNet, of timm or scratch:resnet32")


def maps(modules: Sequence[nn.Module], images: Tensor) -> list[Tensor]:
    """The map ``[n, c, h, w]`` behind each of ``modules``, which are run one after the other."""
    found: list[Tensor] = []
    for module in modules:
        found.append(module(found[-1] if found else images))
    return found


def without_last_activation(network: nn.Module) -> nn.Module:
    """The network, changed: the last block of its last stage ends with the sum, so that features have both signs.

    Raises:
        UserError: see `stages`.
    """
    last = list(stages(network)[-1].children())[-1]
    for name in ("act3", "act2"):  # of a bottleneck, of a basic block
        if hasattr(last, name):
            setattr(last, name, nn.Identity())
            return network
    raise UserError(f"{type(network).__name__}: the activation of its last block is not known")


def initialised(
    widths: Sequence[int], blocks: Sequence[int], stem: str, projects: bool, generator: torch.Generator
) -> ResNet:
    """A network whose weights follow from ``generator`` alone."""
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(int(torch.randint(2**62, (), generator=generator)))
        return ResNet(widths, blocks, stem, projects)
