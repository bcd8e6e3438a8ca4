"""The embedded backbone of image-text pairs: a small FLAVA, pre-trained on glyphs and captions of classes that no pool offers.

Its modules are those of the published model (`flava`), so whatever is injected there (prefixes, prompts) fits here. Words are
numbered by hashes, so there is no vocabulary to ship.

``python -m tools.pretrain_flava`` makes the weights again.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seqsearch.backbones.parts.embedded import Embedded
from seqsearch.backbones.parts.flava_model import flava_network
from seqsearch.backbones.parts.pair_text import HashedWords, Tokeniser, check_cut
from seqsearch.core.installation import shipped

if TYPE_CHECKING:
    import torch

    from seqsearch.backbones.parts.flava_network import FlavaNetwork

WEIGHTS = Path(__file__).with_name("glyph_flava.safetensors")
_EPS = {"layer_norm_eps": 1e-6}
_LAYER = {"hidden_size": 128, "num_attention_heads": 4, "intermediate_size": 256, **_EPS}
_IMAGE_LAYER = {"hidden_size": 192, "num_attention_heads": 6, "intermediate_size": 384, **_EPS}
ARCHITECTURE: dict[str, Any] = {
    "image_config": {**_IMAGE_LAYER, "num_hidden_layers": 4, "image_size": 32, "patch_size": 8},
    "text_config": {
        **_LAYER,
        "num_hidden_layers": 2,
        "vocab_size": 1184,
        "max_position_embeddings": 192,
        "type_vocab_size": 1,
    },
    "multimodal_config": {**_LAYER, "num_hidden_layers": 2},
}
"""Parts of a ``FlavaConfig``; an image layer is as wide as one of `plain_vit`, where its training begins."""
MEAN, STD = 0.5, 0.25
"""Of pixels on [0, 1], the same for the three colours."""


class GlyphFlava(Embedded):
    """See ``seqsearch.backbones.base.Backbone``."""

    dim: int = ARCHITECTURE["multimodal_config"]["hidden_size"]
    vit = False
    presets = ("embedded", "tiny")

    def __init__(self, weights: bytes, cut: int = 0) -> None:
        text = ARCHITECTURE["text_config"]
        self.name = f"glyph_flava:cut={cut}" if cut else "glyph_flava"  # a part of the digest
        self.tokeniser = Tokeniser(HashedWords(text["vocab_size"]), text["max_position_embeddings"], cut, self.name)
        super().__init__(weights, (ARCHITECTURE, self.tokeniser.words.digest), MEAN, STD)

    def random_network(self) -> FlavaNetwork:
        return random_network()

    def tokenise(self, texts: Sequence[str]) -> dict[str, torch.Tensor]:
        """See `Tokeniser.__call__`."""
        return self.tokeniser(texts)


def build(cut: int = 0) -> GlyphFlava:
    """The pre-trained backbone.

    Args:
        cut: texts lose their end behind so many tokens; 0: those that are longer than the network takes are refused.

    Raises:
        UserError: the weights, or transformers, are missing; ``cut`` is out of range.
    """
    check_cut(cut, "glyph_flava")
    return GlyphFlava(shipped(WEIGHTS).read_bytes(), cut)


def random_network() -> FlavaNetwork:
    """The network with random weights.

    Raises:
        UserError: transformers is missing or too old.
    """
    return flava_network(ARCHITECTURE, "backbone 'glyph_flava'")
