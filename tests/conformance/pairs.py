"""A small backbone of image-text pairs with random weights, for tests of what does not depend on what it knows."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from seqsearch.backbones.parts.embedded import Embedded
from seqsearch.backbones.parts.flava_model import flava_network
from seqsearch.backbones.parts.flava_network import FlavaNetwork
from seqsearch.backbones.parts.pair_text import HashedWords, Tokeniser

LAYER = {"hidden_size": 32, "num_attention_heads": 2, "intermediate_size": 48}
SIZES = {
    "image_config": {**LAYER, "num_hidden_layers": 3, "image_size": 32, "patch_size": 16},
    "text_config": {**LAYER, "num_hidden_layers": 2, "vocab_size": 128, "max_position_embeddings": 64},
    "multimodal_config": {**LAYER, "num_hidden_layers": 2},
}


class SmallFlava(Embedded):
    """See ``seqsearch.backbones.base.Backbone``."""

    name = "small_flava"
    dim = 32
    vit = False
    presets = ("embedded",)

    def __init__(self) -> None:
        super().__init__(b"", (SIZES,), 0.5, 0.25)
        self.tokeniser = Tokeniser(HashedWords(128), 64, 0, self.name)

    def assembled(self) -> FlavaNetwork:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            network = flava_network(SIZES, "backbone 'small_flava'")
            for parameter in network.parameters():
                parameter.data += 0.1 * torch.randn(parameter.shape)
            return network

    def module(self) -> torch.nn.Module:
        return self.assembled().eval()

    def tokenise(self, texts: Sequence[str]) -> dict[str, torch.Tensor]:
        return self.tokeniser(texts)


def small_flava() -> SmallFlava:
    return SmallFlava()
