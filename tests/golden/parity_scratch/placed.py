"""The common network and the common first values, put where PyCIL would make its own."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import torch

from seqsearch.backbones.parts.resnet import maps, pooled, stages, without_last_activation
from tests.golden.parity_scratch.ours import START, Round, Source
from tests.golden.parity_scratch.starts import DIM


class Convnet(torch.nn.Module):
    """The common network as PyCIL reads it.

    Args:
        cosine: without the last activation, as PODNet's networks are.
    """

    out_dim = DIM

    def __init__(self, cosine: bool = False) -> None:
        super().__init__()
        self.net = Source().started()
        if cosine:
            without_last_activation(self.net)

    def forward(self, images: torch.Tensor) -> dict[str, Any]:
        found = maps(stages(self.net), images)
        return {"fmaps": found, "features": pooled(found[-1])}


class LastStage(torch.nn.Module):
    """The last stage of the common network, as MEMO reads it."""

    feature_dim = DIM

    def __init__(self) -> None:
        super().__init__()
        self.stage = stages(Source().started())[-1]

    def forward(self, shared: torch.Tensor) -> torch.Tensor:
        return pooled(self.stage(shared))


def convnet(args: dict[str, Any], pretrained: bool = False) -> Any:
    """In place of ``get_convnet``."""
    if args["convnet_type"] == "parted":
        return torch.nn.Sequential(*stages(Source().started())[:-1]), LastStage()
    return Convnet(args["convnet_type"] == "cosine")


def head(name: str, rows: slice, width: int) -> torch.Tensor:
    """First values of a linear layer over ``width`` features: as PyCIL draws them, but for the common numbers."""
    return START[name][rows, :width] * (3 / width) ** 0.5


def proxies(count: int) -> torch.Tensor:
    """First values of PODNet's proxies ``[count, D]``, in the order of classes: as `head`."""
    return START["proxies"].flatten(0, 1)[:count] / math.sqrt(DIM)


def place_heads() -> None:
    """Give linear layers the common first values of the head, as many as they have; proxies likewise."""
    linears = importlib.import_module("convs.linears")

    def linear(self: Any) -> None:
        if self.in_features % DIM == 0 and self.out_features <= len(
            START["head"]
        ):  # TagFex's others follow in `_guided`
            self.weight.data.copy_(head("head", slice(self.out_features), self.in_features))
        self.bias.data.zero_()

    def cosine(self: Any) -> None:
        self.weight.data.copy_(proxies(self.out_features))
        if self.sigma is not None:
            self.sigma.data.fill_(1)

    linears.SimpleLinear.reset_parameters = linears.TagFex_SimpleLinear.reset_parameters = linear
    linears.CosineLinear.reset_parameters = cosine


def place_analytic(module: Any) -> None:
    """Give ACIL's projection and first head the common first values, and let it write no file.

    Args:
        module: PyCIL's file of the method.
    """
    kind: Any = importlib.import_module("convs.ACL_buffer").RandomBuffer
    kind.reset_parameters = lambda self: self.weight.data.copy_(START["projection"].T / math.sqrt(DIM))
    plain: Any = torch.nn.Linear

    class First(plain):
        def reset_parameters(self) -> None:
            self.weight.data.copy_(head("head", slice(self.out_features), self.in_features))

    nn = SimpleNamespace(**{**vars(torch.nn), "Linear": First})
    module.torch = SimpleNamespace(**{**vars(torch), "nn": nn, "save": lambda *_: None})
    module.makedirs = lambda *_, **__: None
    module._evaluate = lambda *_: {"acc@1": 0.0, "acc@5": 0.0, "loss": 0.0}


OTHERS = {
    "aux_fc": "auxiliary",
    "fe_fc": "own",
    "backward_prototypes": "backward",
    "forward_prototypes": "forward",
    "predictor": "predictor",
    "trans_classifier": "merged",
}
"""Heads beside the classifier, by their names in PyCIL."""


def place_additions() -> None:
    """Give all else that networks add for a task the common first values."""
    nets = importlib.import_module("utils.inc_net")
    for kind in (nets.CosineIncrementalNet, nets.DERNet, nets.FOSTERNet, nets.AdaptiveNet, nets.TagFexNet):
        kind.update_fc = _started(kind.update_fc)
    nets.BEEFISONet.update_fc_before = _started(nets.BEEFISONet.update_fc_before)


def _started(grow: Callable[..., None]) -> Callable[..., None]:
    """A method that adds what a task needs, and then gives it the common first values."""

    def grown(self: Any, classes: int, *rest: int) -> None:
        known, done = {name: getattr(self, name, None) for name in OTHERS}, sum(getattr(self, "task_sizes", []))
        grow(self, classes, *rest)
        for name, numbers in OTHERS.items():
            layer = getattr(self, name, None)
            if layer is not None and layer is not known[name]:
                layer.weight.data.copy_(head(numbers, slice(layer.out_features), DIM))
        if hasattr(self, "new_fc"):
            self.new_fc.weight.data.copy_(head("head", slice(done, classes), DIM))
        elif hasattr(self.fc, "fc2"):
            old, new = self.fc.fc1.weight, self.fc.fc2.weight
            new.data.copy_(proxies(len(old) + len(new))[len(old) :])
        elif hasattr(self, "ts_attn"):
            _guided(self, done)

    return grown


def _guided(network: Any, done: int) -> None:
    """The same for what TagFex adds. Batch statistics of a new network begin as the last network's, and ``done`` old rows of the
    head with zeros over new features: so they do in this package."""
    for name, matrix in zip(("q", "k_ta", "v_ta", "k_ts", "v_ts"), START["merging"], strict=True):
        getattr(network.ts_attn, f"weight_{name}").data.copy_(matrix / DIM**0.5)
    if done:
        network.convnets[-1].load_state_dict(dict(network.convnets[-2].named_buffers()), strict=False)
        network.fc.weight.data[:done, -DIM:] = 0
        return
    for place, layer in enumerate((network.projector[0], network.projector[2])):
        layer.weight.data.copy_(START[f"projector.{place}"] * (3 / layer.in_features) ** 0.5)


def place_draws() -> Round:
    """Put the common noise where BEEF draws its own, and leave tensors where they are.

    Returns:
        the noise, which is to begin anew with each task.
    """
    noise = Round(START["noise"])
    tensors: Any = torch.Tensor
    torch.randn_like = lambda like: noise.next("randn", tuple(like.shape))
    tensors.cuda = lambda self: self
    return noise
