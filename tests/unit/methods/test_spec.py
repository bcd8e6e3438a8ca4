"""The identity of a method, and what is said of a backbone that stands behind the parameters."""

from __future__ import annotations

from pathlib import Path

import pytest

from seqsearch.core.errors import UserError
from seqsearch.core.grammar import parse_items
from seqsearch.training.world import World


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("wa:lr=1@scratch:tiny", "wa@scratch:tiny:lr=1"),
        ("er:lr=0.5,epochs=3@plain_vit", "er@plain_vit:lr=0.5,epochs=3"),
        ("wa:scheduler=cosine@scratch:tiny-16", "wa@scratch:tiny-16:scheduler=cosine"),
    ],
)
def test_the_line_says_where_it_must_stand(text: str, right: str) -> None:
    world = World("glyphs:classes=6", 0, "", "")
    [item] = parse_items(text, "method")
    with pytest.raises(UserError) as found:
        world.spec(item, "scratch:tiny")
    assert str(found.value).endswith(f"; a backbone stands before the parameters: {right}")
    assert "\n" not in str(found.value)
    [mended] = parse_items(right, "method")
    assert world.spec(mended, "glyph_vit").backbone == right.removeprefix(mended.target + "@").rpartition(":")[0]


def test_nothing_is_said_of_backbones_where_another_value_is_wrong() -> None:
    with pytest.raises(UserError) as found:
        World("glyphs:classes=6", 0, "", "").spec(parse_items("er:lr=-1", "method")[0], "glyph_vit")
    assert "backbone" not in str(found.value)


def test_two_methods_of_one_file_are_two(tmp_path: Path) -> None:
    """Also with the same parameters: their results would be taken for each other's."""
    (tmp_path / "own.py").write_text(
        "from seqsearch.methods.simplecil import build as Base\n"
        "class One(Base):\n    pass\n"
        "class Other(Base):\n    pass\n"
    )
    world = World("glyphs:classes=6", 0, "", "")
    one, other = (world.spec(parse_items(f"{tmp_path}/own.py:{n}", "method")[0], "glyph_vit") for n in ("One", "Other"))
    assert one.digest != other.digest
    assert not one.first or one.first != other.first
