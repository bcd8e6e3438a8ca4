"""Random numbers of glyph images, which decide their place, weight and colour.

Every random number of an image is a hash of the image's own key and a counter. It is therefore the same in every batch,
order, process and machine, and is known without drawing the image.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Keys = NDArray[np.uint64]

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
"""The counter's stride, 2**64 over the golden ratio: successive counters fall far apart."""
UNIT = 1.4
"""Distortion at strength 1, where random tasks just stop being trivial for the embedded backbone."""


def mix(value: Keys) -> Keys:
    """A bijection of 64-bit words [...] that scatters neighbours (the finaliser of SplitMix64)."""
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))


def image_keys(seed: int, codes: NDArray[np.int64], indices: NDArray[np.int64]) -> Keys:
    """Keys [n] of images: functions of the seed, the code point and the index within the class."""
    start = mix(np.array([seed], dtype=np.uint64) + GOLDEN)
    of_class = mix((start ^ codes.astype(np.uint64)) + GOLDEN)
    return mix((of_class ^ indices.astype(np.uint64)) + GOLDEN)


class Draws:
    """Uniform random numbers of ``n`` images, one new counter per call."""

    def __init__(self, keys: Keys) -> None:
        self._keys = keys
        self._counter = 0

    def _words(self) -> Keys:
        """Fresh random words [n]."""
        self._counter += 1
        return mix(self._keys + np.array([self._counter], dtype=np.uint64) * GOLDEN)

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
        words = mix(self._words()[:, None] + np.arange(side * side, dtype=np.uint64) * GOLDEN)
        byte = words.astype("<u8", copy=False).view(np.uint8).reshape(len(words), side, side, 8)
        scale = np.float32(1 / 255)
        return [(byte[..., 2 * c].astype(np.float32) - byte[..., 2 * c + 1]) * scale for c in range(3)]


def rotation(half_tangent: Floats) -> tuple[Floats, Floats]:
    """Cosine and sine of the angle whose half has this tangent, by arithmetic alone."""
    square = half_tangent * half_tangent
    return (1 - square) / (1 + square), 2 * half_tangent / (1 + square)


class Placing(NamedTuple):
    """How a glyph lies in its image, each [n, 1, 1]: what takes a point of the image to one of the tile, then weight and blur."""

    cos: Floats
    sin: Floats
    size: Floats
    """The glyph is drawn this many times smaller."""
    aspect: Floats
    shear: Floats
    right: Floats
    down: Floats
    """The glyph is moved by as much, the other way."""
    tilt_x: Floats
    tilt_y: Floats
    """Perspective."""
    weight: Floats
    """Added to either side of a stroke, in tile pixels."""
    blur: Floats
    """Width of an outline in tile pixels, beyond a pixel of the image."""


class Tones(NamedTuple):
    """Colours of an image, each [n, 1, 1], on [0, 1] but for what is clipped."""

    paper_light: Floats
    pen_light: Floats
    slope: float
    slant_x: Floats
    slant_y: Floats
    paper_tints: list[Floats]
    """By channel."""
    pen_tints: list[tuple[Floats, Floats, Floats]]
    """By channel: tint, and its slopes to the right and down."""


class Drawn(NamedTuple):
    """Random properties of images, except for their clutter and noise."""

    font: NDArray[np.int64]
    """Tile of its class [n]."""
    placing: Placing
    tones: Tones


def drawn(tile_counts: NDArray[np.int64], keys: Keys, strength: float) -> Drawn:
    """Return the random properties of the images that `draw` makes of the same arguments."""
    return drawn_by(Draws(keys), tile_counts, UNIT * strength)


def drawn_by(draws: Draws, counts: NDArray[np.int64], strength: float) -> Drawn:
    """The first numbers of ``draws``; ``strength`` in units of `UNIT`."""
    font = np.minimum((draws.unit()[:, 0, 0] * counts).astype(np.int64), counts - 1)
    return Drawn(font, _placing(draws, strength), _tones(draws, strength))


def _placing(draws: Draws, strength: float) -> Placing:
    cos, sin = rotation(draws.around(0.1 * strength))
    size: Floats = np.divide(1, draws.between(1 / (1 + 0.16 * strength), 1 + 0.1 * strength), dtype=np.float32)
    aspect, shear = 1 + draws.around(0.13 * strength), draws.around(0.16 * strength)
    right, down = draws.around(0.13 * strength), draws.around(0.13 * strength)
    tilt_x, tilt_y = draws.around(0.12 * strength), draws.around(0.12 * strength)
    # Thinning stops early: hairlines of the lightest faces are under one tile pixel wide.
    weight, blur = draws.between(-0.15 * strength, 0.5 * strength), draws.between(0.0, 1.3 * strength)
    return Placing(cos, sin, size, aspect, shear, right, down, tilt_x, tilt_y, weight, blur)


def _tones(draws: Draws, strength: float) -> Tones:
    contrast = draws.between(max(0.12, 0.5 - 0.2 * strength), 0.8)
    dark = draws.unit() * (1 - contrast)
    paper_is_dark = draws.unit() < 0.5
    tint, slope = 0.16, 0.1 * strength
    slant_x, slant_y = draws.around(1.0), draws.around(1.0)
    bright = dark + contrast
    paper_light = np.where(paper_is_dark, dark, bright).astype(np.float32)
    pen_light = np.where(paper_is_dark, bright, dark).astype(np.float32)
    paper = [draws.around(tint) for _ in range(3)]
    pen = [(draws.around(tint), draws.around(slope), draws.around(slope)) for _ in range(3)]
    return Tones(paper_light, pen_light, slope, slant_x, slant_y, paper, pen)
