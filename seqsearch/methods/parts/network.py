"""A backbone that a method trains: how it is run, held still, saved and restored."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

if TYPE_CHECKING:
    from seqsearch.backbones.inject import Transformer
    from seqsearch.methods.base import Context
    from seqsearch.methods.data import Batch

CHUNK = 256
"""Images of one forward pass without gradients."""

HOLD_BYTES = 1 << 30
"""A task whose decoded float32 images fit in this stays decoded from epoch to epoch."""


def own_backbone(context: Context) -> nn.Module:
    """A trainable copy of the pre-trained network ``[n, 3, s, s] -> [n, d]``, in eval mode and left there.

    Training in eval mode keeps dropout and stochastic depth off and batch statistics at their pre-trained values: no
    random numbers, no state that forward passes change, and batches of any size.
    """
    return context.fresh_backbone().eval().requires_grad_(True)


def held(batch: Batch, context: Context) -> Batch:
    """``batch``, decoded now if it is small enough to stay in memory: its parts are then cut out, not decoded again."""
    if len(batch) * context.image_bytes * 4 <= HOLD_BYTES:
        _ = batch.images
    return batch


def embed(network: Callable[[Tensor], Tensor], batch: Batch) -> Tensor:
    """Features ``[n, d]`` of ``batch`` by a network of images ``[m, 3, s, s]`` -> ``[m, d]``."""
    with torch.no_grad():
        return torch.cat([network(part.images) for part in batch.decoded(CHUNK)])


@torch.no_grad()
def chunked(look: Callable[[Batch], Tensor], batch: Batch) -> Tensor:
    """What ``look`` gives for ``batch`` ``[n, ...]``, at most `CHUNK` images at a time, without gradients."""
    return torch.cat([look(batch.select(part)) for part in cut(torch.arange(len(batch)), CHUNK)])


def held_tokens(vit: Transformer, batch: Batch, context: Context) -> Callable[[Tensor], Tensor]:
    """What the first block of a frozen transformer reads ``[m, N, D]``, by positions ``[m]`` in ``batch``.

    Computed once for the whole task if that fits into `HOLD_BYTES`, in place of the images: no epoch does it again.
    """
    first = embed(vit.tokens, batch.select(torch.arange(1)))
    if len(batch) * first.numel() * 4 > HOLD_BYTES:
        return lambda positions: embed(vit.tokens, batch.select(positions))
    tokens = embed(vit.tokens, batch)
    return lambda positions: tokens[positions.to(tokens.device)]


def cut(tensor: Tensor, sizes: int | list[int]) -> list[Tensor]:
    """``tensor.split(sizes)`` along the first axis, typed."""
    return list(torch.split(tensor, sizes))


def saved(tensors: Mapping[str, Tensor], prefix: str = "") -> dict[str, Any]:
    """Copies on the CPU, so that neither later training nor the accelerator's memory is tied to a saved state.

    Tensors must be contiguous while in use: stored ones are, and a product with a transposed layout rounds otherwise.
    """
    return {prefix + name: tensor.detach().to("cpu", copy=True) for name, tensor in tensors.items()}


def saved_under(state: Mapping[str, Any], prefix: str) -> dict[str, Tensor]:
    """The tensors that `saved` put into ``state`` under ``prefix``."""
    return {name.removeprefix(prefix): tensor for name, tensor in state.items() if name.startswith(prefix)}
