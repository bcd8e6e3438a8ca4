"""The second embedded backbone (embedded: its weights are shipped with the package): a plain vision transformer, in which
prompts, prefixes and adapters can be injected into every layer but the first.

It is a small `vit_base_patch16_224`: one linear layer turns patches of 8 x 8 pixels into 16 tokens, and a class token attends to
them in 6 blocks. There are no convolutions, so prompts, prefixes and adapters act on the whole way from pixels to features. It is
distilled from `glyph_vit` on the classes that `glyph_vit` was pre-trained on.

``python -m tools.distil`` makes the weights again.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from seqsearch.backbones.parts.embedded import Embedded
from seqsearch.core.installation import shipped

if TYPE_CHECKING:
    from torch import nn

WEIGHTS = Path(__file__).with_name("plain_vit.safetensors")
ARCHITECTURE: dict[str, Any] = {
    "img_size": 32,
    "patch_size": 8,
    "embed_dim": 192,
    "depth": 6,
    "num_heads": 6,
    "mlp_ratio": 2.0,
    "class_token": True,
    "global_pool": "token",
}
"""Arguments of timm's ``VisionTransformer``."""
MEAN, STD = 0.5, 0.25
"""Mean and standard deviation for normalising pixels in [0, 1], the same for the three colours."""


class PlainViT(Embedded):
    """See ``seqsearch.backbones.base.Backbone``."""

    name = "plain_vit"
    dim: int = ARCHITECTURE["embed_dim"]

    def __init__(self, weights: bytes) -> None:
        super().__init__(weights, (ARCHITECTURE,), MEAN, STD)

    def random_network(self) -> nn.Module:
        return random_network()


def build() -> PlainViT:
    """The pre-trained backbone.

    Raises:
        UserError: the weights are missing.
    """
    return PlainViT(shipped(WEIGHTS).read_bytes())


def random_network() -> nn.Module:
    """The network with random weights."""
    from timm.models.vision_transformer import VisionTransformer

    model: nn.Module = VisionTransformer(**ARCHITECTURE, num_classes=0)
    return model
