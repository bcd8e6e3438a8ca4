"""The embedded backbone: a small hybrid vision transformer, pre-trained on glyph classes that no pool offers.

A convolutional residual stem turns 32 x 32 pixels into 16 tokens for 4 transformer blocks. It is assembled from timm's
own parts, so whatever is injected into ``vit_base_patch16_224`` (prompts, prefixes, adapters) fits it as well.

``python -m tools.pretrain`` makes the weights again.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seqsearch.backbones.parts.embedded import Embedded
from seqsearch.core.installation import shipped

if TYPE_CHECKING:
    from torch import nn

WEIGHTS = Path(__file__).with_name("glyph_vit.safetensors")
ARCHITECTURE: dict[str, Any] = {
    "img_size": 32,
    "patch_size": 2,
    "embed_dim": 160,
    "depth": 4,
    "num_heads": 4,
    "mlp_ratio": 2.0,
    "class_token": False,
    "global_pool": "avg",
}
"""Arguments of timm's ``VisionTransformer``; a patch is 2 x 2 points of the stem's 8 x 8 map."""
STEM_WIDTHS = [24, 48, 96]
MEAN, STD = 0.5, 0.25
"""Of pixels on [0, 1], the same for the three colours."""


class GlyphViT(Embedded):
    """See ``seqsearch.backbones.base.Backbone``."""

    name = "glyph_vit"
    dim: int = ARCHITECTURE["embed_dim"]

    def __init__(self, weights: bytes) -> None:
        super().__init__(weights, (ARCHITECTURE, STEM_WIDTHS), MEAN, STD)

    def random_network(self) -> nn.Module:
        return random_network()


def build() -> GlyphViT:
    """The pre-trained backbone.

    Raises:
        UserError: the weights are missing.
    """
    return GlyphViT(shipped(WEIGHTS).read_bytes())


def random_network(batch_norm: bool = False) -> nn.Module:
    """The network with random weights.

    Args:
        batch_norm: as it is pre-trained. The shipped network has the normalisation folded into its convolutions:
            it then has no running statistics that fine-tuning on small or one-sided batches could spoil, is the same
            in train and eval mode, and is faster.
    """
    from timm.layers import HybridEmbed
    from timm.models.vision_transformer import VisionTransformer

    from seqsearch.backbones.parts.glyph_stem import stem

    embed = partial(HybridEmbed, backbone=stem(STEM_WIDTHS, batch_norm))
    model: nn.Module = VisionTransformer(**ARCHITECTURE, num_classes=0, embed_layer=embed)
    return model
