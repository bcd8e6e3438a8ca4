"""Pools that are looked at first, and used after it."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image

from seqsearch.core.errors import UserError
from seqsearch.core.once import forget, opened_once
from seqsearch.pools.open import build_pool


def test_a_pool_is_opened_once_in_a_block_and_anew_without() -> None:
    with opened_once():
        first = build_pool("glyphs:classes=3")
        assert build_pool("glyphs:classes=3") is first
        assert build_pool("glyphs:classes=4") is not first
    assert build_pool("glyphs:classes=3") is not first
    with opened_once():
        assert build_pool("glyphs:classes=3") is not first


def test_what_is_forgotten_is_opened_anew() -> None:
    with opened_once():
        first = build_pool("glyphs:classes=3")
        forget("pool", "glyphs:classes=3")
        assert build_pool("glyphs:classes=3") is not first
        forget("pool", "glyphs:classes=4")  # never opened
    forget("pool", "glyphs:classes=3")  # outside of a block


def test_what_could_not_be_opened_is_tried_again(tmp_path: Path) -> None:
    with opened_once():
        with pytest.raises(UserError, match="does not exist"):
            build_pool(str(tmp_path / "later"))
        _photo(tmp_path / "later" / "cats")
        assert [c.name for c in build_pool(str(tmp_path / "later")).classes] == ["cats"]


def _photo(folder: Path) -> None:
    folder.mkdir(parents=True)
    Image.new("RGB", (8, 8)).save(folder / "one.png")
