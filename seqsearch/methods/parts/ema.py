"""Exponential moving averages of parameters."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor


def warmed(decay: float, step: int) -> float:
    """``min(decay, 1 - 1 / (step + 1))``: the plain mean of what was seen while there was little of it."""
    return min(decay, 1.0 - 1.0 / (step + 1))


@torch.no_grad()
def move_average(average: Iterable[Tensor], current: Iterable[Tensor], decay: float) -> None:
    """``average <- decay average + (1 - decay) current``, in place."""
    for mean, value in zip(average, current, strict=True):
        mean.mul_(decay).add_(value, alpha=1.0 - decay)
