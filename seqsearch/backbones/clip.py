"""CLIP: an image tower as a backbone, with a text tower beside it that turns class names into features of the same space.

"Learning Transferable Visual Models From Natural Language Supervision". Features are projected image features, as they are
before CLIP normalises them. Weights are from the hub's cache, or from a folder or file.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from seqsearch.backbones.parts.clip_text import MERGES, VOCABULARY, BytePairs, byte_pairs
from seqsearch.backbones.parts.hub import snapshot
from seqsearch.backbones.parts.state_dict import tensors
from seqsearch.backbones.parts.weight_files import check_weights, of_folder, version
from seqsearch.backbones.timm_model import TimmModel, weights_digest
from seqsearch.core.digests import digest_of
from seqsearch.core.errors import UserError
from seqsearch.core.typed import brief

if TYPE_CHECKING:
    import torch

    from seqsearch.backbones.parts.clip_network import ClipNetwork, TextTower

PUBLISHED = "openai/clip-vit-base-patch16"
FILES = ("model.safetensors", "open_clip_model.safetensors", "pytorch_model.bin", "open_clip_pytorch_model.bin")
"""Weights in a folder; the first that is there is read."""
BESIDE = ("config.json", "open_clip_config.json", "preprocessor_config.json", MERGES, VOCABULARY)
"""Further files that decide what features are."""


class Clip(TimmModel):
    """See ``seqsearch.backbones.base.Backbone`` and ``ReadsNames``."""

    def __init__(self, name: str, network: ClipNetwork, words: BytePairs, source: str) -> None:
        super().__init__(name, network.image, source)
        self._text, self._words = network.text, words
        self.logit_scale = math.exp(network.logit_scale.item())
        everything = weights_digest(network.state_dict())
        self.tag = f"{source}-{everything[:12]}"
        self.digest = digest_of("clip", everything, network.settled, words.digest, self._mean, self._std, self.view)

    def text_tower(self) -> TextTower:
        """See ``ReadsNames``."""
        return copy.deepcopy(self._text)

    def text_tokens(self, texts: Sequence[str]) -> torch.Tensor:
        """See ``ReadsNames``."""
        return self._words(texts)


def build(model: str = PUBLISHED, weights: str = "") -> Clip:
    """CLIP with pre-trained weights.

    Args:
        model: which one of the hub, e.g. ``laion/CLIP-ViT-B-16-laion2B-s34B-b88K``.
        weights: by ``--weights clip=PATH``: a folder with weights, their configuration and ``merges.txt``, or a file of weights
            in one. Else those of the hub, from its cache or downloaded.

    Raises:
        UserError: an option out of range, weights that are not there or do not fit, tokenizers missing.
    """
    if not isinstance(model, str) or (weights and model != PUBLISHED):
        raise UserError(
            f"backbone 'clip': model={brief(model)} must be a name of the hub, and not stand beside --weights"
        )
    where = f"--weights clip={weights}" if weights else f"backbone 'clip': {model}"
    folder = Path(weights) if weights else _published(model)
    file = of_folder(folder, FILES, where) if folder.is_dir() else folder
    network, words = _loaded(where, str(file), version(where, file, BESIDE))
    name = "clip" if model == PUBLISHED else f"clip:model={model}"
    return Clip(name, network, words, "clip.file" if weights else name.replace("/", "."))


def _published(model: str) -> Path:
    found = snapshot(model, [*BESIDE, *FILES])
    if isinstance(found, str):
        raise UserError(
            f"backbone 'clip': {model} is neither in the hub's cache nor can it be had ({found}): fetch it once with a network "
            f"(hf download {model}), or give --weights clip=FOLDER"
        )
    return found


@lru_cache(maxsize=4)
def _loaded(where: str, path: str, _: tuple[int, ...]) -> tuple[ClipNetwork, BytePairs]:
    """The last argument is the `version` of the files."""
    from seqsearch.backbones.parts.clip_config import configuration, layout_of
    from seqsearch.backbones.parts.clip_network import clip_network

    file = Path(path)
    found = {name.removeprefix("module."): value for name, value in tensors(where, path).items()}
    layout = layout_of(found)
    settings = configuration(where, file.parent, layout)
    network = clip_network(settings, where)
    own = network.state_dict()
    wanted = {theirs: layout.shape(name, own[name].shape) for name in own for theirs in layout.names(name)}
    check_weights(where, wanted, found, layout.layers)
    network.load_state_dict({name: layout.read(name, own[name].shape, found) for name in own}, assign=True)
    if (scale := network.logit_scale.item()) > math.log(1e6):
        raise UserError(f"{where}: logit_scale is {scale:g}: must be at most the logarithm of 1e6")
    words = byte_pairs(where, file.parent, settings.text["vocab_size"], settings.text["max_position_embeddings"])
    return network.requires_grad_(True), words
