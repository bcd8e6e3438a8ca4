"""A small CLIP with random weights, for tests of what does not depend on what it knows: in memory, and in folders as
transformers and open_clip write them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import Tensor

from seqsearch.backbones.clip import Clip
from seqsearch.backbones.open import build_backbone
from seqsearch.backbones.parts.clip_network import OPEN_CLIP, TRANSFORMERS, ClipNetwork, Configuration, Layout
from seqsearch.backbones.parts.clip_text import BytePairs

MERGED = ["t h", "i n", "a n", "e r</w>", "th e</w>", "p h", "ph o", "o f</w>", "b i", "bi r", "bir d</w>"]
MERGES = "\n".join(["#version: 0.2", *MERGED]) + "\n"
WORDS = 514 + len(MERGED)
DIM = 24
LAYER = {
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 48,
    "hidden_act": "quick_gelu",
    "layer_norm_eps": 1e-5,
}
IMAGE: dict[str, Any] = {**LAYER, "hidden_size": 32, "image_size": 32, "patch_size": 16}
TEXT: dict[str, Any] = {
    **LAYER,
    "hidden_size": 16,
    "vocab_size": WORDS,
    "max_position_embeddings": 20,
    "eos_token_id": WORDS - 1,
}
SIZES: dict[str, Any] = {"vision_config": IMAGE, "text_config": TEXT, "projection_dim": DIM}
OF_OPEN_CLIP: dict[str, Any] = {
    "model_cfg": {
        "embed_dim": DIM,
        "quick_gelu": True,
        "vision_cfg": {
            "image_size": 32,
            "layers": 2,
            "width": 32,
            "head_width": 16,
            "mlp_ratio": 1.5,
            "patch_size": 16,
        },
        "text_cfg": {"context_length": 20, "vocab_size": WORDS, "width": 16, "heads": 2, "layers": 2, "mlp_ratio": 3.0},
    },
    "preprocess_cfg": {"interpolation": "bicubic", "resize_mode": "shortest"},
}


def random_state(network: torch.nn.Module, scale: float = 1.0) -> dict[str, Tensor]:
    """Values for all parameters: of norms around 1, of matrices such that inputs keep their size."""
    draw, found = torch.Generator().manual_seed(0), {}
    for name, value in sorted(network.state_dict().items()):
        noise = torch.randn(value.shape, generator=draw)
        wide = value.shape[-1] if value.ndim > 1 else 25
        found[name] = noise * scale / wide**0.5 + (1.0 if name.endswith("weight") and value.ndim == 1 else 0.0)
    return found | {"logit_scale": torch.tensor(2.0)}


def named(state: dict[str, Tensor], layout: Layout) -> dict[str, Tensor]:
    """A state of ours by the names, and in the shapes, of files."""
    found = {}
    for own, value in state.items():
        names, turned = layout.names(own), value.T if own in layout.transposed else value
        for name, part in zip(names, turned.chunk(len(names)), strict=True) if value.ndim else [(own, value)]:
            found[name] = part.reshape(layout.shape(own, value.shape)).contiguous().clone()
    return found


def small_network() -> ClipNetwork:
    network = ClipNetwork(Configuration(IMAGE, TEXT, DIM, (0.5,) * 3, (0.25,) * 3)).eval()
    network.load_state_dict(random_state(network))
    return network


def small_clip() -> Clip:
    """Four patches, two towers of two blocks, 24 features."""
    pairs = [(first, second) for first, second in (merge.split() for merge in MERGED)]
    found = Clip("small_clip", small_network(), BytePairs(pairs, 20), "small_clip")
    found.presets = ("embedded",)
    return found


def written(folder: Path, layout: Layout = TRANSFORMERS) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "merges.txt").write_text(MERGES)
    begin, said = ("open_clip_", OF_OPEN_CLIP) if layout is OPEN_CLIP else ("", SIZES)
    save_file(named(small_network().state_dict(), layout), folder / f"{begin}model.safetensors")
    (folder / f"{begin}config.json").write_text(json.dumps(said))
    return folder


def opened(path: Path, item: str = "clip") -> Clip:
    found = build_backbone(item, {"clip": str(path)})
    assert isinstance(found, Clip)
    return found
