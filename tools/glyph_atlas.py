"""Build the glyph atlas from the fonts that matplotlib ships: ``python -m tools.glyph_atlas [OUT]``.

The atlas is built once and shipped, so that no later version of a font, of FreeType or of the Unicode tables moves
a single pixel of the pool. Nothing here runs when the pool is used.

A class is a code point with at least ``MIN_OUTLINES`` different outlines. Code points that look alike in the same
font (Latin A, Greek Alpha, Cyrillic A) become one class: apart they would make a task impossible rather than hard.
"""

from __future__ import annotations

import sys
import unicodedata
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from fontTools.ttLib import TTFont
from fontTools.unicodedata import block
from numpy.typing import NDArray
from PIL import Image, ImageFont
from scipy.ndimage import distance_transform_edt

from seqsearch.pools.parts.glyph_atlas import ATLAS, SPREAD, TILE, write_atlas

CUTS = {
    "DejaVuSans": ("", "-Bold", "-Oblique", "-BoldOblique"),
    "DejaVuSerif": ("", "-Bold", "-Italic", "-BoldItalic"),
    "DejaVuSansMono": ("", "-Bold", "-Oblique", "-BoldOblique"),
    "STIXGeneral": ("", "Bol", "Italic", "BolIta"),
}
ASCII_ONLY = ("cmr10", "cmb10", "cmss10", "cmti10", "cmtt10")
"""Computer Modern in TrueType maps most code points to glyphs of other characters; letters and digits are right."""

DROPPED_CATEGORIES = ("M", "Z", "C", "Lm", "Sk")
DROPPED_FORMS = ("super", "sub", "font", "initial", "medial", "final", "isolated", "noBreak")
DROPPED_BLOCKS = (
    "Mathematical Alphanumeric Symbols",
    "Greek Extended",
    "Latin Extended Additional",
    "General Punctuation",
    "Supplemental Arrows-B",
)

MIN_OUTLINES = 4
MAX_OUTLINES = 12
ALIKE = 0.75
"""Mean intersection over union, same font, from which two code points are one class."""
POOL_CAP, PRETRAIN_CAP = 64, 32
"""Classes a block gives at most to the pool and to pre-training: no group outweighs the others."""

FONT_PX = 192
MASK_PX = 28
OVERSAMPLING = 6
GLYPH_SHARE = 0.75
"""Longest side of a glyph as a share of its tile; the margin holds the outer distances."""

Mask = NDArray[np.bool_]


@dataclass
class Candidate:
    """A code point on its way to become a class: its distinct outlines, and who was merged into it."""

    code: int
    fonts: dict[str, bytes] = field(default_factory=dict)
    """Font name -> packed mask [MASK_PX, MASK_PX], for every font that has the code point."""
    aliases: list[int] = field(default_factory=list)

    @property
    def outlines(self) -> list[str]:
        """Fonts with pairwise different masks, families alternating so that a cut keeps the variety."""
        first = {mask: font for font, mask in reversed(self.fonts.items())}
        return sorted(first.values(), key=lambda font: (_cut_of(font), font))


def _cut_of(font: str) -> int:
    """0 for upright regular faces, then bold, slanted, both: the order in which outlines are taken."""
    for family, cuts in CUTS.items():
        if font.startswith(family) and font[len(family) :] in cuts:
            return cuts.index(font[len(family) :])
    return 0


def block_of(code: int) -> str:
    """Unicode block of a code point (the standard library has no table of them)."""
    return str(block(chr(code)))


def wanted(code: int) -> bool:
    """Whether a code point can be a class at all, by its Unicode properties."""
    char = chr(code)
    form = unicodedata.decomposition(char).partition(">")[0]
    return not (
        unicodedata.category(char).startswith(DROPPED_CATEGORIES)
        or (form.startswith("<") and form[1:] in DROPPED_FORMS)
        or unicodedata.normalize("NFC", char) != char
        or block_of(code) in DROPPED_BLOCKS
        or "Arabic" in block_of(code)
    )


class Fonts:
    """The whitelisted fonts: which code points each has, and their masks."""

    def __init__(self) -> None:
        folder = Path(matplotlib.get_data_path()) / "fonts" / "ttf"
        names = [family + cut for family, cuts in CUTS.items() for cut in cuts]
        self._faces: dict[str, Any] = {}
        self.codes: dict[str, list[int]] = {}
        for name in (*names, *ASCII_ONLY):
            path = folder / f"{name}.ttf"
            self._faces[name] = ImageFont.truetype(str(path), FONT_PX, layout_engine=ImageFont.Layout.BASIC)
            codes = sorted(TTFont(path).getBestCmap())
            self.codes[name] = [c for c in codes if c < 128 and chr(c).isalnum()] if name in ASCII_ONLY else codes

    def mask(self, font: str, code: int, side: int) -> Mask | None:
        """Mask [side, side] of a glyph, its longest side filling the square; None when it has no ink."""
        ink = self._faces[font].getmask(chr(code), mode="L")
        if min(ink.size) < 3:
            return None
        picture = Image.frombytes("L", ink.size, bytes(ink))
        box = picture.point(lambda grey: 255 * (grey > 127)).getbbox()
        if box is None:
            return None
        picture = picture.crop(box)
        scale = side / max(picture.size)
        width, height = (max(1, round(length * scale)) for length in picture.size)
        canvas = Image.new("L", (side, side))
        resample = Image.Resampling.BOX if scale < 1 else Image.Resampling.BICUBIC
        canvas.paste(picture.resize((width, height), resample), ((side - width) // 2, (side - height) // 2))
        return np.asarray(canvas) > 127

    def tile(self, font: str, code: int) -> NDArray[np.uint8]:
        """Signed distance field [TILE, TILE] of a glyph: 128 on the outline, larger inside, ``SPREAD`` px = 127."""
        side = TILE * OVERSAMPLING
        glyph = self.mask(font, code, round(side * GLYPH_SHARE))
        assert glyph is not None
        margin = (side - len(glyph)) // 2
        mask = np.zeros((side, side), bool)
        mask[margin : margin + len(glyph), margin : margin + len(glyph)] = glyph
        signed = np.where(mask, distance_transform_edt(mask) - 0.5, 0.5 - distance_transform_edt(~mask))
        # The mean of the distances over a tile pixel is their value at its centre, without the grain of the mask.
        pixels = signed.reshape(TILE, OVERSAMPLING, TILE, OVERSAMPLING).mean(axis=(1, 3)) / OVERSAMPLING
        # Steps of 2 halve the file; an eighth of a pixel is more than bilinear sampling can show.
        tile: NDArray[np.uint8] = np.clip(2 * np.round(pixels * 63.5 / SPREAD) + 128, 0, 254).astype(np.uint8)
        return tile


def candidates(fonts: Fonts) -> list[Candidate]:
    """Every wanted code point with enough outlines, the richest first."""
    found: dict[int, Candidate] = {}
    for font, codes in fonts.codes.items():
        for code in filter(wanted, codes):
            mask = fonts.mask(font, code, MASK_PX)
            if mask is not None:
                found.setdefault(code, Candidate(code)).fonts[font] = np.packbits(mask).tobytes()
    rich = [c for c in found.values() if len(c.outlines) >= MIN_OUTLINES]
    return sorted(rich, key=lambda c: (-len(c.outlines), c.code))


def alikeness(found: list[Candidate]) -> NDArray[np.float32]:
    """Mean same-font intersection over union ``[n, n]``; 0 where two code points share no font."""
    total = np.zeros((len(found), len(found)), np.float32)
    shared = np.zeros_like(total)
    for font in sorted({font for c in found for font in c.fonts}):
        at = np.array([i for i, c in enumerate(found) if font in c.fonts])
        packed = np.stack([np.frombuffer(found[i].fonts[font], np.uint8) for i in at])
        masks = np.unpackbits(packed, axis=1).astype(np.float32)
        both, ink = masks @ masks.T, masks.sum(axis=1)
        total[np.ix_(at, at)] += both / (ink[:, None] + ink[None, :] - both)
        shared[np.ix_(at, at)] += 1
    return np.asarray(total / np.maximum(shared, 1), dtype=np.float32)


def merge(found: list[Candidate]) -> list[Candidate]:
    """Keep a candidate unless it looks like one already kept, which then takes it as an alias."""
    alike = alikeness(found)
    kept: list[int] = []
    for i, candidate in enumerate(found):
        nearest = max(kept, key=lambda k: alike[i, k], default=None)
        if nearest is not None and alike[i, nearest] >= ALIKE:
            found[nearest].aliases.append(candidate.code)
        else:
            kept.append(i)
    return [found[i] for i in kept]


def split(classes: list[Candidate]) -> tuple[list[Candidate], list[Candidate]]:
    """Pool and pre-training classes, disjoint, two to one within every block and capped."""
    blocks: dict[str, list[Candidate]] = defaultdict(list)
    for candidate in sorted(classes, key=lambda c: c.code):
        blocks[block_of(candidate.code)].append(candidate)
    pool: list[Candidate] = []
    pretrain: list[Candidate] = []
    for members in blocks.values():
        number = min(len(members), POOL_CAP + PRETRAIN_CAP)
        spread = [members[i * len(members) // number] for i in range(number)]
        pretrain += spread[2::3]
        pool += [c for i, c in enumerate(spread) if i % 3 != 2]
    return pool, pretrain


def main(out: Path = ATLAS) -> None:
    """Build everything and write the atlas to ``out``."""
    fonts = Fonts()
    found = candidates(fonts)
    classes = merge(found)
    parts = dict(zip(("pool", "pretrain"), split(classes), strict=True))
    entries = {}
    for part, members in parts.items():
        entries[part] = [
            (
                c.code,
                unicodedata.name(chr(c.code), f"U+{c.code:04X}").lower(),
                block_of(c.code),
                sorted(c.aliases),
                {font: fonts.tile(font, c.code) for font in c.outlines[:MAX_OUTLINES]},
            )
            for c in members
        ]
        outlines = [len(tiles) for *_, tiles in entries[part]]
        print(
            f"{part}: {len(members)} classes in {len({g for _, _, g, _, _ in entries[part]})} blocks, "
            f"{sum(outlines)} tiles, {np.mean(np.array(outlines) >= 8):.0%} with 8 outlines or more"
        )
    write_atlas(out, entries)
    print(f"{len(found)} candidates, {len(classes)} after merging; {out}: {out.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
