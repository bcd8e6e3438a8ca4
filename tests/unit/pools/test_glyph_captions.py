"""Captions of embedded glyphs: true to what is drawn, blind to what a class is called."""

from __future__ import annotations

import pickle
import re
from collections import Counter

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.ndimage import distance_transform_edt

from seqsearch.core.errors import UserError
from seqsearch.pools.base import View
from seqsearch.pools.glyphs import CaptionedGlyphs, GlyphPool, build
from seqsearch.pools.parts import glyph_captions as told
from seqsearch.pools.parts import glyph_render as render
from seqsearch.pools.parts.glyph_atlas import SPREAD, TILE, load_atlas
from seqsearch.pools.parts.glyph_draws import drawn, image_keys
from seqsearch.pools.parts.glyph_geometry import ATTRIBUTES, geometry, geometry_of, widths

PLAIN = build()
ROWS = sum(info.count for info in PLAIN.classes)
SAID = [*told.OUTLINE.values(), *told.IMAGE.values()]
WORDS = {word for text in [*(p for ps in SAID for p in ps), *map("".join, told.TEMPLATES)] for word in text.split()}
VOCABULARY = {match for word in WORDS for match in re.findall(r"\w+", word)}


SHIPPED = [
    "met twice lengthwise, split twice, plentiful ink, lefthand side shut, balanced width, mostly upright edges, head shut, "
    "narrow outline; pale purplish ground: such its look.",
    "somebody drew it: unlike itself flipped, ample ink, pierced nowhere, split nowhere, heavier head, head gapes slightly, "
    "nearly its mirror, mixed edges, standing plumb.",
    "somebody drew it: met twice lengthwise, foot shut, head shut, balanced width, nearly its mirror, righthand side gapes "
    "slightly, edges often slanting, pierced once, drawn tiny, ordinary limbs.",
]


def captioned(**options: object) -> CaptionedGlyphs:
    pool = build(**{"captions": "first", **options})
    assert isinstance(pool, CaptionedGlyphs)
    return pool


FIRST = captioned()


def words_of(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))


def phrases_of(text: str) -> list[str]:
    """What a caption says, without its frame."""
    for begin, _, _, end in sorted(told.TEMPLATES, reverse=True):
        if text.startswith(begin) and text.endswith(end):
            return re.split(", |; ", text[len(begin) : len(text) - len(end)])
    raise AssertionError(text)


def frequencies(texts: list[str]) -> dict[str, float]:
    counted = Counter(phrase for text in texts for phrase in phrases_of(text))
    return {phrase: number / len(texts) for phrase, number in counted.items()}


def test_no_word_is_part_of_a_name() -> None:
    """Neither as it is, nor with or without the s of a plural."""
    names = {
        word
        for part in ("pool", "pretrain")
        for atlas in [load_atlas(part)]
        for name in (*atlas.names, *atlas.groups)
        for word in words_of(name)
    }
    assert len(names) > 900
    assert not VOCABULARY & names
    assert not {word + "s" for word in VOCABULARY} & names
    assert not {word.removesuffix("s") for word in VOCABULARY} & names


@pytest.mark.parametrize("part", ["pool", "pretrain"])
@pytest.mark.parametrize("style", ["plain", "striped"])
def test_captions_of_all_classes_are_of_a_closed_vocabulary(part: str, style: str) -> None:
    pool = captioned(part=part, style=style)
    every = pool.captions(np.arange(0, sum(c.count for c in pool.classes), 8))
    found = {word for own in every for text in own for word in words_of(text)}
    assert found <= VOCABULARY
    assert len(found) > (75 if style == "plain" else 60)
    sayings = {phrase for own in every for text in own for phrase in phrases_of(text)}
    coloured = {phrase for name in ("pen", "paper") for phrase in told.IMAGE[name]}
    assert sayings <= {phrase for said in SAID for phrase in said}
    assert bool(sayings & coloured) == (style == "plain"), "in negative, ink and ground have no colour of their own"


def test_classes_of_the_same_outlines_are_described_alike() -> None:
    """Another code point, name and block with the tiles of the first: no word comes oftener than chance has it."""
    pool = captioned(classes=2, train=6000)
    count = pool.classes[0].count
    own, other = (pool.texts(np.arange(low, low + 6000)) for low in (0, count))
    pool._first[1], pool._fonts[1] = pool._first[0], pool._fonts[0]
    same = pool.texts(np.arange(count, count + 6000))
    own_share, other_share, same_share = map(frequencies, (own, other, same))
    assert max(abs(own_share.get(p, 0) - other_share.get(p, 0)) for said in SAID for p in said) > 0.1
    error = 5 * np.sqrt(2 * 0.25 / 6000)
    assert max(abs(own_share.get(p, 0) - same_share.get(p, 0)) for said in SAID for p in said) < error
    assert own != same


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(0, ROWS - 1), min_size=1, max_size=40), st.integers(0, 39))
def test_order_and_batching_do_not_matter(rows: list[int], cut: int) -> None:
    at = np.array(rows)
    together = FIRST.captions(at)
    assert [*FIRST.captions(at[:cut]), *FIRST.captions(at[cut:])] == together
    assert FIRST.captions(at[::-1])[::-1] == together
    assert FIRST.texts(at) == [own[0] for own in together]
    assert all(len(own) == len(set(own)) == told.PER_IMAGE for own in together)


def test_a_caption_belongs_to_the_image_not_to_the_pool_around_it() -> None:
    few, longer = captioned(classes=50), captioned(train=60)
    whole = FIRST.codes.tolist().index(few.codes[7])
    index = np.arange(40)
    expected = FIRST.captions(whole * 40 + index)
    assert few.captions(7 * 40 + index) == expected
    assert longer.captions(whole * 80 + index) == expected
    again = pickle.loads(pickle.dumps(FIRST))
    assert again.captions(whole * 40 + index) == expected
    assert captioned(seed=1).captions(whole * 40 + index) != expected
    assert captioned(size=64).captions(whole * 40 + index) == expected


def test_images_are_those_of_the_pool_without_captions() -> None:
    rows = np.array([0, 12_345, 40_000])
    np.testing.assert_array_equal(FIRST.images(rows, View(32)), PLAIN.images(rows, View(32)))
    pools = [PLAIN, *(captioned(captions=policy) for policy in ("first", "concat", "random"))]
    assert len({pool.digest for pool in pools}) == 4
    assert type(PLAIN) is GlyphPool
    assert not hasattr(PLAIN, "texts")
    assert FIRST.name == "glyphs:captions=first"


def test_captions_are_the_shipped_ones() -> None:
    """A changed caption must come with a new version, or stored features of pairs would be wrong."""
    assert (told.VERSION, FIRST.texts(np.array([0, 12_345, 40_000]))) == (1, SHIPPED)


def test_policies() -> None:
    rows = np.arange(0, ROWS, 97)
    every = FIRST.captions(rows)
    assert captioned(captions="concat").texts(rows) == [" ".join(own) for own in every]
    drawing = captioned(captions="random")
    assert drawing.texts(rows) == FIRST.texts(rows), "what is evaluated is not left to chance"
    seeded = [drawing.drawn_texts(rows, torch.Generator().manual_seed(seed)) for seed in (0, 0, 1)]
    assert seeded[0] == seeded[1] != seeded[2]
    which = [own.index(text) for own, text in zip(every, seeded[0], strict=True)]
    assert min(np.bincount(which, minlength=told.PER_IMAGE)) > len(rows) / 5
    assert FIRST.drawn_texts(rows, torch.Generator()) == FIRST.texts(rows)


def test_captions_name_some_attributes_and_are_sometimes_wrong_by_one_step() -> None:
    rows = np.arange(0, ROWS, 5)
    texts = FIRST.texts(rows)
    local, keys = FIRST._local(rows)
    chance = drawn(FIRST._fonts[local], keys, FIRST.strength)
    truth = geometry_of("pool")[FIRST._first[local] + chance.font]
    outline = {phrase: (a, value) for a, said in enumerate(told.OUTLINE.values()) for value, phrase in enumerate(said)}
    named: list[int] = []
    off: list[int] = []
    for text, own in zip(texts, truth.tolist(), strict=True):
        found = [outline[phrase] for phrase in phrases_of(text) if phrase in outline]
        assert len({a for a, _ in found}) == len(found)
        named.append(len(found))
        assert 1 <= len(phrases_of(text)) - len(found) <= 2
        off.extend(abs(own[a] - value) for a, value in found)
    assert set(named) == {5, 6, 7, 8}
    assert set(off) == {0, 1}
    assert 0.5 * told.WRONG < np.mean(off) < told.WRONG


def test_every_value_of_an_attribute_has_its_words_and_occurs() -> None:
    assert {name: len(said) for name, said in told.OUTLINE.items()} == ATTRIBUTES
    for part in ("pool", "pretrain"):
        found = geometry_of(part)
        assert [set(column.tolist()) for column in found.T] == [set(range(n)) for n in ATTRIBUTES.values()]
    phrases = [phrase for said in SAID for phrase in said]
    assert len(set(phrases)) == len(phrases)


SHAPES = {
    "bar": ["..##..", "..##..", "..##..", "..##.."],
    "ring": ["######", "##..##", "##..##", "######"],
    "cup": ["##..##", "##..##", "##..##", "######"],
    "tee": ["######", "######", "..##..", "..##.."],
    "hook": ["######", "##....", "##....", "######"],
    "pair": ["######", "......", "......", "######"],
}


def tile_of(rows: list[str]) -> NDArray[np.uint8]:
    """The distance field of this picture, each sign 4 x 6 pixels in the middle of a tile."""
    ink = np.zeros((TILE, TILE), bool)
    ink[4:28, 4:28] = np.array([[sign == "#" for sign in row] for row in rows]).repeat(6, axis=0).repeat(4, axis=1)
    inside, outside = distance_transform_edt(ink), distance_transform_edt(~ink)
    field = np.where(ink, inside - 0.5, 0.5 - outside)
    return np.clip(128 + field * 127 / SPREAD, 0, 255).astype(np.uint8)


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        (
            "bar",
            {"holes": 0, "pieces": 0, "outline": 0, "mirrored": 2, "flipped": 2, "edges": 0, "across": 1, "along": 1},
        ),
        ("ring", {"holes": 1, "pieces": 0, "outline": 2, "gap_left": 0, "gap_above": 0, "across": 2, "along": 2}),
        ("cup", {"holes": 0, "height": 2, "mirrored": 2, "flipped": 1, "gap_above": 2, "gap_below": 0, "gap_left": 0}),
        ("tee", {"holes": 0, "height": 0, "width": 1, "mirrored": 2, "across": 1, "gap_above": 0}),
        ("hook", {"width": 0, "flipped": 2, "mirrored": 1, "gap_right": 2, "gap_left": 0, "gap_below": 0}),
        ("pair", {"pieces": 1, "holes": 0, "across": 0, "along": 2, "edges": 2}),
    ],
)
def test_geometry_is_what_is_seen(shape: str, expected: dict[str, int]) -> None:
    rows = geometry(np.stack([tile_of(SHAPES["ring"]), tile_of(SHAPES[shape]), tile_of(SHAPES["pair"])]))
    found = dict(zip(ATTRIBUTES, rows[1].tolist(), strict=True))
    assert {name: found[name] for name in expected} == expected


def test_geometry_of_letters() -> None:
    values = {
        chr(code): dict(zip(ATTRIBUTES, np.median(own, axis=0).tolist(), strict=True))
        for part in ("pool", "pretrain")
        for atlas in [load_atlas(part)]
        for code, own in zip(atlas.codes.tolist(), np.split(geometry_of(part), atlas.starts[1:-1]), strict=True)
    }
    assert (values["O"]["holes"], values["B"]["holes"], values["C"]["holes"]) == (1, 2, 0)
    assert (values["i"]["pieces"], values["="]["pieces"]) == (1, 1)
    assert values["C"]["gap_right"] == 2 > values["C"]["gap_left"] == 0
    assert values["U"]["gap_above"] == 2 > values["U"]["gap_below"] == 0
    assert values["T"]["height"] == 0
    assert values["L"]["height"] == 2
    assert values["X"]["slanting"] == 3 > values["H"]["slanting"]


def test_what_is_said_of_an_image_is_what_is_drawn() -> None:
    """An upright bar: how it leans, how long and how wide it is, measured on its cover."""
    tile = tile_of(SHAPES["bar"])[None]
    keys = image_keys(5, np.zeros(600, np.int64), np.arange(600))
    chance = drawn(np.ones(600, np.int64), keys, 1.4)
    ink = render._ink(chance.placing, tile, chance.font, *render._grid(64))
    seen = told.looks(chance, np.repeat(widths(tile), 600), plain=True)
    line = np.arange(64)
    inner = slice(27, 37)
    middle = (ink * line).sum(axis=2)[:, inner] / ink.sum(axis=2)[:, inner]
    rightward = -np.polyfit(line[inner], middle.T, 1)[0]
    lean = list(told.IMAGE).index("lean")
    assert rightward[seen[:, lean] == 0].max() < 0.0 < rightward[seen[:, lean] == 2].min()
    assert np.abs(rightward[seen[:, lean] == 1]).max() < 0.25
    longer, wide = ink.any(axis=2).sum(axis=1), ink[:, inner].sum(axis=2).mean(axis=1)
    for name, measured in (("size", longer), ("weight", wide)):
        values = seen[:, list(told.IMAGE).index(name)]
        means = [measured[values == value].mean() for value in range(3) if (values == value).any()]
        assert len(means) >= 2
        assert np.diff(means).min() > 0.05 * np.mean(means)


def test_colours_are_those_of_the_pixels() -> None:
    """Without distortion an image has two flat colours; each must be as its words have it."""
    pool = captioned(strength=0, classes=300)
    rows = np.arange(0, 300 * 40, 40)
    local, keys = pool._local(rows)
    chance = drawn(pool._fonts[local], keys, 0.0)
    seen = told.looks(chance, np.zeros(300, np.int64), plain=True)
    pixels = pool.images(rows, View(32)).transpose(0, 2, 3, 1)
    corners, ink = pixels[:, 0, 0] / 255, render._ink(chance.placing, load_atlas("pool").tiles, pool._first[local] + chance.font,
                                                      *render._grid(32))  # fmt: skip
    inside = ink.reshape(300, -1).argmax(axis=1)
    inks = pixels.reshape(300, -1, 3)[np.arange(300), inside] / 255
    whole = ink.max(axis=(1, 2)) == 1
    checked = 0
    for column, colours, sure in ((0, inks, whole), (1, corners, np.ones(300, bool))):
        for said, (r, g, b) in zip(seen[sure, column], colours[sure], strict=True):
            shade, hue, _ = (list(told.IMAGE.values())[column][said]).split()
            mean, spread, middle = (r + g + b) / 3, max(r, g, b) - min(r, g, b), (max(r, g, b) + min(r, g, b)) / 2
            low, high = {"dark": (0, 0.25), "dim": (0.25, 0.5), "pale": (0.5, 0.75), "bright": (0.75, 1)}[shade]
            assert low - 0.01 <= mean <= high + 0.01
            assert (spread < told._GREY + 0.01) if hue == "greyish" else (spread > told._GREY - 0.01)
            strong = {"reddish": "r", "yellowish": "rg", "greenish": "g", "cyan": "gb", "bluish": "b", "purplish": "rb"}
            for channel, value in zip("rgb", (r, g, b), strict=True):
                if hue != "greyish":
                    assert (value > middle - 0.01) if channel in strong[hue] else (value < middle + 0.01)
            checked += 1
    assert checked > 500


def test_a_wrong_policy_is_refused_in_one_line() -> None:
    with pytest.raises(UserError, match="captions='all' must be one of first, concat, random") as error:
        build(captions="all")
    assert "\n" not in str(error.value)
    with pytest.raises(UserError, match="rows 0 to"):
        FIRST.texts(np.array([ROWS]))
