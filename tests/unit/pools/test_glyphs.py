"""The embedded glyph pool: what an image depends on, and which classes there are."""

from __future__ import annotations

import pickle
import unicodedata
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seqsearch.core.errors import UserError
from seqsearch.pools.base import Split, View
from seqsearch.pools.glyphs import build
from seqsearch.pools.parts import glyph_render as render
from seqsearch.pools.parts.glyph_atlas import TILE, load_atlas

POOL = build()
SHIPPED = "446599afd7b4ff4b855aa6d67527b6c6"
"""Digest of the pool before it had styles: what is stored of it stays valid."""
ROWS = sum(info.count for info in POOL.classes)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(0, ROWS - 1), min_size=1, max_size=40), st.integers(0, 39))
def test_order_and_batching_do_not_matter(rows: list[int], cut: int) -> None:
    at = np.array(rows)
    together = POOL.images(at, View(32))
    parted = [POOL.images(part, View(32)) for part in (at[:cut], at[cut:])]
    backwards = POOL.images(at[::-1], View(32))[::-1]
    assert together.shape == (len(rows), 3, 32, 32)
    assert together.dtype == np.uint8
    np.testing.assert_array_equal(together, np.concatenate(parted))
    np.testing.assert_array_equal(together, backwards)


@pytest.mark.parametrize("size", [64, 224])
def test_batching_does_not_matter_at_other_sizes(size: int) -> None:
    pool = build(size=size)
    rows = np.array([5, 30_000, 77])
    alone = [pool.images(rows[i : i + 1], View(size)) for i in range(3)]
    np.testing.assert_array_equal(pool.images(rows, View(size)), np.concatenate(alone))


def test_an_image_is_a_function_of_seed_code_point_and_index() -> None:
    few, longer = build(classes=50), build(train=60)
    local = 7
    whole = POOL.codes.tolist().index(few.codes[local])
    index = np.arange(40)
    expected = POOL.images(whole * 40 + index, View(32))
    np.testing.assert_array_equal(few.images(local * 40 + index, View(32)), expected)
    np.testing.assert_array_equal(longer.images(whole * 80 + index, View(32)), expected)
    assert (build(seed=1).images(whole * 40 + index, View(32)) != expected).any(axis=(1, 2, 3)).all()


def test_a_pickled_pool_is_small_and_draws_the_same() -> None:
    data = pickle.dumps(POOL)
    assert len(data) < 300_000
    rows = np.array([1, 9_999])
    np.testing.assert_array_equal(pickle.loads(data).images(rows, View(32)), POOL.images(rows, View(32)))


def test_images_of_a_class_all_differ() -> None:
    images = POOL.images(np.arange(40), View(32)).reshape(40, -1)
    assert len(np.unique(images, axis=0)) == 40


def test_pixels_are_the_shipped_ones() -> None:
    """A changed pixel must come with a new renderer version, or cached features would be wrong."""
    rows = np.array([0, 12_345, 40_000])
    sums = POOL.images(rows, View(32)).reshape(3, -1).sum(axis=1, dtype=np.int64).tolist()
    assert (render.VERSION, sums) == (2, [419123, 529483, 260831])


def test_strength_zero_is_the_plain_glyph() -> None:
    """Without distortion the image is two flat colours and the mixture on the outline."""
    image = build(strength=0).images(np.array([0]), View(32))[0].reshape(3, -1).T
    colours = Counter(map(tuple, image.tolist())).most_common(2)
    assert sum(count for _, count in colours) > 0.7 * 32 * 32


def test_strength_moves_images_further_from_the_plain_glyph() -> None:
    rows = np.arange(0, ROWS, 997)
    plain, weak, strong = (build(strength=s).images(rows, View(32)).astype(float) for s in (0, 0.5, 1.4))
    assert np.abs(strong - plain).mean() > 1.3 * np.abs(weak - plain).mean() > 0


def test_other_view_sizes_are_the_same_picture() -> None:
    rows = np.array([3, 4_000])
    native = POOL.images(rows, View(32)).astype(float)
    double = POOL.images(rows, View(64, interpolation="bilinear")).reshape(2, 3, 32, 2, 32, 2).mean(axis=(3, 5))
    assert np.abs(native - double).mean() < 12
    cropped = POOL.images(rows, View(16, crop_pct=0.5, interpolation="nearest"))
    np.testing.assert_array_equal(cropped, native[:, :, 8:24, 8:24])


def test_sizes_show_the_same_geometry() -> None:
    rows = np.arange(0, ROWS, 1999)
    small = POOL.images(rows, View(32)).astype(float)
    large = build(size=64).images(rows, View(64)).reshape(len(rows), 3, 32, 2, 32, 2).mean(axis=(3, 5))
    matched = np.abs(small - large).mean()
    assert matched < 0.4 * np.abs(small - np.roll(large, 1, axis=0)).mean()


@pytest.mark.parametrize("style", ["chequered", "striped"])
@pytest.mark.parametrize("size", [32, 64])
def test_styles_are_the_same_picture_in_negative_on_half_of_it(style: str, size: int) -> None:
    rows = np.array([0, 12_345, 40_000])
    plain, other = (build(size=size, style=s).images(rows, View(size)).astype(int) for s in ("plain", style))
    field = np.arange(size) * 16 // size
    negative = (field[:, None] + (field[None, :] if style == "chequered" else 0 * field)) % 2 == 1
    assert negative.mean() == 0.5
    np.testing.assert_array_equal(other[..., ~negative], plain[..., ~negative])
    assert np.abs(other[..., negative] - (255 - plain[..., negative])).max() <= 1, "to rounding"


def test_digest_changes_with_every_setting() -> None:
    variants = [
        build(),
        build(train=21),
        build(classes=100),
        build(size=64),
        build(strength=1.0),
        build(seed=1),
        build(part="pretrain"),
        build(style="chequered"),
        build(style="striped"),
    ]
    assert len({pool.digest for pool in variants}) == len(variants)
    assert build(train=21).digest == build(train=21).digest
    assert build(classes=len(POOL.classes)).digest == POOL.digest
    assert build(classes=400).name == "glyphs:classes=400"
    assert build(style="striped").name == "glyphs:style=striped"
    assert build(style="plain").digest == POOL.digest == SHIPPED
    assert POOL.name == "glyphs"


def test_split_sizes_give_the_parts_asked_for() -> None:
    pool = build(train=30, reward=7, test=5, classes=3)
    split = Split(pool, seed=0)
    assert [len(split.rows(2, part)) for part in ("train", "val", "reward", "test")] == [24, 6, 7, 5]


def test_pool_and_pretraining_share_no_code_point_not_even_by_alias() -> None:
    every = [
        {code for codes in ((int(c), *a) for c, a in zip(atlas.codes, atlas.aliases, strict=True)) for code in codes}
        for atlas in (load_atlas("pool"), load_atlas("pretrain"))
    ]
    assert len(every[0]) > 1000
    assert len(every[1]) > 500
    assert not every[0] & every[1]


def test_code_points_that_look_alike_are_one_class() -> None:
    owner = {
        code: int(c)
        for part in ("pool", "pretrain")
        for atlas in [load_atlas(part)]
        for c, aliases in zip(atlas.codes, atlas.aliases, strict=True)
        for code in (int(c), *aliases)
    }
    names = ("LATIN {} LETTER A", "GREEK {} LETTER ALPHA", "CYRILLIC {} LETTER A")
    capitals = {owner[ord(unicodedata.lookup(name.format("CAPITAL")))] for name in names}
    assert capitals == {ord("A")}
    # Latin, Greek and Cyrillic O, P and H; then Latin and Cyrillic o, p, c, x.
    for group in (
        (0x4F, 0x39F, 0x41E),
        (0x50, 0x3A1, 0x420),
        (0x48, 0x397, 0x41D),
        (0x6F, 0x3BF, 0x43E),
        (0x70, 0x440),
        (0x63, 0x441),
        (0x78, 0x445),
    ):
        assert len({owner[code] for code in group}) == 1, group


def test_no_two_classes_look_alike() -> None:
    """Mean overlap in the fonts that both have, measured on the tiles as shipped.

    Their resolution is not that of the build, hence a margin on its threshold of 0.75.
    """
    atlas = load_atlas("pool")
    owner = np.repeat(np.arange(len(atlas.codes)), np.diff(atlas.starts))
    total, shared = np.zeros((2, len(atlas.codes), len(atlas.codes)), np.float32)
    for font in set(atlas.fonts):
        at = np.array([i for i, name in enumerate(atlas.fonts) if name == font])
        masks = (atlas.tiles[at] > 128).reshape(len(at), -1).astype(np.float32)
        both, ink = masks @ masks.T, masks.sum(axis=1)
        total[np.ix_(owner[at], owner[at])] += both / (ink[:, None] + ink[None, :] - both)
        shared[np.ix_(owner[at], owner[at])] += 1
    np.fill_diagonal(total, 0)
    overlap = total / np.maximum(shared, 1)
    # With fewer fonts in common the mean over the outlines kept is not the mean over all fonts.
    assert overlap[shared >= 4].max() < 0.85
    assert np.quantile(overlap.max(axis=1), 0.98) < 0.8


def test_blocks_are_capped_and_outlines_suffice() -> None:
    for part, cap in (("pool", 64), ("pretrain", 32)):
        atlas = load_atlas(part)
        outlines = np.diff(atlas.starts)
        assert max(Counter(atlas.groups).values()) <= cap
        assert outlines.min() >= 4
        assert outlines.sum() == len(atlas.tiles) == len(atlas.fonts)
        assert atlas.tiles.shape[1:] == (TILE, TILE)
        assert len(set(atlas.names)) == len(atlas.names)


def test_names_are_unicode_names() -> None:
    for code, info in zip(POOL.codes.tolist(), POOL.classes, strict=True):
        assert info.name == unicodedata.name(chr(code)).lower()


def test_fewer_classes_are_balanced_subsets() -> None:
    half, quarter = build(classes=400), build(classes=200)
    assert set(quarter.codes) < set(half.codes) < set(POOL.codes)
    assert len(half.codes) == 400
    sizes, full = Counter(c.group for c in half.classes), Counter(c.group for c in POOL.classes)
    cut = [sizes[group] for group in full if sizes[group] < full[group]]
    assert max(cut) - min(cut) <= 1
    assert set(sizes) == set(full)


@pytest.mark.parametrize(
    "option",
    [
        {"train": 0},
        {"reward": 0},
        {"test": -1},
        {"classes": 0},
        {"classes": 10**6},
        {"classes": 2.5},
        {"size": 48},
        {"style": "edges"},
        {"strength": -1.0},
        {"strength": float("nan")},
        {"strength": 9.0},
        {"strength": "high"},
        {"seed": -1},
        {"seed": True},
        {"part": "train"},
    ],
)
def test_bad_options_are_refused_in_one_line(option: dict[str, object]) -> None:
    with pytest.raises(UserError) as error:
        build(**option)
    assert next(iter(option)) in str(error.value)
    assert "\n" not in str(error.value)


def test_rows_outside_the_pool_are_refused() -> None:
    with pytest.raises(UserError, match="rows 0 to"):
        POOL.images(np.array([ROWS]), View(32))


def test_a_missing_atlas_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("seqsearch.pools.parts.glyph_atlas.ATLAS", tmp_path / "none.npz")
    with pytest.raises(UserError, match=r"none\.npz is missing.*install seqsearch again"):
        load_atlas.__wrapped__("pool")
