"""The embedded pool: one class per Unicode code point, images drawn from font outlines on the fly.

It needs no download and stores no image. A class is named after its code point and grouped by Unicode block; an
image is a font of the class under a random homography, stroke weight, blur, colour, gradient, clutter and noise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from seqsearch.core.digests import digest_of, seed_of
from seqsearch.core.errors import UserError
from seqsearch.core.typed import LARGEST, brief
from seqsearch.pools.base import ClassInfo, Policy, Rows, SplitSizes, View, checked_rows
from seqsearch.pools.parts import glyph_captions
from seqsearch.pools.parts import glyph_render as render
from seqsearch.pools.parts.captions import POLICIES
from seqsearch.pools.parts.decode import fitted
from seqsearch.pools.parts.glyph_atlas import balanced, load_atlas
from seqsearch.pools.parts.glyph_draws import Keys, drawn, image_keys
from seqsearch.pools.parts.glyph_geometry import geometry_of, widths_of

if TYPE_CHECKING:
    import torch

SIZES = (32, 64, 224)
MOST_IMAGES = 1_000_000
"""Of a class, for each of training, reward and test."""
PARTS = ("pool", "pretrain")
MAX_STRENGTH = 2.5
"""Beyond it the perspective would fold the image over."""
DEFAULTS = {
    "train": 20,
    "reward": 10,
    "test": 10,
    "classes": None,
    "size": 32,
    "strength": 1.4,
    "seed": 0,
    "part": "pool",
    "style": "plain",
    "captions": None,
}


class GlyphPool:
    """Images by class; see ``seqsearch.pools.base.Pool``."""

    concurrent = True

    def __init__(
        self,
        name: str,
        digest: str,
        part: str,
        chosen: NDArray[np.int64],
        split_sizes: SplitSizes,
        count: int,
        size: int,
        strength: float,
        seed: int,
        style: str,
    ) -> None:
        atlas = load_atlas(part)
        self.name = name
        self.digest = digest
        self.native_size = size
        self.strength, self.style = strength, style
        self.split_sizes = split_sizes
        self.given: NDArray[np.uint8] | None = None
        self.codes = atlas.codes[chosen]
        """Code point [n] of every class."""
        self.classes = tuple(ClassInfo(atlas.names[c], atlas.groups[c], count) for c in chosen)
        self._first, self._fonts = atlas.starts[chosen], np.diff(atlas.starts)[chosen]
        # The tiles are looked up when needed: a pickled pool stays small.
        self._part, self._count, self._key = part, count, seed_of("glyphs", seed)

    def images(self, rows: Rows, view: View) -> NDArray[np.uint8]:
        """Draw ``rows`` as ``[n, 3, view.size, view.size]`` RGB.

        Raises:
            UserError: a row is not in the pool.
        """
        local, keys = self._local(rows)
        found = render.draw(
            load_atlas(self._part).tiles,
            self._first[local],
            self._fonts[local],
            keys,
            self.native_size,
            self.strength,
            self.style,
        )
        return found if (view.size, view.crop_pct) == (self.native_size, 1.0) else _resized(found, view)

    def _local(self, rows: Rows) -> tuple[Rows, Keys]:
        """Position of the class and key of each image ``[n]``.

        Raises:
            UserError: a row is not in the pool.
        """
        local, index = np.divmod(checked_rows(rows, self.name, self._count * len(self.classes)), self._count)
        return local, image_keys(self._key, self.codes[local], index)


class CaptionedGlyphs(GlyphPool):
    """Glyphs with captions: their images, as they are without, and `glyph_captions.PER_IMAGE` texts of each."""

    captioned = True

    def __init__(self, policy: Policy, **of_images: Any) -> None:
        super().__init__(**of_images)
        self.policy = policy

    def captions(self, rows: Rows) -> list[list[str]]:
        """All texts of each image.

        Raises:
            UserError: a row is not in the pool.
        """
        number = glyph_captions.PER_IMAGE
        every = np.tile(np.arange(number), len(rows))
        found = self._texts(np.repeat(np.asarray(rows, dtype=np.int64), number), every)
        return [found[low : low + number] for low in range(0, len(found), number)]

    def texts(self, rows: Rows) -> list[str]:
        """The text of each image: its first caption, or all of them (``concat``).

        Raises:
            UserError: a row is not in the pool.
        """
        if self.policy == "concat":
            return [" ".join(own) for own in self.captions(rows)]
        return self._texts(rows, np.zeros(len(rows), dtype=np.int64))

    def drawn_texts(self, rows: Rows, generator: torch.Generator) -> list[str]:
        """Return the texts to train on. With ``random`` they are drawn from each image's captions, else they are the
        images' texts.

        Raises:
            UserError: a row is not in the pool.
        """
        import torch

        if self.policy != "random":
            return self.texts(rows)
        which = torch.randint(glyph_captions.PER_IMAGE, (len(rows),), generator=generator, device=generator.device)
        return self._texts(rows, which.cpu().numpy())

    def _texts(self, rows: Rows, which: Rows) -> list[str]:
        """Caption number ``which`` of each image."""
        local, keys = self._local(rows)
        chance = drawn(self._fonts[local], keys, self.strength)
        tile = self._first[local] + chance.font
        seen = glyph_captions.looks(chance, widths_of(self._part)[tile], self.style == "plain")
        return glyph_captions.captions(geometry_of(self._part)[tile], seen, keys, which)


def build(
    train: int = 20,
    reward: int = 10,
    test: int = 10,
    classes: int | None = None,
    size: int = 32,
    strength: float = 1.4,
    seed: int = 0,
    part: str = "pool",
    style: str = "plain",
    captions: Policy | None = None,
) -> GlyphPool:
    """The glyph pool.

    Args:
        train: images per class to train on, 2 to 1,000,000; also ``reward`` and ``test``, from 1.
        classes: keep this many classes, balanced over the Unicode blocks; all when None.
        size: side in pixels, one of 32, 64, 224.
        strength: how far the distortions go. Accuracy of nearest class means on random sequences of 5 x 10 classes, 10
            images each: .98 at 1.0, .86 at 1.4, .65 at 1.86.
        seed: other images of the same classes; from 0, at most 63 bits.
        part: ``pool``, or ``pretrain`` for the disjoint classes that the embedded backbones were trained on.
        style: ``plain``, or ``chequered`` or ``striped`` for images far from that pre-training: in negative on every second field
            of a chessboard, or on every second stripe, a sixteenth of the image wide.
        captions: give every image three captions; its text is the ``first``, all of them (``concat``), or while training
            any of them (``random``). None: images alone.

    Raises:
        UserError: an option is out of range.
    """
    _check(train, reward, test, size, strength, seed, part, style, captions)
    atlas = load_atlas(part)
    if classes is not None and not (_is_int(classes) and 1 <= classes <= len(atlas.codes)):
        raise UserError(f"pool 'glyphs': classes={brief(classes)} must be a whole number from 1 to {len(atlas.codes)}")
    chosen = balanced(atlas, len(atlas.codes) if classes is None else classes)
    count = train + reward + test
    given = {
        "train": train, "reward": reward, "test": test, "classes": classes, "size": size, "strength": strength,
        "seed": seed, "part": part, "style": style, "captions": captions,
    }  # fmt: skip
    changed = ",".join(f"{option}={value}" for option, value in given.items() if value != DEFAULTS[option])
    what = (render.VERSION, atlas.digest, part, atlas.codes[chosen], count, size, float(strength), seed)
    printed = () if style == "plain" else (style,)
    caption_key = () if captions is None else ("captions", glyph_captions.VERSION, captions)
    made: dict[str, Any] = {
        "name": f"glyphs:{changed}" if changed else "glyphs", "digest": digest_of("glyphs", *what, *printed, *caption_key),
        "part": part, "chosen": chosen, "count": count, "size": size, "strength": float(strength), "seed": seed, "style": style,
        "split_sizes": SplitSizes(train=train / count, reward=reward / count, test=test / count),
    }  # fmt: skip
    return GlyphPool(**made) if captions is None else CaptionedGlyphs(captions, **made)


def _check(
    train: int,
    reward: int,
    test: int,
    size: int,
    strength: float,
    seed: int,
    part: str,
    style: str,
    captions: str | None,
) -> None:
    """Raises UserError: an option is out of range."""
    bounds = {"train": (2, MOST_IMAGES), "reward": (1, MOST_IMAGES), "test": (1, MOST_IMAGES), "seed": (0, LARGEST)}
    for (option, (low, high)), value in zip(bounds.items(), (train, reward, test, seed), strict=True):
        if not _is_int(value) or not low <= value <= high:
            raise UserError(f"pool 'glyphs': {option}={brief(value)} must be a whole number from {low} to {high}")
    if size not in SIZES:
        raise UserError(f"pool 'glyphs': size={brief(size)} must be one of {', '.join(map(str, SIZES))}")
    if isinstance(strength, (bool, str)) or not 0 <= strength <= MAX_STRENGTH:
        raise UserError(f"pool 'glyphs': strength={brief(strength)} must be a number from 0 to {MAX_STRENGTH:g}")
    if part not in PARTS:
        raise UserError(f"pool 'glyphs': part={brief(part)} must be one of {', '.join(PARTS)}")
    if style not in render.STYLES:
        raise UserError(f"pool 'glyphs': style={brief(style)} must be one of {', '.join(render.STYLES)}")
    if captions is not None and captions not in POLICIES:
        raise UserError(f"pool 'glyphs': captions={brief(captions)} must be one of {', '.join(POLICIES)}, or left out")


def _is_int(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _resized(images: NDArray[np.uint8], view: View) -> NDArray[np.uint8]:
    """One image at a time, so that the batch cannot matter."""
    from PIL import Image

    out = np.empty((len(images), 3, view.size, view.size), dtype=np.uint8)
    for target, image in zip(out, images, strict=True):
        target[:] = np.asarray(fitted(Image.fromarray(image.transpose(1, 2, 0).copy()), view)).transpose(2, 0, 1)
    return out
