"""Attributes of the outline of a glyph, in small whole numbers. Captions are made of them.

An attribute is a function of one distance-field tile and of nothing else; names, code points, blocks and classes play
no role. It comes from comparison, counting and division of whole numbers, so that it is the same on every machine.

Shapes: ``t`` tiles, ``A`` attributes (`ATTRIBUTES`).
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from seqsearch.pools.parts.glyph_atlas import TILE, Tiles, load_atlas

ATTRIBUTES = {
    "holes": 4, "pieces": 4, "outline": 5, "ink": 4, "height": 3, "width": 3, "mirrored": 3, "flipped": 3, "gap_left": 3,
    "gap_right": 3, "gap_above": 3, "gap_below": 3, "across": 4, "along": 4, "edges": 3, "slanting": 4,
}  # fmt: skip
"""How many values each has, from 0; neighbours are alike."""
_INK = 116
"""Of a tile's field, at least: hairlines thinner than a pixel of the tile are whole."""
_SPECK = 3
"""Pixels: a hole or piece with fewer is none."""
_NEAR = (64, 192)
"""Field about an outline, where its direction is looked at."""

Counts = NDArray[np.int64]
Masks = NDArray[np.bool_]


@cache
def geometry_of(part: str) -> NDArray[np.uint8]:
    """Attributes ``[t, A]`` of all tiles of a part of the atlas; see `geometry`."""
    return geometry(load_atlas(part).tiles)


@cache
def widths_of(part: str) -> Counts:
    """Of all tiles ``[t]`` of a part of the atlas; see `widths`."""
    return widths(load_atlas(part).tiles)


def geometry(tiles: Tiles) -> NDArray[np.uint8]:
    """Attributes ``[t, A]`` in the order of `ATTRIBUTES`.

    holes and pieces: how many (of pieces those beyond the first), 3 stands for more. outline: tall to wide. ink: share of the
    box around it. height and width: where the ink's middle is, above to below and left to right. mirrored and flipped: how much
    of the ink is where it was when left and right, or above and below, change places. gaps: ground with ink around it on all
    sides but that one. across and along: pieces of a level and of an upright line through the middle that are ink. edges:
    upright to level. slanting: share of outlines that do.
    """
    ink = tiles >= _INK
    top, height = _extent(np.asarray(ink.any(axis=2)))
    left, width = _extent(np.asarray(ink.any(axis=1)))
    amount, box = ink.sum(axis=(1, 2)), height * width
    line = np.arange(TILE)
    middle_y = (ink.sum(axis=2) * (2 * line + 1)).sum(axis=1) - 2 * top * amount
    middle_x = (ink.sum(axis=1) * (2 * line + 1)).sum(axis=1) - 2 * left * amount
    upright, level, slanting = _directions(tiles)
    found = [
        np.minimum(_patches(np.pad(~ink, ((0, 0), (1, 1), (1, 1)), constant_values=True), corners=False) - 1, 3),
        np.clip(_patches(ink, corners=True) - 1, 0, 3),
        _level(width, height, (0.5, 0.8, 1.25, 2.0)),
        _level(amount, box, (0.3, 0.42, 0.58)),
        _level(middle_y, 2 * height * amount, (0.46, 0.54)),
        _level(middle_x, 2 * width * amount, (0.46, 0.54)),
        _level(_kept(ink, left, width, 2), amount, (0.65, 0.9)),
        _level(_kept(ink, top, height, 1), amount, (0.65, 0.9)),
        *(_level(gap, box, (0.03, 0.13)) for gap in _gaps(ink)),
        np.minimum(_runs(np.take_along_axis(ink, (top + height // 2)[:, None, None], 1)[:, 0]), 3),
        np.minimum(_runs(np.take_along_axis(ink, (left + width // 2)[:, None, None], 2)[..., 0]), 3),
        _level(level, upright + level, (0.36, 0.6)),
        _level(slanting, upright + level + slanting, (0.08, 0.25, 0.45)),
    ]
    return np.stack(found, axis=1).astype(np.uint8)


def widths(tiles: Tiles) -> Counts:
    """How wide the strokes of each tile are ``[t]``, in 64ths of its pixels: twice the ink over its borders."""
    ink = tiles >= _INK
    borders = np.diff(ink, axis=1).sum(axis=(1, 2)) + np.diff(ink, axis=2).sum(axis=(1, 2))
    return np.asarray(128 * ink.sum(axis=(1, 2)) // np.maximum(borders, 1), dtype=np.int64)


def _extent(lines: Masks) -> tuple[Counts, Counts]:
    """First line that is true, and how many up to the last, of ``[t, TILE]``."""
    first = lines.argmax(axis=1)
    return first, TILE - lines[:, ::-1].argmax(axis=1) - first


def _level(part: Counts, whole: Counts, bounds: tuple[float, ...]) -> Counts:
    """How many of ``bounds`` the share ``part / whole`` reaches; of nothing it is 0."""
    share = part / np.maximum(whole, 1)
    return sum(((share >= bound).astype(np.int64) for bound in bounds), np.zeros(len(share), dtype=np.int64))


def _patches(masks: Masks, corners: bool) -> Counts:
    """Connected patches of each mask, specks left out; ``corners`` says whether touching at a corner connects."""
    from scipy.ndimage import label

    plane = np.ones((3, 3), bool) if corners else np.array([[0, 1, 0], [1, 1, 1], [0, 1, 0]], bool)
    labels, number = label(masks, np.stack([0 * plane, plane, 0 * plane]))
    # One mask after another is labelled: a mask's labels follow on those of the masks before it.
    last = np.maximum.accumulate(labels.max(axis=(1, 2)))
    owner = np.searchsorted(last, np.arange(1, number + 1))
    large = np.bincount(labels.ravel(), minlength=number + 1)[1:] >= _SPECK
    return np.bincount(owner[large], minlength=len(masks))


def _kept(ink: Masks, first: Counts, length: Counts, axis: int) -> Counts:
    """Pixels of ink ``[t]`` that are ink in the mirror, too, which stands in the middle of the box across ``axis``."""
    line = np.arange(TILE)
    there = 2 * first[:, None] + length[:, None] - 1 - line
    inside = (there >= 0) & (there < TILE)
    shape = (-1, 1, TILE) if axis == 2 else (-1, TILE, 1)
    mirrored = np.take_along_axis(ink, there.clip(0, TILE - 1).reshape(shape), axis) & inside.reshape(shape)
    return np.asarray((ink & mirrored).sum(axis=(1, 2)))


def _gaps(ink: Masks) -> list[Counts]:
    """Ground ``[t]`` that ink surrounds but to the left, right, above, below."""
    beyond = np.logical_or.accumulate
    sides = [
        beyond(ink, axis=2),
        beyond(ink[:, :, ::-1], axis=2)[:, :, ::-1],
        beyond(ink, axis=1),
        beyond(ink[:, ::-1], axis=1)[:, ::-1],
    ]
    how_many = sum((side.astype(np.uint8) for side in sides), np.zeros(ink.shape, np.uint8))
    return [((how_many == 3) & ~side & ~ink).sum(axis=(1, 2)) for side in sides]


def _runs(lines: Masks) -> Counts:
    """Stretches of ink in each line of ``[t, TILE]``."""
    return np.asarray((np.diff(lines.astype(np.int8), axis=1, prepend=0) == 1).sum(axis=1))


def _directions(tiles: Tiles) -> tuple[Counts, Counts, Counts]:
    """Points about outlines ``[t]`` where these are upright, level, and neither by more than 22 degrees."""
    field = tiles.astype(np.int16)
    across, along = np.abs(field[:, 1:-1, 2:] - field[:, 1:-1, :-2]), np.abs(field[:, 2:, 1:-1] - field[:, :-2, 1:-1])
    near = (tiles[:, 1:-1, 1:-1] > _NEAR[0]) & (tiles[:, 1:-1, 1:-1] < _NEAR[1])
    upright, level = 2 * across > 5 * along, 2 * along > 5 * across
    counted = [(near & of).sum(axis=(1, 2)) for of in (upright, level, ~upright & ~level)]
    return counted[0], counted[1], counted[2]
