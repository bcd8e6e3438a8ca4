"""Weights of torchvision's networks under the names that timm has for the same tensors: ViT, ConvNeXt and Swin.

ResNets have the same names in both. Weights of torchvision's other networks are not converted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

Rule = tuple[str, str | Callable[[re.Match[str]], str]]
"""Pattern of whole names of torchvision, and the name of timm."""

VIT: Sequence[Rule] = (
    (r"class_token", "cls_token"),
    (r"encoder\.pos_embedding", "pos_embed"),
    (r"conv_proj\.(weight|bias)", r"patch_embed.proj.\1"),
    (r"encoder\.layers\.encoder_layer_(\d+)\.ln_([12])\.(weight|bias)", r"blocks.\1.norm\2.\3"),
    (r"encoder\.layers\.encoder_layer_(\d+)\.self_attention\.in_proj_(weight|bias)", r"blocks.\1.attn.qkv.\2"),
    (r"encoder\.layers\.encoder_layer_(\d+)\.self_attention\.out_proj\.(weight|bias)", r"blocks.\1.attn.proj.\2"),
    (r"encoder\.layers\.encoder_layer_(\d+)\.mlp\.(?:0|linear_1)\.(weight|bias)", r"blocks.\1.mlp.fc1.\2"),
    (r"encoder\.layers\.encoder_layer_(\d+)\.mlp\.(?:3|linear_2)\.(weight|bias)", r"blocks.\1.mlp.fc2.\2"),
    (r"encoder\.ln\.(weight|bias)", r"norm.\1"),
    (r"heads\.head\.(weight|bias)", r"head.\1"),
)


def _in_stage(name: str) -> Callable[[re.Match[str]], str]:
    """Stages have odd numbers from 1 in torchvision, and follow each other from 0 in timm."""
    return lambda found: name.format(int(found[1]) // 2, *found.groups()[1:])


CONVNEXT: Sequence[Rule] = (
    (r"features\.0\.([01])\.(weight|bias)", r"stem.\1.\2"),
    (r"features\.([1357])\.(\d+)\.layer_scale", _in_stage("stages.{}.blocks.{}.gamma")),
    (r"features\.([1357])\.(\d+)\.block\.0\.(weight|bias)", _in_stage("stages.{}.blocks.{}.conv_dw.{}")),
    (r"features\.([1357])\.(\d+)\.block\.2\.(weight|bias)", _in_stage("stages.{}.blocks.{}.norm.{}")),
    (r"features\.([1357])\.(\d+)\.block\.3\.(weight|bias)", _in_stage("stages.{}.blocks.{}.mlp.fc1.{}")),
    (r"features\.([1357])\.(\d+)\.block\.5\.(weight|bias)", _in_stage("stages.{}.blocks.{}.mlp.fc2.{}")),
    (r"features\.([246])\.([01])\.(weight|bias)", _in_stage("stages.{}.downsample.{}.{}")),
    (r"classifier\.0\.(weight|bias)", r"head.norm.\1"),
    (r"classifier\.2\.(weight|bias)", r"head.fc.\1"),
)
SWIN: Sequence[Rule] = (
    (r"features\.0\.0\.(weight|bias)", r"patch_embed.proj.\1"),
    (r"features\.0\.2\.(weight|bias)", r"patch_embed.norm.\1"),
    (
        r"features\.([1357])\.(\d+)\.(norm[12]|attn\.qkv|attn\.proj)\.(weight|bias)",
        _in_stage("layers.{}.blocks.{}.{}.{}"),
    ),
    (
        r"features\.([1357])\.(\d+)\.attn\.relative_position_bias_table",
        _in_stage("layers.{}.blocks.{}.attn.relative_position_bias_table"),
    ),
    (r"features\.([1357])\.(\d+)\.mlp\.0\.(weight|bias)", _in_stage("layers.{}.blocks.{}.mlp.fc1.{}")),
    (r"features\.([1357])\.(\d+)\.mlp\.3\.(weight|bias)", _in_stage("layers.{}.blocks.{}.mlp.fc2.{}")),
    (r"features\.([246])\.(reduction|norm)\.(weight|bias)", _in_stage("layers.{}.downsample.{}.{}")),
    (r"norm\.(weight|bias)", r"norm.\1"),
    (r"head\.(weight|bias)", r"head.fc.\1"),
)
MARKS = {
    "encoder.pos_embedding": VIT,
    "features.1.0.layer_scale": CONVNEXT,
    "features.1.0.attn.relative_position_bias_table": SWIN,
}
"""A tensor that torchvision's networks of one kind have, and nobody else's."""
COMPUTED = "relative_position_index"
"""The end of the name of a table that follows from the size of a window."""


def as_timm(weights: dict[str, Tensor]) -> dict[str, Tensor] | None:
    """The same tensors under the names of timm; None if they are no weights of a network that torchvision alone names so.

    A name that has no counterpart stays as it is.
    """
    rules = next((found for mark, found in MARKS.items() if mark in weights), None)
    if rules is None:
        return None
    named = {_name(name, rules): tensor for name, tensor in weights.items() if not name.endswith(COMPUTED)}
    return {name: tensor.flatten() if name.endswith(".gamma") else tensor for name, tensor in named.items()}


def _name(name: str, rules: Sequence[Rule]) -> str:
    for pattern, replacement in rules:
        if found := re.fullmatch(pattern, name):
            return replacement(found) if callable(replacement) else found.expand(replacement)
    return name
