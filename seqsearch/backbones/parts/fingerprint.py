"""What a network is, entry by entry: to tell whether it was changed, and where."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any

import xxhash

if TYPE_CHECKING:
    import torch
    from torch import nn

Fingerprint = Mapping[str, Any]
"""By the name of a parameter, buffer or attribute."""

_TENSORS = ("_parameters", "_buffers", "_modules")
"""Where a module keeps what is gone through by name."""


def fingerprint(network: nn.Module) -> Fingerprint:
    """Of all that a network computes with: bytes of parameters and buffers (also such as were written through ``.data`` or numpy,
    which version counters miss), what asks for gradients or has some, submodules, hooks, modes, and other plain attributes."""
    found: dict[str, Any] = {}
    for name, module in network.named_modules():
        found[name] = type(module).__qualname__
        for attribute, value in vars(module).items():
            if attribute not in _TENSORS:
                found[f"{name}.{attribute}".lstrip(".")] = _plain(value)
    for name, tensor in chain(network.named_parameters(), network.named_buffers()):
        found[name] = checksum(tensor), tensor.shape, tensor.dtype, tensor.requires_grad, tensor.grad is not None
    return found


def differs(before: Fingerprint, after: Fingerprint) -> str:
    """The first entries that are not the same, in words; empty if all are."""
    names = [n for n in chain(before, after.keys() - before.keys()) if before.get(n) != after.get(n)]
    more = f" and {len(names) - 2} more" if len(names) > 2 else ""
    return ", ".join(n or "its class" for n in names[:2]) + more


def checksum(tensor: torch.Tensor) -> int:
    """Of a tensor's bytes: xxh3 on the CPU; on a GPU a sum that no single write leaves as it was."""
    import torch

    flat = tensor.detach().contiguous().view(-1)
    if flat.device.type == "cpu":
        return xxhash.xxh3_64_intdigest(flat.view(torch.uint8).numpy().data)
    return summed(flat)


def summed(flat: torch.Tensor) -> int:
    """Sum over places i of ``(2 i + 1) x_i`` modulo 2^64, x ``[n]`` taken as integers; computed where the tensor lies."""
    import torch

    width = {1: torch.uint8, 2: torch.int16, 4: torch.int32}.get(flat.element_size(), torch.int64)
    places = torch.arange(1, 2 * len(flat), 2, device=flat.device)
    return int((flat.view(width) * places).sum())


def _plain(value: Any) -> Any:
    """What is compared of an attribute: plain values as they are, of hooks and the like how many, of others the kind."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return len(value) if isinstance(value, (Mapping, tuple, list, set)) else type(value).__qualname__
