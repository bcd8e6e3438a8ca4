"""A backbone that a method trains: how it is run, held still, saved and restored."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

if TYPE_CHECKING:
    from seqsearch.methods.base import Context
    from seqsearch.methods.data import Batch

CHUNK = 256
"""Images of one forward pass without gradients."""

HOLD_BYTES = 1 << 30
"""A task whose decoded float32 images fit in this stays decoded from epoch to epoch."""


def own_backbone(context: Context) -> nn.Module:
    """A trainable network ``[n, 3, s, s] -> [n, d]``, pre-trained unless the backbone begins from scratch, in eval mode.

    A pre-trained one is left in it: dropout and stochastic depth stay off and batch statistics at their pre-trained values, so
    that there are no random numbers and batches may have any size. One from scratch learns its statistics (`statistics_of`), and
    methods that are made for such networks (`Rehearsal`) learn them on any.
    """
    return context.fresh_backbone().eval().requires_grad_(True)


def statistics_of(context: Context, *networks: nn.Module) -> Sequence[nn.Module]:
    """Those of a method's own ``networks`` that learn batch statistics while they are trained: all that begin from scratch."""
    return networks if context.from_scratch else ()


@contextmanager
def in_training(networks: Sequence[nn.Module]) -> Iterator[None]:
    """A block in which these networks are in train mode: batch statistics are learned. Before and after they are in eval mode."""
    try:
        for network in networks:
            network.train()
        yield
    finally:
        for network in networks:
            network.eval()


def held(batch: Batch, context: Context) -> Batch:
    """``batch``, decoded now if it is small enough to stay in memory: its parts are then cut out, not decoded again."""
    return batch.loaded("images") if len(batch) * context.image_bytes * 4 <= HOLD_BYTES else batch


def embed(network: Callable[[Any], Tensor], batch: Batch) -> Tensor:
    """Features ``[n, d]`` of ``batch`` by a network of images ``[m, 3, s, s]``, or of pairs (`Batch.inputs`), -> ``[m, d]``."""
    with torch.no_grad():
        return torch.cat([network(part.inputs) for part in batch.decoded(CHUNK)])


@torch.no_grad()
def chunked(look: Callable[[Batch], Tensor], batch: Batch) -> Tensor:
    """Return ``look(batch)`` ``[n, ...]``, computed for at most `CHUNK` images at a time, without gradients."""
    return torch.cat([look(batch.select(part)) for part in cut(torch.arange(len(batch)), CHUNK)])


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
