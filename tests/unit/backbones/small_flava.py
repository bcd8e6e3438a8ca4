"""A small stock FLAVA of transformers with random weights, in memory and in files, and pairs for it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import Tensor
from transformers import FlavaConfig, FlavaModel

from seqsearch.backbones.flava import Flava
from seqsearch.backbones.open import build_backbone

LAYER = {"hidden_size": 32, "num_attention_heads": 2, "intermediate_size": 48}
SIZES: dict[str, dict[str, Any]] = {
    "image_config": {**LAYER, "num_hidden_layers": 2, "image_size": 32, "patch_size": 16},
    "text_config": {**LAYER, "num_hidden_layers": 2, "vocab_size": 64, "max_position_embeddings": 16},
    "multimodal_config": {**LAYER, "num_hidden_layers": 3},
}

PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "red", "##dish", "bird", "sky", ",", "e", "##t", "##e"]
"""A vocabulary."""


def stock(sizes: dict[str, dict[str, Any]] = SIZES) -> FlavaModel:
    """In eval mode; no weight is zero, as class tokens and positions are in a new one."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = FlavaModel(FlavaConfig(projection_dim=32, **sizes))
        for parameter in model.parameters():
            parameter.data += 0.1 * torch.randn(parameter.shape)
    return model.eval()


def pairs(lengths: tuple[int, ...] = (5, 12, 9, 2), padded: int = 0) -> dict[str, Tensor]:
    """One pair for each text length, padded to the longest, or to ``padded``."""
    draw, wide = torch.Generator().manual_seed(0), padded or max(lengths)
    mask = torch.arange(wide) < torch.tensor(lengths)[:, None]
    tokens = torch.randint(1, 64, (len(lengths), 16), generator=draw)[:, :wide]
    images = torch.randn(len(lengths), 3, 32, 32, generator=draw)
    return {"images": images, "input_ids": tokens * mask, "attention_mask": mask.long()}


def class_token(model: FlavaModel, inputs: dict[str, Tensor]) -> Tensor:
    """What the stock model gives ``[n, 32]``."""
    found = model(input_ids=inputs["input_ids"], pixel_values=inputs["images"], attention_mask=inputs["attention_mask"])
    return found.multimodal_embeddings[:, 0]


def written(folder: Path, prefix: str = "", name: str = "model.safetensors") -> Path:
    """What transformers saves of a model, with its vocabulary."""
    folder.mkdir(exist_ok=True)
    state = {prefix + key: value.contiguous() for key, value in stock().state_dict().items()}
    if name.endswith(".bin"):
        torch.save(state, folder / name)
    else:
        save_file(state, folder / name)
    (folder / "config.json").write_text(json.dumps({"model_type": "flava", **SIZES}))
    (folder / "vocab.txt").write_text("\n".join(PIECES) + "\n")
    return folder


def opened(path: Path, item: str = "flava") -> Flava:
    found = build_backbone(item, {"flava": str(path)})
    assert isinstance(found, Flava)
    return found
