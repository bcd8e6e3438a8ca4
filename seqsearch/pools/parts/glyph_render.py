"""Draw glyph images from distance-field tiles, many at a time.

Every random number of an image is a hash of the image's own key and a counter, and every operation is elementwise
and exactly rounded (+, -, *, /, comparison, no sine, no sum over an axis): an image is the same bytes in whatever
batch, order, process and machine it is drawn.

Shapes: ``n`` images of ``s`` x ``s`` pixels; coordinates run from -1 to 1 over the image, y downwards.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from seqsearch.pools.parts.glyph_atlas import SPREAD, TILE, Tiles

VERSION = 2
"""Part of every digest: raise it whenever a pixel changes."""

Floats = NDArray[np.float32]
Keys = NDArray[np.uint64]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
"""The counter's stride, 2**64 over the golden ratio: successive counters fall far apart."""
_CHUNK_PIXELS = 1 << 14
"""Pixels drawn at once: one plane of them (64 KiB) stays in the cache of a core."""
_UNIT = 1.4
"""Distortion at strength 1, where random tasks just stop being trivial for the embedded backbone."""
_STROKES_BEHIND, _STROKES_IN_FRONT = 2, 1
STYLES = ("plain", "chequered", "striped")
"""How an image is printed: as it is, or in negative on every second field of a chessboard or on every second stripe."""
_FIELDS = 16
"""Fields of the chessboard (and stripes) along a side."""


def mix(value: Keys) -> Keys:
    """A bijection of 64-bit words [...] that scatters neighbours (the finaliser of SplitMix64)."""
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))


def image_keys(seed: int, codes: NDArray[np.int64], indices: NDArray[np.int64]) -> Keys:
    """Keys [n] of images: functions of the seed, the code point and the index within the class."""
    start = mix(np.array([seed], dtype=np.uint64) + _GOLDEN)
    of_class = mix((start ^ codes.astype(np.uint64)) + _GOLDEN)
    return mix((of_class ^ indices.astype(np.uint64)) + _GOLDEN)


class Draws:
    """Uniform random numbers of ``n`` images, one new counter per call."""

    def __init__(self, keys: Keys) -> None:
        self._keys = keys
        self._counter = 0

    def _words(self) -> Keys:
        """Fresh random words [n]."""
        self._counter += 1
        return mix(self._keys + np.array([self._counter], dtype=np.uint64) * _GOLDEN)

    def unit(self) -> Floats:
        """Uniform on [0, 1), shape [n, 1, 1]."""
        bits = self._words() >> np.uint64(40)
        return (bits.astype(np.float32) * np.float32(2**-24))[:, None, None]

    def between(self, low: float, high: float) -> Floats:
        """Uniform on [low, high), shape [n, 1, 1]."""
        return np.float32(low) + np.float32(high - low) * self.unit()

    def around(self, radius: float) -> Floats:
        """Uniform on [-radius, radius), shape [n, 1, 1]."""
        return self.between(-radius, radius)

    def pixels(self, side: int) -> list[Floats]:
        """Noise of mean 0 on (-1, 1) with a triangular density, one plane [n, side, side] for each colour."""
        words = mix(self._words()[:, None] + np.arange(side * side, dtype=np.uint64) * _GOLDEN)
        byte = words.astype("<u8", copy=False).view(np.uint8).reshape(len(words), side, side, 8)
        scale = np.float32(1 / 255)
        return [(byte[..., 2 * c].astype(np.float32) - byte[..., 2 * c + 1]) * scale for c in range(3)]


def draw(
    tiles: Tiles, tile_starts: NDArray[np.int64], tile_counts: NDArray[np.int64], keys: Keys, side: int, strength: float,
    style: str = "plain",
) -> NDArray[np.uint8]:  # fmt: skip
    """Images [n, 3, side, side] RGB.

    Args:
        tiles: all distance fields [t, TILE, TILE].
        tile_starts: first tile [n] of the class of each image.
        tile_counts: how many tiles [n] (fonts) that class has.
        keys: key [n] of each image.
        side: pixels.
        strength: how far every distortion may go; 0 leaves only font and colour to chance.
        style: one of ``STYLES``.
    """
    negative = _negative(side, style)
    images = np.empty((len(keys), 3, side, side), dtype=np.uint8)
    step = max(1, _CHUNK_PIXELS // side**2)
    for low in range(0, len(keys), step):
        part = slice(low, low + step)
        _draw_chunk(images[part], tiles, tile_starts[part], tile_counts[part], keys[part], _UNIT * strength, negative)
    return images


def _draw_chunk(
    out: NDArray[np.uint8],
    tiles: Tiles,
    starts: NDArray[np.int64],
    counts: NDArray[np.int64],
    keys: Keys,
    strength: float,
    negative: Floats | None,
) -> None:
    side = out.shape[-1]
    draws = Draws(keys)
    x, y = _grid(side)
    font = np.minimum((draws.unit()[:, 0, 0] * counts).astype(np.int64), counts - 1)
    ink = _ink(draws, tiles, starts + font, x, y, strength)
    paper, pen = _colours(draws, x, y, strength)
    behind = [_stroke(draws, x, y, strength) for _ in range(_STROKES_BEHIND)]
    front = [_stroke(draws, x, y, strength) for _ in range(_STROKES_IN_FRONT)]
    grain = draws.between(0.0, 0.16 * strength)
    noise = draws.pixels(side)
    for channel in range(3):
        plane = paper[channel]
        for cover, colour in behind:
            plane = plane + cover * (colour[channel] - plane)
        plane = plane + ink * (pen[channel] - plane)
        for cover, colour in front:
            plane = plane + cover * (colour[channel] - plane)
        plane = plane + grain * noise[channel]
        if negative is not None:
            plane = plane + negative * (1 - 2 * plane)
        out[:, channel] = np.clip(plane * np.float32(255) + np.float32(0.5), 0, 255).astype(np.uint8)


def _grid(side: int) -> tuple[Floats, Floats]:
    """Pixel centres: x [1, 1, side] and y [1, side, 1]."""
    line = ((2 * np.arange(side, dtype=np.float32) + 1) / np.float32(side) - 1).astype(np.float32)
    return line[None, None, :], line[None, :, None]


def _negative(side: int, style: str) -> Floats | None:
    """1 where a pixel is printed in negative, else 0, shape [1, side, side]; None if none is."""
    field = np.arange(side) * _FIELDS // side
    across = field[None, :] if style == "chequered" else np.zeros_like(field)[None, :]
    return None if style == "plain" else ((field[:, None] + across) % 2).astype(np.float32)[None]


def _rotation(half_tangent: Floats) -> tuple[Floats, Floats]:
    """Cosine and sine of the angle whose half has this tangent, by arithmetic alone."""
    square = half_tangent * half_tangent
    return (1 - square) / (1 + square), 2 * half_tangent / (1 + square)


def _ink(draws: Draws, tiles: Tiles, tile: NDArray[np.int64], x: Floats, y: Floats, strength: float) -> Floats:
    """Cover [n, s, s] of the glyph: homography, stroke weight and blur."""
    cos, sin = _rotation(draws.around(0.1 * strength))
    size = 1 / draws.between(1 / (1 + 0.16 * strength), 1 + 0.1 * strength)
    aspect, shear = 1 + draws.around(0.13 * strength), draws.around(0.16 * strength)
    right, down = x + draws.around(0.13 * strength), y + draws.around(0.13 * strength)
    depth = size / (1 + draws.around(0.12 * strength) * x + draws.around(0.12 * strength) * y)
    across = depth * aspect * (cos * right + sin * down)
    along = depth / aspect * (cos * down - sin * right)
    field = _sample(tiles, tile, across + shear * along, along)
    # Thinning stops early: hairlines of the lightest faces are under one tile pixel wide.
    field = field + draws.between(-0.15 * strength, 0.5 * strength)
    pixel = np.float32(TILE / x.size) * size
    width = pixel + draws.between(0.0, 1.3 * strength)
    return np.clip(field / width + np.float32(0.5), 0, 1)


def _sample(tiles: Tiles, tile: NDArray[np.int64], across: Floats, along: Floats) -> Floats:
    """Signed distance [n, s, s] in tile pixels at tile coordinates in [-1, 1], bilinear, clamped at the border."""
    column = np.clip((across + 1) * np.float32(TILE / 2) - np.float32(0.5), 0, np.float32(TILE - 1.001))
    row = np.clip((along + 1) * np.float32(TILE / 2) - np.float32(0.5), 0, np.float32(TILE - 1.001))
    left, top = column.astype(np.int32), row.astype(np.int32)
    column, row = column - left.astype(np.float32), row - top.astype(np.float32)
    corner = tile.astype(np.int32)[:, None, None] * (TILE * TILE) + top * TILE + left
    flat = tiles.reshape(-1)
    a, b, c, d = (flat[corner + step].astype(np.float32) for step in (0, 1, TILE, TILE + 1))
    upper, lower = a + column * (b - a), c + column * (d - c)
    signed: Floats = (upper + row * (lower - upper) - 128) * np.float32(SPREAD / 127)
    return signed


def _colours(draws: Draws, x: Floats, y: Floats, strength: float) -> tuple[list[Floats], list[Floats]]:
    """Three planes of the paper and three of the pen, each a colour with a linear gradient."""
    contrast = draws.between(max(0.12, 0.5 - 0.2 * strength), 0.8)
    dark = draws.unit() * (1 - contrast)
    paper_is_dark = draws.unit() < 0.5
    tint, slope = 0.16, 0.1 * strength
    slant_x, slant_y = draws.around(1.0), draws.around(1.0)
    light = np.float32(slope) * (slant_x * x + slant_y * y)
    bright = dark + contrast
    paper_light = np.where(paper_is_dark, dark, bright).astype(np.float32)
    pen_light = np.where(paper_is_dark, bright, dark).astype(np.float32)
    paper: list[Floats] = [paper_light + draws.around(tint) + light for _ in range(3)]
    pen: list[Floats] = [
        pen_light + draws.around(tint) + draws.around(slope) * x + draws.around(slope) * y for _ in range(3)
    ]
    return paper, pen


def _stroke(draws: Draws, x: Floats, y: Floats, strength: float) -> tuple[Floats, list[Floats]]:
    """Clutter: cover [n, s, s] and three colours [n, 1, 1] of a straight stroke across a part of the image."""
    cos, sin = _rotation(draws.around(1.0))
    right, down = x - draws.around(1.0), y - draws.around(1.0)
    length, half_width = draws.between(0.1, 0.25 + 0.25 * strength), draws.between(0.02, 0.06)
    beyond = np.maximum(np.abs(cos * right + sin * down) - length, 0)
    aside = np.abs(cos * down - sin * right)
    soft = np.float32(2 / x.size)
    opacity = np.minimum(draws.between(0.0, 0.6 * strength), 0.9)
    cover = opacity * np.clip((half_width - np.maximum(aside, beyond)) / soft + np.float32(0.5), 0, 1)
    return cover, [draws.unit() for _ in range(3)]
