"""A small backbone of image-text pairs with random weights and glyphs with texts, for tests of what does not depend on what
either knows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray

from seqsearch.backbones.parts.embedded import Embedded
from seqsearch.backbones.parts.flava_model import flava_network
from seqsearch.backbones.parts.flava_network import FlavaNetwork
from seqsearch.backbones.parts.pair_text import HashedWords, Tokeniser
from seqsearch.core.digests import digest_of
from seqsearch.pools.base import Rows, View, row_offsets
from seqsearch.pools.glyphs import build as glyphs

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
        self.tokeniser = Tokeniser(HashedWords(128), 64, None, self.name)

    def random_network(self) -> FlavaNetwork:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            network = flava_network(SIZES, "backbone 'small_flava'")
            for parameter in network.parameters():
                parameter.data += 0.1 * torch.randn(parameter.shape)
            return network

    def module(self) -> torch.nn.Module:
        return self.random_network().eval()

    def tokenise(self, texts: Sequence[str]) -> dict[str, torch.Tensor]:
        return self.tokeniser(texts)


def small_flava() -> SmallFlava:
    return SmallFlava()


WORDS = [
    "amber",
    "birch",
    "cedar",
    "delta",
    "ember",
    "flint",
    "grove",
    "hazel",
    "inlet",
    "jade",
    "knoll",
    "larch",
    "mango",
    "north",
    "olive",
    "pearl",
]


class CaptionedGlyphs:
    """Sixteen classes of glyphs, each image with two texts of 2 to 21 words that tell its class; see `Captioned`."""

    captioned = True

    def __init__(self, captions: Literal["first", "concat", "random"] = "first") -> None:
        self.inner, self.policy = glyphs(classes=16, train=10, reward=4, test=8), captions
        self.name, self.digest = "captioned", digest_of("captioned", self.inner.digest, captions)
        self.classes, self.native_size = self.inner.classes, self.inner.native_size
        self.split_sizes, self.given = self.inner.split_sizes, self.inner.given
        self.offsets = row_offsets(self.classes)

    def images(self, rows: Rows, view: View) -> NDArray[np.uint8]:
        return self.inner.images(rows, view)

    def captions(self, rows: Rows) -> list[list[str]]:
        classes = np.searchsorted(self.offsets, rows, side="right") - 1
        told = [f"{WORDS[c]} {WORDS[(3 * c + 1) % 16]}" for c in classes.tolist()]
        return [
            [text + " very" * (row % 20), f"{text} and {row % 7} more"]
            for text, row in zip(told, rows.tolist(), strict=True)
        ]

    def texts(self, rows: Rows) -> list[str]:
        return [" ".join(said) if self.policy == "concat" else said[0] for said in self.captions(rows)]

    def drawn_texts(self, rows: Rows, generator: torch.Generator) -> list[str]:
        if self.policy != "random":
            return self.texts(rows)
        drawn = torch.randint(2, (len(rows),), generator=generator).tolist()
        return [said[place] for said, place in zip(self.captions(rows), drawn, strict=True)]


def captioned() -> CaptionedGlyphs:
    return CaptionedGlyphs()


def captioned_random() -> CaptionedGlyphs:
    return CaptionedGlyphs("random")
