"""Sizes of a CLIP from the configuration beside its weights: ``config.json`` of transformers, ``open_clip_config.json``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from timm.data.constants import OPENAI_CLIP_MEAN, OPENAI_CLIP_STD

from seqsearch.backbones.parts.clip_network import ACTIVATIONS, OPEN_CLIP, TRANSFORMERS, Configuration, Layout
from seqsearch.backbones.parts.flava_model import SIZES, checked_sizes
from seqsearch.core.errors import UserError
from seqsearch.core.typed import brief, fits
from seqsearch.storage.reading import json_object

OF_TRANSFORMERS, OF_OPEN_CLIP = "config.json", "open_clip_config.json"
PIXELS = "preprocessor_config.json"
"""What transformers does to pixels; open_clip says it in its configuration."""
_LAYERS = {"num_hidden_layers": 12, "hidden_act": "quick_gelu", "layer_norm_eps": 1e-5}
IMAGE: dict[str, Any] = {
    **_LAYERS,
    "hidden_size": 768,
    "intermediate_size": 3072,
    "num_attention_heads": 12,
    "image_size": 224,
    "patch_size": 32,
}
TEXT: dict[str, Any] = {
    **_LAYERS,
    "hidden_size": 512,
    "intermediate_size": 2048,
    "num_attention_heads": 8,
    "vocab_size": 49408,
    "max_position_embeddings": 77,
}
"""Settings of a tower, and what transformers takes where a configuration says nothing."""
IMAGE_OF_OPEN_CLIP = {
    "layers": 12,
    "width": 768,
    "head_width": 64,
    "mlp_ratio": 4.0,
    "patch_size": 16,
    "image_size": 224,
}
TEXT_OF_OPEN_CLIP = {
    "context_length": 77,
    "vocab_size": 49408,
    "width": 512,
    "heads": 8,
    "layers": 12,
    "mlp_ratio": 4.0,
}
"""The same of open_clip."""
WITHOUT_EFFECT = ("patch_dropout",)
"""Settings of open_clip that act in its own training alone."""


GEOMETRY: dict[str, tuple[Any, ...]] = {"interpolation": ("bicubic",), "resize_mode": ("shortest",), "resample": (3,)}
"""How images become squares, where a configuration says it: 3 is Pillow's number of bicubic."""


def configuration(where: str, folder: Path, layout: Layout) -> Configuration:
    """What stands in the configuration of a folder, for weights of this layout.

    Raises:
        UserError: it is not there, or says something that CLIP is not.
    """
    name = OF_OPEN_CLIP if layout is OPEN_CLIP else OF_TRANSFORMERS
    if not (folder / name).exists():
        raise UserError(f"{where}: there is no {name} beside the weights: it must say the sizes")
    said = json_object(folder / name, links=True)
    image, text, dim = _of_open_clip(where, said) if layout is OPEN_CLIP else _of_transformers(said)
    checked_sizes({"hidden_size": dim}, f"{where}: width of features")
    mean, std = _pixels(where, folder, said, layout)
    towers = _tower(f"{where}: image tower", image, IMAGE), _tower(f"{where}: text tower", text, TEXT)
    return Configuration(*towers, dim, mean, std)


def layout_of(names: Mapping[str, Any]) -> Layout:
    """Whose names the tensors of a file have."""
    return OPEN_CLIP if "visual.class_embedding" in names else TRANSFORMERS


def _tower(where: str, said: Any, known: Mapping[str, Any]) -> dict[str, Any]:
    """All settings of a tower.

    Raises:
        UserError: one is out of range.
    """
    found = {**known, **checked_sizes(said, where)}
    if found["hidden_act"] not in ACTIVATIONS:
        raise UserError(f"{where}: hidden_act is {brief(found['hidden_act'])}: must be one of {', '.join(ACTIVATIONS)}")
    if not 0 < found["layer_norm_eps"] < 1:
        raise UserError(f"{where}: layer_norm_eps is {brief(found['layer_norm_eps'])}: must be between 0 and 1")
    return found


def _pixels(where: str, folder: Path, said: Mapping[str, Any], layout: Layout) -> tuple[tuple[float, ...], ...]:
    """Mean and standard deviation by colour; as published where nothing says it.

    Raises:
        UserError: no three numbers, or another geometry than CLIP's.
    """
    if layout is OPEN_CLIP:
        shown, names = said.get("preprocess_cfg", {}), ("mean", "std")
    else:
        shown = json_object(folder / PIXELS, links=True) if (folder / PIXELS).exists() else {}
        names = ("image_mean", "image_std")
    if not isinstance(shown, Mapping):
        raise UserError(f"{where}: preprocess_cfg is {brief(shown)}: must be an object")
    for name, usual in GEOMETRY.items():
        if name in shown and shown[name] not in usual:
            raise UserError(f"{where}: {name} of images is {brief(shown[name])}: must be {usual[0]}")
    found = []
    for name, published in zip(names, (OPENAI_CLIP_MEAN, OPENAI_CLIP_STD), strict=True):
        value = shown.get(name, published)
        if not fits(value, tuple[float, float, float]) or not all(1e-3 <= v <= 1 for v in value):
            raise UserError(f"{where}: {name} is {brief(value)}: must be three numbers from 0.001 to 1")
        found.append(tuple(map(float, value)))
    return tuple(found)


def _of_transformers(said: Mapping[str, Any]) -> tuple[Any, Any, Any]:
    return said.get("vision_config", {}), said.get("text_config", {}), said.get("projection_dim", 512)


def _of_open_clip(where: str, said: Mapping[str, Any]) -> tuple[Any, Any, Any]:
    model = said.get("model_cfg", said)
    if not isinstance(model, Mapping):
        raise UserError(f"{where}: model_cfg is {brief(model)}: must be an object")
    image = _settings(where, model, "vision_cfg", IMAGE_OF_OPEN_CLIP)
    text = _settings(where, model, "text_cfg", TEXT_OF_OPEN_CLIP)
    act = {"hidden_act": "quick_gelu" if model.get("quick_gelu") else "gelu"}
    of_image = {
        **_common(image),
        **act,
        "num_attention_heads": image["width"] // image["head_width"],
        **{name: image[name] for name in ("image_size", "patch_size")},
    }
    of_text = {
        **_common(text),
        **act,
        "num_attention_heads": text["heads"],
        "vocab_size": text["vocab_size"],
        "max_position_embeddings": text["context_length"],
    }
    return of_image, of_text, model.get("embed_dim", 512)


def _common(said: Mapping[str, Any]) -> dict[str, int]:
    return {
        "hidden_size": said["width"],
        "num_hidden_layers": said["layers"],
        "intermediate_size": int(said["width"] * said["mlp_ratio"]),
    }


def _settings(where: str, model: Mapping[str, Any], part: str, known: Mapping[str, float]) -> dict[str, Any]:
    """Return all settings of a part: numbers.

    Raises:
        UserError: another setting, which makes it another network, or no number.
    """
    said = model.get(part, {})
    if not isinstance(said, Mapping):
        raise UserError(f"{where}: {part} is {brief(said)}: must be an object of sizes")
    if other := next((n for n, v in said.items() if n not in (*known, *WITHOUT_EFFECT) and v not in (None, False)), ""):
        raise UserError(f"{where}: {part}: {brief(other)} is a setting of another network than CLIP")
    found = {**known, **{name: said[name] for name in known if name in said}}
    for name, value in found.items():
        kinds = (int, float) if name == "mlp_ratio" else (int,)
        if isinstance(value, bool) or not isinstance(value, kinds) or not 1 <= value <= max(SIZES.values()):
            raise UserError(f"{where}: {part}: {name} is {brief(value)}: must be a whole number from 1 on")
    return found
