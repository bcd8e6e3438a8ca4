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
from seqsearch.pools.parts.glyph_draws import UNIT, Draws, Floats, Keys, Placing, Tones, drawn_by, rotation

VERSION = 2
"""Part of every digest: raise it whenever a pixel changes."""


_CHUNK_PIXELS = 1 << 14
"""Pixels drawn at once: one plane of them (64 KiB) stays in the cache of a core."""
_STROKES_BEHIND, _STROKES_IN_FRONT = 2, 1
STYLES = ("plain", "chequered", "striped")
"""How an image is printed: as it is, or in negative on every second field of a chessboard or on every second stripe."""
_FIELDS = 16
"""Fields of the chessboard (and stripes) along a side."""


def draw(
    tiles: Tiles,
    tile_starts: NDArray[np.int64],
    tile_counts: NDArray[np.int64],
    keys: Keys,
    side: int,
    strength: float,
    style: str = "plain",
) -> NDArray[np.uint8]:
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
        _draw_chunk(images[part], tiles, tile_starts[part], tile_counts[part], keys[part], UNIT * strength, negative)
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
    font, placing, tones = drawn_by(draws, counts, strength)
    ink = _ink(placing, tiles, starts + font, x, y)
    paper, pen = _colours(tones, x, y)
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


def _ink(placing: Placing, tiles: Tiles, tile: NDArray[np.int64], x: Floats, y: Floats) -> Floats:
    """Cover [n, s, s] of the glyph: homography, stroke weight and blur."""
    cos, sin, size, aspect = placing.cos, placing.sin, placing.size, placing.aspect
    right, down = x + placing.right, y + placing.down
    depth = size / (1 + placing.tilt_x * x + placing.tilt_y * y)
    across = depth * aspect * (cos * right + sin * down)
    along = depth / aspect * (cos * down - sin * right)
    field = _sample(tiles, tile, across + placing.shear * along, along)
    field = field + placing.weight
    pixel = np.float32(TILE / x.size) * size
    width = pixel + placing.blur
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


def _colours(tones: Tones, x: Floats, y: Floats) -> tuple[list[Floats], list[Floats]]:
    """Three planes of the paper and three of the pen, each a colour with a linear gradient."""
    light = np.float32(tones.slope) * (tones.slant_x * x + tones.slant_y * y)
    paper: list[Floats] = [tones.paper_light + tint + light for tint in tones.paper_tints]
    pen: list[Floats] = [tones.pen_light + tint + right * x + down * y for tint, right, down in tones.pen_tints]
    return paper, pen


def _stroke(draws: Draws, x: Floats, y: Floats, strength: float) -> tuple[Floats, list[Floats]]:
    """Clutter: cover [n, s, s] and three colours [n, 1, 1] of a straight stroke across a part of the image."""
    cos, sin = rotation(draws.around(1.0))
    right, down = x - draws.around(1.0), y - draws.around(1.0)
    length, half_width = draws.between(0.1, 0.25 + 0.25 * strength), draws.between(0.02, 0.06)
    beyond = np.maximum(np.abs(cos * right + sin * down) - length, 0)
    aside = np.abs(cos * down - sin * right)
    soft = np.float32(2 / x.size)
    opacity = np.minimum(draws.between(0.0, 0.6 * strength), 0.9)
    cover = opacity * np.clip((half_width - np.maximum(aside, beyond)) / soft + np.float32(0.5), 0, 1)
    return cover, [draws.unit() for _ in range(3)]
