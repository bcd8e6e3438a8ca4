"""Pre-training data of the embedded backbone of image-text pairs.

Samples are matching pairs of glyphs and captions, mismatched pairs, and images or captions alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from seqsearch.backbones.glyph_flava import GlyphFlava
from seqsearch.core.digests import seeded_numpy
from tools.pretrain import BATCH, rows_to_learn

STRENGTH = 1.2
"""Of the distortions: strong enough that captions are of use."""
BLANK_TEXT, BLANK_IMAGE, MISMATCHED = 0.15, 0.15, 0.2
"""Shares of samples without text, without image, and with the text of another; the rest are pairs."""
CONCATENATED = 0.1
"""Share of batches with all captions of an image for one: long texts, too, are to be understood."""


TEXTS = 32
"""In a batch of texts alone."""


class Sampled(NamedTuple):
    """A batch of ``b``."""

    inputs: dict[str, Tensor]
    targets: Tensor
    """Classes [b] of the images, or of the text where there is no image."""
    paired: Tensor
    """Whether [b] image and text belong together, 0 or 1; -1: one of them is blank."""
    words: Tensor
    """Tokens [b, L] of the texts, blank or not."""


def batches(steps: int, seed: int, *, eased: bool = True) -> Iterator[Sampled]:
    """Yield ``steps`` training batches.

    ``eased``: the batches go from few classes to all, and from weak distortions to strong ones.
    """
    backbone = GlyphFlava(b"")
    every = (
        rows_to_learn(steps, seed, STRENGTH, eased=eased, captions="random"),
        rows_to_learn(steps, seed, STRENGTH, eased=eased, captions="concat"),
    )
    for step, ((pool, rows, targets), (whole, _, _)) in enumerate(zip(*every, strict=True)):
        random = seeded_numpy("pretrain flava", seed, step)
        drawn = random.random(BATCH)
        said: Any = whole if random.random() < CONCATENATED else pool
        mismatched = drawn < MISMATCHED
        # The text of the sample before it; where that is of the same class the two may well belong together.
        belongs = ~mismatched | (targets == np.roll(targets, 1))
        generator = torch.Generator().manual_seed(int(random.integers(1 << 62)))
        texts = said.drawn_texts(np.where(mismatched, np.roll(rows, 1), rows), generator)
        silent = (drawn >= MISMATCHED) & (drawn < MISMATCHED + BLANK_TEXT)
        unseen = (drawn >= MISMATCHED + BLANK_TEXT) & (drawn < MISMATCHED + BLANK_TEXT + BLANK_IMAGE)
        inputs = inputs_of(backbone, pool.images(rows, backbone.view), texts, unseen, silent)
        words = backbone.tokenise(texts)["input_ids"]
        paired = np.where(silent | unseen, -1, belongs.astype(np.int64))
        yield Sampled(inputs, torch.from_numpy(targets), torch.from_numpy(paired), words)


def texts_alone(steps: int, seed: int) -> Iterator[Sampled]:
    """`TEXTS` captions at a time, before a blank image."""
    backbone = GlyphFlava(b"")
    for pool, rows, targets in rows_to_learn(steps, seed, STRENGTH, eased=False, captions="first"):
        texts = cast(Any, pool).texts(rows[:TEXTS])
        tokens = backbone.tokenise(texts)
        blank = torch.zeros(TEXTS, 3, backbone.view.size, backbone.view.size)
        paired = torch.full((TEXTS,), -1)
        yield Sampled({"images": blank, **tokens}, torch.from_numpy(targets[:TEXTS]), paired, tokens["input_ids"])


def inputs_of(
    backbone: GlyphFlava,
    images: NDArray[np.uint8],
    texts: list[str],
    unseen: NDArray[np.bool_],
    silent: NDArray[np.bool_],
) -> dict[str, Tensor]:
    """Return the inputs of the network; images are even grey where ``unseen`` [n], texts empty where ``silent`` [n]."""
    shown = backbone.preprocess(images)
    shown[torch.from_numpy(unseen)] = 0.0
    kept = ["" if hidden else text for text, hidden in zip(texts, silent.tolist(), strict=True)]
    return {"images": shown, **backbone.tokenise(kept)}
