"""Captions of glyph images: some of what a glyph's outline and its image look like, in words, at times a little wrong.

A caption is a function of the tile that is drawn, of the random properties of the image, and of random numbers that are hashes of
the image's key and the caption's number. It is given neither name, code point, block nor class: it can leak nothing about them
but what the outline shows. Names of classes and Unicode blocks use words such as "left", "round", "with" and "a". Captions use
no word that occurs in any such name, which is why they read oddly.

Shapes: ``n`` captions, ``A`` attributes of an outline (`glyph_geometry.ATTRIBUTES`), ``I`` of an image (`IMAGE`).
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqsearch.pools.parts.glyph_draws import GOLDEN, Drawn, Floats, Keys, mix
from seqsearch.pools.parts.glyph_geometry import ATTRIBUTES

VERSION = 1
"""Part of the digest of pools that hold captions: raise it whenever a caption changes."""
PER_IMAGE = 3
NAMED = 5, 8
"""The fewest and the most attributes of the outline in a caption."""
NAMED_OF_IMAGE = 1, 2
"""The fewest and the most attributes of the image in a caption."""
WRONG = 0.08
"""Share of the outline's attributes that are moved to a neighbouring value. A move beyond the first or the last value is clipped,
so that at most this share is wrong. Attributes of the image are always right."""

_AMOUNTS = "nowhere", "once", "twice", "often"
OUTLINE: dict[str, tuple[str, ...]] = {
    "holes": tuple(f"pierced {amount}" for amount in _AMOUNTS),
    "pieces": tuple(f"split {amount}" for amount in _AMOUNTS),
    "outline": ("narrow outline", "tall outline", "even outline", "wide outline", "flattened outline"),
    "ink": ("scarce ink", "sparing ink", "ample ink", "plentiful ink"),
    "height": ("heavier head", "balanced height", "heavier foot"),
    "width": ("heavier lefthand side", "balanced width", "heavier righthand side"),
    "mirrored": ("unlike its mirror", "nearly its mirror", "exactly its mirror"),
    "flipped": ("unlike itself flipped", "nearly itself flipped", "exactly itself flipped"),
    "gap_left": ("lefthand side shut", "lefthand side gapes slightly", "lefthand side gapes"),
    "gap_right": ("righthand side shut", "righthand side gapes slightly", "righthand side gapes"),
    "gap_above": ("head shut", "head gapes slightly", "head gapes"),
    "gap_below": ("foot shut", "foot gapes slightly", "foot gapes"),
    "across": tuple(f"met {amount} across" for amount in _AMOUNTS),
    "along": tuple(f"met {amount} lengthwise" for amount in _AMOUNTS),
    "edges": ("mostly upright edges", "mixed edges", "mostly level edges"),
    "slanting": tuple(f"edges {amount} slanting" for amount in ("never", "seldom", "often", "mostly")),
}
"""Words for each value of an attribute of `glyph_geometry.ATTRIBUTES`."""
_SHADES = "dark", "dim", "pale", "bright"
_HUES = "greyish", "reddish", "yellowish", "greenish", "cyan", "bluish", "purplish"
_COLOURS = tuple(f"{shade} {hue}" for shade in _SHADES for hue in _HUES)
IMAGE: dict[str, tuple[str, ...]] = {
    "pen": tuple(f"{colour} ink" for colour in _COLOURS),
    "paper": tuple(f"{colour} ground" for colour in _COLOURS),
    "lean": ("leaning lefthand", "standing plumb", "leaning righthand"),
    "size": ("drawn tiny", "drawn midsize", "drawn large"),
    "weight": ("thin limbs", "ordinary limbs", "thick limbs"),
}
"""Words for each value of an attribute of an image."""
TEMPLATES = (
    ("figure shown here: ", ", ", "; ", "."), ("drawn here: ", ", ", ", ", "."), ("", ", ", "; ", ": such its look."),
    ("somebody drew it: ", ", ", ", ", "."), ("its look: ", "; ", "; ", "."),
)  # fmt: skip
"""Each: beginning, separator of attributes, separator between the attributes of the outline and those of the image, and end."""
_GREY = 0.12
"""Colours whose channels differ by less have no hue."""

Values = NDArray[np.int64]


def captions(geometry: NDArray[np.uint8], seen: Values, keys: Keys, which: Values) -> list[str]:
    """Return one caption for each of ``n`` images.

    Args:
        geometry: attributes of the tile that each image shows, ``[n, A]``.
        seen: attributes of the look of each image, ``[n, I]``; -1: the attribute is left out. See `looks`.
        keys: keys of the images, ``[n]``.
        which: the number of the caption of each image, ``[n]``, from 0.
    """
    caption_keys = mix(mix(keys + GOLDEN) + which.astype(np.uint64) * GOLDEN)
    n_outline, n_all = len(ATTRIBUTES), len(ATTRIBUTES) + len(IMAGE)
    # 64 random bits for each decision: errors of the outline's attributes, the order of all attributes, then three numbers.
    random_bits = mix(caption_keys[:, None] + np.arange(1, n_outline + n_all + 4, dtype=np.uint64) * GOLDEN)
    said = _with_errors(geometry.astype(np.int64), random_bits[:, :n_outline])
    order = random_bits[:, n_outline : n_outline + n_all]
    sizes = len(TEMPLATES), 1 + NAMED[1] - NAMED[0], 1 + NAMED_OF_IMAGE[1] - NAMED_OF_IMAGE[0]
    template, count, of_image = (_below(random_bits[:, n_outline + n_all + i], n) for i, n in enumerate(sizes))
    phrases = _phrases()[0][np.arange(n_outline), said], _phrases()[1][np.arange(len(IMAGE)), np.maximum(seen, 0)]
    begin, between, before, end = np.array(TEMPLATES, dtype=object)[template].T
    text, rows = begin, np.arange(len(keys))
    ranked = np.argsort(order[:, :n_outline], axis=1, kind="stable")
    for place in range(NAMED[1]):
        phrase = phrases[0][rows, ranked[:, place]]
        text = text + np.where(place < NAMED[0] + count, (between if place else "") + phrase, "")
    # Attributes that are left out (-1) are ranked last.
    ranked = np.argsort(np.where(seen < 0, np.uint64(2**64 - 1), order[:, n_outline:]), axis=1, kind="stable")
    for place in range(NAMED_OF_IMAGE[1]):
        spoken = (place < NAMED_OF_IMAGE[0] + of_image) & (seen[rows, ranked[:, place]] >= 0)
        text = text + np.where(spoken, (between if place else before) + phrases[1][rows, ranked[:, place]], "")
    found: list[str] = (text + end).tolist()
    return found


def looks(drawn: Drawn, widths: Values, plain: bool) -> Values:
    """Return the attributes of the look of images, ``[n, I]`` in the order of `IMAGE`; -1: the attribute is left out.

    Args:
        drawn: the random properties of the images.
        widths: width of the strokes of the tile of each image, ``[n]``, see `glyph_geometry.widths`.
        plain: whether the pool has the style ``plain``. In the other styles a part of the image is a negative, so that ink and
            ground have no single colour to describe.
    """
    placing, tones = drawn.placing, drawn.tones
    pen = _colour([tones.pen_light + tint for tint, _, _ in tones.pen_tints])
    paper = _colour([tones.paper_light + tint for tint in tones.paper_tints])
    # Lean: the shift to the right of an upright stroke of the tile, for each step up by 1.
    stretch, slope = placing.aspect, placing.shear / placing.aspect
    lean = (stretch * placing.sin + slope * placing.cos) / (stretch * placing.cos - slope * placing.sin)
    width = (widths[:, None, None] / 64 + 2 * placing.weight) / placing.size
    unsaid = np.full(len(pen), -1)
    columns = [
        pen if plain else unsaid,
        paper if plain else unsaid,
        _steps(lean, (-0.1, 0.1)),
        _steps(-placing.size, (-1.05, -0.92)),  # `Placing.size` is how many times smaller the glyph is drawn
        _steps(width, (2.9, 4.4)),
    ]
    return np.stack(columns, axis=1)


def _with_errors(geometry: Values, random_bits: Keys) -> Values:
    """``geometry``, in which a share `WRONG` of the values is moved by one, up or down, and clipped to the possible values."""
    step = (random_bits & np.uint64(1)).astype(np.int64) * 2 - 1
    wrong = (random_bits >> np.uint64(40)) < np.uint64(WRONG * 2**24)
    return np.asarray(np.clip(geometry + step * wrong, 0, np.array(list(ATTRIBUTES.values())) - 1))


def _below(random_bits: Keys, number: int) -> Values:
    """Uniform whole numbers from 0 to ``number - 1``, from 64 random bits each."""
    return ((random_bits >> np.uint64(40)) * np.uint64(number) >> np.uint64(24)).astype(np.int64)


def _steps(values: NDArray[np.floating[Any]], bounds: tuple[float, ...]) -> Values:
    """The number of ``bounds`` (ascending) that each of the values ``[n, 1, 1]`` reaches, ``[n]``."""
    return np.searchsorted(np.array(bounds), values[:, 0, 0].astype(np.float64), side="right").astype(np.int64)


def _colour(channels: list[Floats]) -> Values:
    """Position in `_COLOURS` of ``n`` colours; ``channels`` are red, green and blue, each ``[n, 1, 1]``.

    The shade follows from the mean of the channels. The hue follows from which channels are above the middle of their range.
    """
    rgb = np.clip(np.stack([channel[:, 0, 0] for channel in channels], axis=1), 0, 1)
    low, high = rgb.min(axis=1, keepdims=True), rgb.max(axis=1, keepdims=True)
    bits = (2 * rgb >= low + high) @ np.array([4, 2, 1])  # red, green, blue: 4 is reddish, 6 yellowish, 2 greenish
    hue = np.array([0, 5, 3, 4, 1, 6, 2, 0])[bits] * (high - low >= _GREY)[:, 0]
    shade = np.searchsorted(np.array([0.25, 0.5, 0.75]), rgb.mean(axis=1), side="right")
    return np.asarray(shade * len(_HUES) + hue, dtype=np.int64)


@cache
def _phrases() -> tuple[NDArray[np.object_], NDArray[np.object_]]:
    """Return the words for each value of each attribute, ``[A, values]`` and ``[I, values]``."""

    def padded(phrases: dict[str, tuple[str, ...]]) -> NDArray[np.object_]:
        most = max(map(len, phrases.values()))
        return np.array([[*own, *[""] * (most - len(own))] for own in phrases.values()], dtype=object)

    return padded(OUTLINE), padded(IMAGE)
