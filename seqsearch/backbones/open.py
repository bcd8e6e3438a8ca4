"""A backbone from its text: a name, any timm model, or ``FILE.py:OBJECT``."""

from __future__ import annotations

import importlib
from collections.abc import Mapping

from seqsearch.backbones.base import Backbone
from seqsearch.backbones.parts.bf16 import in_bf16
from seqsearch.core.errors import UserError
from seqsearch.core.grammar import parse_item
from seqsearch.core.registry import made, names

MEMBERS = ("name", "tag", "digest", "dim", "view", "module", "preprocess")
"""What an own backbone must have."""


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
        return backbone
    if item.params:
        raise UserError(f"backbone {item.text!r}: a timm model takes no options here")
    # not by an import statement: timm models have no part in the identity of methods on other backbones (`core.identity`)
    found: Backbone = importlib.import_module("seqsearch.backbones.timm_model").build_timm(item.target, file)
    return found
