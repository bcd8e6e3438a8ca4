"""A backbone from its text: a name, any timm model, or ``FILE.py:OBJECT``."""

from __future__ import annotations

import importlib
from collections.abc import Mapping

from seqsearch.backbones.base import Backbone, FromScratch
from seqsearch.backbones.parts.bf16 import in_bf16
from seqsearch.core.errors import UserError
from seqsearch.core.grammar import parse_item
from seqsearch.core.registry import made, names
from seqsearch.core.typed import brief

MEMBERS = ("name", "tag", "digest", "dim", "view", "module", "preprocess")
"""What an own backbone must have."""


PRESETS = ("embedded", "tiny", "scratch")
"""What a method's parameters may have other defaults and search spaces for (`seqsearch.methods.config.param`)."""
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
    item, file = parse_item(text, "backbone"), (weights or {}).get(text)
    if item.target in names("backbone") or ":" in item.target:
        if file:
            raise UserError(
                f"--weights {text}={file}: this backbone brings its own weights, only timm models take a file"
            )
        backbone: Backbone = made("backbone", item, MEMBERS)
        _SAID[text] = _presets(item.text, backbone)
        return backbone
    if item.params:
        raise UserError(f"backbone {item.text!r}: a timm model takes no options here")
    # not by an import statement: timm models have no part in the identity of methods on other backbones (`core.identity`)
    found: Backbone = importlib.import_module("seqsearch.backbones.timm_model").build_timm(item.target, file)
    return found


def _presets(label: str, backbone: Backbone) -> tuple[str, ...]:
    said = getattr(backbone, "presets", ("scratch",) if isinstance(backbone, FromScratch) else ())
    if not isinstance(said, tuple) or not all(name in PRESETS for name in said):
        raise UserError(
            f"backbone {label!r}: presets is {brief(said)}: must be a tuple of some of {', '.join(PRESETS)}"
        )
    return said
