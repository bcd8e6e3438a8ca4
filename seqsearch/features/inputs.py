"""Inputs of a backbone from a pool's images and texts: preprocessed, on its device."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from seqsearch.backbones.base import Backbone, ReadsTexts
from seqsearch.core.errors import UserError
from seqsearch.pools.base import Captioned, Pool, Rows, is_captioned

if TYPE_CHECKING:
    import torch

    Inputs = torch.Tensor | dict[str, torch.Tensor]


def with_texts(backbone: Backbone, pool: Pool, rows: Rows, images: torch.Tensor) -> Inputs:
    """The inputs of ``backbone`` for a pool's rows: ``images`` ``[n, 3, s, s]``, together with their texts if it reads texts.

    Raises:
        UserError: the backbone reads texts, and the pool has none.
    """
    if not isinstance(backbone, ReadsTexts):
        return images
    if not is_captioned(pool):
        raise UserError(f"pool {pool.name!r} has images alone, and backbone {backbone.name!r} reads their texts")
    return {"images": images, **backbone.tokenise(cast("Captioned", pool).texts(rows))}


def moved_to(device: torch.device, inputs: Inputs) -> Inputs:
    """``inputs`` on a device."""
    return {n: t.to(device) for n, t in inputs.items()} if isinstance(inputs, dict) else inputs.to(device)


def byte_table(backbone: Backbone) -> torch.Tensor | None:
    """The preprocessed value of each byte of each colour ``[3, 256]``; None if preprocessing depends on more than a pixel's own
    byte.

    Looking up bytes in it is bit-identical to ``preprocess`` on any device, and sending bytes takes a quarter of the transfer.
    """
    import torch

    # the ramp has every byte in every colour: it fills the table; on noise the table must give the result of preprocess
    size = backbone.view.size
    count = -(-256 // size**2)
    ramp = np.tile((np.arange(count * size**2) % 256).astype(np.uint8).reshape(count, 1, size, size), (1, 3, 1, 1))
    noise = np.random.default_rng(0).integers(0, 256, (2, 3, size, size), dtype=np.uint8)
    of_ramp, of_noise = backbone.preprocess(ramp), backbone.preprocess(noise)
    if of_ramp.shape != ramp.shape or of_ramp.dtype != torch.float32:
        return None
    table = of_ramp.transpose(0, 1).reshape(3, -1)[:, :256].contiguous()
    return table if torch.equal(looked_up(table, torch.from_numpy(noise)), of_noise) else None


def looked_up(table: torch.Tensor, images: torch.Tensor) -> torch.Tensor:
    """Map bytes ``[n, 3, s, s]`` to their entries in ``table`` ``[3, 256]``."""
    import torch

    first = torch.arange(0, 768, 256, dtype=torch.int32, device=images.device).view(1, 3, 1, 1)
    return table.flatten()[images.int() + first]
