"""The item grammar of ``--methods``."""

from __future__ import annotations

import doctest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqsearch.core import grammar
from seqsearch.core.errors import UserError
from seqsearch.core.grammar import Item, parse_item, parse_items

NAME = st.from_regex(r"[a-z][a-z_0-9]{0,8}", fullmatch=True)
VALUE = st.one_of(st.integers(-999, 999), st.booleans(), st.sampled_from([0.5, 1e-3, 2.25, "full", "none"]))


def test_doctests() -> None:
    result = doctest.testmod(grammar)
    assert result.attempted > 0
    assert result.failed == 0


def test_a_piece_with_an_equals_sign_continues_the_item() -> None:
    items = parse_items("ranpac:M=500,ridge=1e-2,er@vit_b:lr=0.1,mine.py:Mine,a.b:C:x=1", "method")
    assert [i.target for i in items] == ["ranpac", "er", "mine.py:Mine", "a.b:C"]
    assert items[0].params == (("M", 500), ("ridge", 0.01))
    assert items[1].backbone == "vit_b"
    assert items[3].params == (("x", 1),)


def test_a_backbone_tag_may_hold_dots() -> None:
    assert (
        parse_item("ranpac@vit_base_patch16_224.augreg_in21k:M=5", "method").backbone
        == "vit_base_patch16_224.augreg_in21k"
    )


@pytest.mark.parametrize(
    ("text", "kind", "canonical"),
    [
        ("ranpac, er", "method", ["ranpac", "er"]),
        (" RanPAC : M = 500 , ridge = 1 ,ER @ Glyph_ViT ", "method", ["ranpac:M=500,ridge=1", "er@glyph_vit"]),
        ("er@Scratch:Tiny-8", "method", ["er@scratch:Tiny-8"]),
        ("ACM,Ncm", "learner", ["acm", "ncm"]),
        ("Glyphs:classes=8", "pool", ["glyphs:classes=8"]),
        ("Mine.py:ER,My.ER:Er,Nobodys", "method", ["Mine.py:ER", "My.ER:Er", "Nobodys"]),
        ("/data/ER/Glyphs", "pool", ["/data/ER/Glyphs"]),
    ],
)
def test_blanks_do_not_count_and_names_of_ours_are_known_in_any_case(
    text: str, kind: str, canonical: list[str]
) -> None:
    assert [i.text for i in parse_items(text, kind)] == canonical


@given(NAME, st.one_of(st.none(), NAME), st.dictionaries(NAME, VALUE, max_size=3))
def test_the_canonical_text_parses_to_the_same_item(
    target: str, backbone: str | None, params: dict[str, object]
) -> None:
    text = target + (f"@{backbone}" if backbone else "")
    text += ":" + ",".join(f"{k}={v}" for k, v in params.items()) if params else ""
    item = parse_item(text, "method")
    assert parse_item(item.text, "method") == item
    assert item == Item(item.text, target, backbone, tuple(params.items()))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "empty method name"),
        ("er,,ranpac", "empty method name"),
        ("@vit", "empty method name"),
        ("er@", "empty method name"),
        ("er,er", "named twice"),
        ("er, ER", "named twice"),
        ("er:lr=1,lr=2", "gives a parameter twice"),
        ("er:lr=", "not key=value"),
    ],
)
def test_mistakes_are_named(text: str, says: str) -> None:
    with pytest.raises(UserError, match=says):
        parse_items(text, "method")
