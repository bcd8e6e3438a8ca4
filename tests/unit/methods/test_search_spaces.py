"""Every default lies in the space that it is tuned over, for every method and every kind of backbone."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from seqsearch.core.registry import load, names
from seqsearch.methods.config import LogUniform, default_of, space_of

BACKBONES = ("vit_base_patch16_224", "glyph_vit", "glyph_flava", "scratch:resnet32", "scratch:resnet18", "scratch:tiny")
PRINTED = {("aper_adapter", "ffn_num", 100), ("coda_prompt", "epochs", 50)}
"""Defaults of their authors outside the lists that GTEP prints for these methods, which stay as printed."""


def inside(value: Any, space: LogUniform | tuple[Any, ...]) -> bool:
    if isinstance(space, LogUniform):
        return space.low <= value <= space.high
    if isinstance(value, str | bool):
        return value in space
    return bool(min(space) <= value <= max(space))


@pytest.mark.parametrize("backbone", BACKBONES)
@pytest.mark.parametrize("name", names("method"))
def test_defaults_lie_in_their_search_spaces(name: str, backbone: str) -> None:
    outside = []
    for f in dataclasses.fields(load("method", name).Config):
        value, space = default_of(f, backbone), space_of(f, backbone)
        stands_for_a_rule = value == 0 and "0:" in f.metadata["help"]
        if space is not None and not inside(value, space) and not stands_for_a_rule:
            outside.append((name, f.name, value))
    assert set(outside) <= PRINTED, outside


def test_the_exceptions_are_exceptions() -> None:
    for name, field, value in PRINTED:
        [f] = [f for f in dataclasses.fields(load("method", name).Config) if f.name == field]
        space = space_of(f, "vit_base_patch16_224")
        assert space is not None
        assert default_of(f, "vit_base_patch16_224") == value
        assert not inside(value, space)
