"""A backbone from its text: a name, any timm model, or ``FILE.py:OBJECT``."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Mapping
from dataclasses import replace

from seqsearch.backbones.base import Backbone, FromScratch
from seqsearch.backbones.parts.bf16 import in_bf16
from seqsearch.core.errors import UserError
from seqsearch.core.grammar import Item, parse_item
from seqsearch.core.registry import load, made, names
from seqsearch.core.typed import brief

MEMBERS = ("name", "tag", "digest", "dim", "view", "module", "preprocess")
"""Attributes that a custom backbone must have."""


PRESETS = ("embedded", "tiny", "scratch")
"""Presets for which a method's parameters may have other defaults and search spaces
(`seqsearch.methods.config.param`)."""
_SAID: dict[str, tuple[str, ...]] = {}
"""Presets of own backbones by their texts, as they were when last made in this process."""


def own_presets(text: str) -> tuple[str, ...]:
    """Which defaults of methods an own backbone wants (`seqsearch.backbones.base.Backbone`), those that go before others first.

    Raises:
        UserError: it cannot be made, or names other ones than `PRESETS`.
    """
    if text not in _SAID:
        build_backbone(text)
    return _SAID[text]


def build_backbone(text: str, weights: Mapping[str, str] | None = None, precision: str = "float32") -> Backbone:
    """A backbone from the item grammar; ``weights``: files by backbone.

    Raises:
        UserError: unknown backbone or option, weights that do not load.
    """
    backbone = _in_float32(text, weights)
    return in_bf16(backbone) if precision == "bf16" else backbone


def _in_float32(text: str, weights: Mapping[str, str] | None) -> Backbone:
    item = parse_item(text, "backbone")
    file = weights_of(text, weights or {})
    if item.target in names("backbone") or ":" in item.target:
        backbone: Backbone = made("backbone", _with_weights(item, file), MEMBERS)
        _SAID[text] = _presets(item.text, backbone)
        return backbone
    if item.params:
        raise UserError(f"backbone {item.text!r}: a timm model takes no options here")
    # not by an import statement: timm models have no part in the identity of methods on other backbones (`core.identity`)
    found: Backbone = importlib.import_module("seqsearch.backbones.timm_model").build_timm(item.target, file)
    return found


def weights_of(text: str, weights: Mapping[str, str]) -> str | None:
    """The file that ``--weights`` names for a backbone, with or without its options."""
    return weights.get(text) or weights.get(parse_item(text, "backbone").target)


def _with_weights(item: Item, file: str | None) -> Item:
    """The item with its file of weights as a further option of its ``build``.

    Raises:
        UserError: it takes none.
    """
    if "weights" in dict(item.params):
        raise UserError(f"backbone {item.text!r}: name weights by --weights {item.target}=PATH")
    if file is None:
        return item
    if "weights" not in inspect.signature(load("backbone", item.target)).parameters:
        raise UserError(
            f"--weights {item.text}={file}: this backbone brings its own weights, only timm models, clip and flava take a file"
        )
    return replace(item, params=(*item.params, ("weights", file)))


def _presets(label: str, backbone: Backbone) -> tuple[str, ...]:
    said = getattr(backbone, "presets", ("scratch",) if isinstance(backbone, FromScratch) else ())
    if not isinstance(said, tuple) or not all(name in PRESETS for name in said):
        raise UserError(
            f"backbone {label!r}: presets is {brief(said)}: must be a tuple of some of {', '.join(PRESETS)}"
        )
    return said
