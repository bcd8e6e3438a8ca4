"""Fingerprints: one number for each weight tensor of a trained network, in place of all of its weights."""

from __future__ import annotations

from collections.abc import Iterable

import torch

from tests.golden.parity.starts import near_normal


def prints(tensors: Iterable[torch.Tensor]) -> torch.Tensor:
    """Of each tensor with real numbers, the inner product with known numbers, over the root of its size: ``[tensors]`` float32.

    A tensor whose numbers all move by e, each up or down by chance, moves its print by about e.
    """
    found = [_print(tensor.detach().double().flatten()) for tensor in tensors if tensor.is_floating_point()]
    return torch.stack(found).float()


def _print(numbers: torch.Tensor) -> torch.Tensor:
    return numbers @ torch.from_numpy(near_normal("prints", len(numbers))) / len(numbers) ** 0.5
