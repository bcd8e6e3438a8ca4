"""Augmentation in training, ``--augment published``: the recipe of each method's source, drawn image by image from a generator.

Recipes are named by what they come from (`RECIPES`). All work on preprocessed images ``[n, 3, s, s]``, whole batches at a
time; the random numbers of an image do not depend on those beside it, but for their place in the batch.

Departures from the public code, and why:
- on networks from scratch all methods have PyCIL's recipe, so that none of them differs by its images alone.
- images are augmented as they are given to the network, ``s`` pixels wide: public code cuts out of the original, larger image
  first.
- a random part of the image is brought back to size bilinearly, without the smoothing that image libraries apply where they
  shrink.
- colour jitter is of brightness only where public code changes nothing else; pixels stay within black and white.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor
from torch.nn import functional

from seqsearch.methods.parts.network import HOLD_BYTES, embed, held

if TYPE_CHECKING:
    from seqsearch.backbones.inject import Transformer
    from seqsearch.methods.base import Context
    from seqsearch.methods.data import Batch, Policy

SMALL = 64
"""Images up to this side are augmented as CIFAR's are, larger ones as ImageNet's."""
Step = Callable[[Tensor, torch.Generator], Tensor]
"""Images ``[n, 3, s, s]`` between 0 and 1 -> others."""


def crop(images: Tensor, generator: torch.Generator) -> Tensor:
    """A window of the image's size out of the image with a margin of an eighth, black, around it (of CIFAR's 32 pixels: 4)."""
    n, side = len(images), images.shape[-1]
    margin = max(1, side // 8)
    places = torch.randint(2 * margin + 1, (2, n), generator=generator).to(images.device)
    padded = functional.pad(images, (margin,) * 4)
    across = torch.arange(side, device=images.device)
    rows, columns = places[0][:, None] + across, places[1][:, None] + across
    image = torch.arange(n, device=images.device)[:, None, None]
    return padded.permute(0, 2, 3, 1)[image, rows[:, :, None], columns[:, None, :]].permute(0, 3, 1, 2).contiguous()


def flip(images: Tensor, generator: torch.Generator) -> Tensor:
    """Left and right exchanged, for half of the images."""
    chosen = (torch.rand(len(images), generator=generator) < 0.5).to(images.device)
    return torch.where(chosen[:, None, None, None], images.flip(3), images)


def brightness(strength: float) -> Step:
    """Pixels times a factor between ``1 - strength`` and ``1 + strength``."""

    def step(images: Tensor, generator: torch.Generator) -> Tensor:
        factors = 1 + strength * (2 * torch.rand(len(images), generator=generator) - 1)
        return (images * factors.to(images.device)[:, None, None, None]).clamp(0, 1)

    return step


def part(smallest: float) -> Step:
    """A part of the image, of an area between ``smallest`` and 1 and sides of 3 : 4 to 4 : 3, brought to the image's size."""

    def step(images: Tensor, generator: torch.Generator) -> Tensor:
        n = len(images)
        area, ratio, x, y = torch.rand(4, n, generator=generator)
        area, ratio = smallest + (1 - smallest) * area, torch.exp(math.log(4 / 3) * (2 * ratio - 1))
        width, height = (area * ratio).sqrt().clamp(max=1), (area / ratio).sqrt().clamp(max=1)
        zero = torch.zeros(n)
        rows = torch.stack([width, zero, (1 - width) * (2 * x - 1), zero, height, (1 - height) * (2 * y - 1)], 1)
        grid = functional.affine_grid(rows.view(n, 2, 3).to(images.device), list(images.shape), align_corners=False)
        return functional.grid_sample(images, grid, padding_mode="border", align_corners=False)

    return step


def autoaugment(images: Tensor, generator: torch.Generator) -> Tensor:
    """Apply the policy that "AutoAugment: Learning Augmentation Strategies from Data" found for CIFAR-10. It is
    torchvision's, on 8-bit images."""
    from torchvision.transforms import v2

    policy = v2.AutoAugment(v2.AutoAugmentPolicy.CIFAR10)
    bytes_ = (images.cpu() * 255).round().to(torch.uint8)
    seeds = torch.randint(2**62, (len(images),), generator=generator).tolist()
    found = []
    for image, seed in zip(bytes_, seeds, strict=True):
        with torch.random.fork_rng(devices=[]):
            torch.default_generator.manual_seed(seed)
            found.append(policy(image))
    return (torch.stack(found).float() / 255).to(images.device)


JITTER = brightness(63 / 255)
RECIPES: dict[str, tuple[Sequence[Step], Sequence[Step]]] = {
    "pycil": ((crop, flip, JITTER), (part(0.08), flip, JITTER)),
    "pilot": ((part(0.05), flip), (part(0.05), flip)),
    "mammoth": ((crop, flip), (part(0.08), flip)),
}
"""Steps by the name of a recipe: for images up to `SMALL` pixels, for larger ones."""
FROM_SCRATCH = "pycil"
"""The recipe of all methods on networks from scratch, so that none of them differs by its images alone."""


def policy(context: Context, recipe: str) -> Policy | None:
    """Return the augmentation of images in training; None if there is none."""
    if context.augment == "none" or not recipe:
        return None
    return views_by(context, FROM_SCRATCH if context.from_scratch else recipe)


def views_by(context: Context, recipe: str) -> Policy:
    """A recipe, also where images are learned from as they are: for methods that compare views of an image."""
    black, white = (level.view(1, 3, 1, 1).to(context.device) for level in context.levels)

    def augment(images: Tensor, generator: torch.Generator) -> Tensor:
        steps = RECIPES[recipe][images.shape[-1] > SMALL]
        images = (images - black) / (white - black)
        for step in (*steps, autoaugment) if context.augment == "autoaugment" else steps:
            images = step(images, generator)
        return black + (white - black) * images

    return augment


@dataclass(frozen=True, eq=False)
class Learned:
    """Training images. `select` returns a part of them, augmented anew at each call unless ``augment`` is None. Texts are
    drawn anew as well, if the pool draws them (``captions=random``)."""

    batch: Batch
    augment: Policy | None
    generator: torch.Generator

    def __len__(self) -> int:
        return len(self.batch)

    @property
    def fixed(self) -> bool:
        """Whether `select` gives an image with the same inputs each time."""
        return self.augment is None and not self.batch.reads_texts

    def select(self, positions: Tensor) -> Batch:
        """The part at ``positions`` ``[m]``."""
        part = self.batch.select(positions)
        part = part if self.augment is None else part.augmented(self.augment, self.generator)
        return part.with_drawn_texts(self.generator)


def learned(batch: Batch, context: Context, recipe: str, generator: torch.Generator) -> Learned:
    """``batch`` as training data: decoded now if it is small enough, and augmented by the recipe if the run has ``--augment``."""
    return Learned(held(batch, context), policy(context, recipe), generator)


def learned_tokens(vit: Transformer, images: Learned, context: Context) -> Callable[[Tensor], Tensor]:
    """Return the tokens that the first block of a frozen transformer reads ``[m, N, D]``, by positions ``[m]`` in
    ``images``.

    They are computed once for the whole task if they fit into `HOLD_BYTES`, and then replace the images in all epochs.
    Augmented images differ each time, so that their tokens are computed anew.
    """
    first = embed(vit.tokens, images.batch.select(torch.arange(1)))
    if images.augment is not None or len(images) * first.numel() * 4 > HOLD_BYTES:
        return lambda positions: embed(vit.tokens, images.select(positions))
    tokens = embed(vit.tokens, images.batch)
    return lambda positions: tokens[positions.to(tokens.device)]
