"""FLAVA, the published backbone of image-text pairs: weights from the hub's cache, or from a folder or file.

"FLAVA: A Foundational Language And Vision Alignment Model". Features are the multimodal class token, behind the multimodal
encoder's final normalisation.
"""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from seqsearch.backbones.parts.flava_model import flava_network
from seqsearch.backbones.parts.hub import snapshot
from seqsearch.backbones.parts.pair_text import Tokeniser, WordPieces, check_cut
from seqsearch.backbones.parts.state_dict import tensors
from seqsearch.backbones.parts.weight_files import check_weights, of_folder, version
from seqsearch.core.digests import digest_of
from seqsearch.core.errors import UserError
from seqsearch.core.typed import brief
from seqsearch.pools.base import View
from seqsearch.storage.reading import content, json_object

if TYPE_CHECKING:
    import torch

    from seqsearch.backbones.parts.flava_network import FlavaNetwork

PUBLISHED = "facebook/flava-full"
FILES = ("model.safetensors", "pytorch_model.bin")
"""Weights in a folder; the first that is there is read."""
MOST_VOCABULARY = 16 << 20
"""Bytes of a vocabulary, at most."""
NEEDED = ("[CLS]", "[SEP]", "[UNK]")
ATTENTIONS = ("sdpa", "eager")
MEAN, STD = (0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711)
"""Of pixels on [0, 1], by colour."""
PLACES = {
    "image_embeddings.": "image_model.embeddings.", "text_embeddings.": "text_model.embeddings.",
    "image_layers.": "image_model.encoder.layer.", "text_layers.": "text_model.encoder.layer.",
    "multimodal_layers.": "multimodal_model.encoder.layer.", "image_projection.": "image_to_mm_projection.",
    "text_projection.": "text_to_mm_projection.", "norm.": "multimodal_model.layernorm.",
    "class_token": "multimodal_model.cls_token",
}  # fmt: skip
"""Beginnings of names in `FlavaNetwork`, and what files call them."""


class Flava:
    """See ``seqsearch.backbones.base.Backbone``."""

    vit = False
    staged = False

    def __init__(self, name: str, network: FlavaNetwork, words: WordPieces, cut: int, source: str) -> None:
        self.name, self._network = name, network
        positions = int(network.text_embeddings.position_embeddings.weight.shape[0])
        self.tokeniser = Tokeniser(words, positions, cut, name)
        side = int(network.image_embeddings.config.image_size)
        self.view = View(side, crop_mode="squash")
        self.dim = network.width("multimodal")
        fingerprint = _fingerprint(network)
        self.tag = f"{source}-{fingerprint[:12]}"
        self.digest = digest_of("flava", fingerprint, words.digest, cut, network.attention, MEAN, STD, self.view)

    def module(self) -> FlavaNetwork:
        """A fresh float32 copy on the CPU in eval mode: pairs (`FlavaNetwork.run`) -> ``[n, dim]``."""
        return copy.deepcopy(self._network)

    def preprocess(self, images: NDArray[np.uint8]) -> torch.Tensor:
        """``[n, 3, s, s]`` bytes -> normalised float32 of the same shape."""
        import torch

        mean, std = (torch.tensor(v, dtype=torch.float32).view(1, 3, 1, 1) for v in (MEAN, STD))
        return (torch.from_numpy(np.ascontiguousarray(images)).float() / 255).sub_(mean).div_(std)

    def tokenise(self, texts: Sequence[str]) -> dict[str, torch.Tensor]:
        """See `Tokeniser.__call__`."""
        return self.tokeniser(texts)


def build(cut: int = 0, attention: str = "sdpa", weights: str = "") -> Flava:
    """FLAVA with pre-trained weights.

    Args:
        cut: texts lose their end behind so many tokens; 0: those that are longer than the model takes are refused.
        attention: ``sdpa``, torch's fused attention, or ``eager``, what transformers computes, bit for bit.
        weights: by ``--weights flava=PATH``: a folder with ``config.json``, weights and ``vocab.txt``, or a file of weights in
            one. Else those of the hub, from its cache or downloaded.

    Raises:
        UserError: an option out of range, weights that are not there or do not fit, transformers missing or too old.
    """
    check_cut(cut, "flava")
    if attention not in ATTENTIONS:
        raise UserError(f"backbone 'flava': attention={brief(attention)} must be one of {', '.join(ATTENTIONS)}")
    options = (f"cut={cut}" if cut else "", f"attention={attention}" if attention != "sdpa" else "")
    said = ",".join(option for option in options if option)
    name = f"flava:{said}" if said else "flava"
    file = _weights(weights) if weights else _published()
    where = f"--weights flava={weights}" if weights else f"backbone 'flava': {PUBLISHED}"
    network = _loaded(where, str(file), attention, version(where, file, ("config.json",)))
    return Flava(
        name,
        network,
        _vocabulary(where, file.with_name("vocab.txt"), network),
        cut,
        "flava.file" if weights else "flava",
    )


def _published() -> Path:
    found = snapshot(PUBLISHED, ["config.json", "vocab.txt", *FILES])
    if isinstance(found, str):
        raise UserError(
            f"backbone 'flava': {PUBLISHED} is neither in the hub's cache nor can it be had ({found}): fetch it once with a "
            f"network (hf download {PUBLISHED}), or give --weights flava=FOLDER"
        )
    return of_folder(found, FILES, f"backbone 'flava': {PUBLISHED}")


def _weights(path: str) -> Path:
    given = Path(path)
    return of_folder(given, FILES, f"--weights flava={path}") if given.is_dir() else given


@lru_cache(maxsize=4)
def _loaded(where: str, file: str, attention: str, _: tuple[int, ...]) -> FlavaNetwork:
    """The last argument is the `version` of the files."""
    import torch

    config = Path(file).with_name("config.json")
    sizes = json_object(config, links=True) if config.is_file() else {}
    network = flava_network(sizes, where, "eager" if attention == "eager" else "sdpa", empty=True)
    found = {name.removeprefix("flava."): value for name, value in tensors(where, file).items()}
    own = network.state_dict()
    named = {name: _of_file(name) for name in own}
    layers = tuple(place for place in PLACES.values() if place.endswith("layer."))
    check_weights(where, {named[name]: tuple(value.shape) for name, value in own.items()}, found, layers)
    # copies: a view may share the memory of all the file
    filled = {name: found[of_file].to(torch.float32, copy=True) for name, of_file in named.items()}
    network.load_state_dict(filled, assign=True)
    network.text_embeddings.position_ids = torch.arange(own["text_embeddings.position_embeddings.weight"].shape[0])[
        None
    ]
    network.text_embeddings.token_type_ids = torch.zeros_like(network.text_embeddings.position_ids)
    return network.requires_grad_(True)


def _of_file(name: str) -> str:
    """Return the name in files of a parameter of `FlavaNetwork`."""
    own = next(own for own in PLACES if name.startswith(own))
    return PLACES[own] + name.removeprefix(own)


def _vocabulary(where: str, file: Path, network: FlavaNetwork) -> WordPieces:
    try:
        raw = content(file, MOST_VOCABULARY)
        pieces = [line.removesuffix("\r") for line in raw.decode().removesuffix("\n").split("\n")]
    except (OSError, ValueError) as error:
        said = getattr(error, "strerror", None) or type(error).__name__
        raise UserError(f"{where}: vocab.txt cannot be read ({said}): it must lie beside the weights") from None
    numbers = {piece: number for number, piece in enumerate(pieces)}
    most = int(network.text_embeddings.word_embeddings.weight.shape[0])
    if len(pieces) > most or numbers.get("[PAD]") != 0 or not all(piece in numbers for piece in NEEDED):
        raise UserError(
            f"{where}: vocab.txt has {len(pieces)} pieces: it must have at most {most}, [PAD] first, and {', '.join(NEEDED)}"
        )
    return WordPieces(numbers, hashlib.blake2b(raw, digest_size=16).hexdigest())


def _fingerprint(network: FlavaNetwork) -> str:
    """Of names, shapes and bytes of all weights, and of what else a configuration decides."""
    from seqsearch.backbones.parts.flava_network import ENCODERS

    found = hashlib.blake2b(digest_size=16)
    for encoder in ENCODERS:
        first: Any = network.layers(encoder)[0]
        said = first.attention.attention.num_attention_heads, first.layernorm_before.eps
        found.update(f"{said} {type(first.intermediate.intermediate_act_fn).__qualname__};".encode())
    for name, value in sorted(network.state_dict().items()):
        array = value.detach().contiguous().numpy()
        found.update(f"{name} {array.dtype} {array.shape};".encode())
        found.update(array.tobytes())
    return found.hexdigest()
