"""Fingerprints of networks, entry by entry, which show whether a network was changed, and where."""

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

SHORT = 16
"""Entries of a list or mapping that are compared one by one; of a longer one only how many there are."""
_TENSORS = ("_parameters", "_buffers", "_modules")
"""Where a module keeps what is gone through by name."""


def fingerprint(network: nn.Module) -> Fingerprint:
    """Of all that a network computes with: bytes of parameters and buffers (also such as were written through ``.data`` or numpy,
    which version counters miss) and of tensors that are plain attributes, what asks for gradients or has some, submodules, hooks,
    modes, plain values and short lists of them; of other attributes the kind, and how many are in them."""
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
    """Return the part of an attribute that is compared. Tensors and plain values are compared as they are, also in
    lists and mappings of at most `SHORT` entries. Of longer ones only the length counts, of all else only the type."""
    import torch

    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, torch.Tensor) and value.layout == torch.strided:
        return checksum(value), value.shape, value.dtype
    if not isinstance(value, (Mapping, tuple, list, set)):
        return type(value).__qualname__
    if not 0 < len(value) <= SHORT:
        return len(value)
    if isinstance(value, Mapping):
        return [(_plain(k), _plain(v)) for k, v in value.items()]
    return len(value) if isinstance(value, set) else [_plain(v) for v in value]
