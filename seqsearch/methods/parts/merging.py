"""Attention that merges the maps of two networks ("Task-Agnostic Guided Feature Expansion for Class-Incremental Learning")."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional


@dataclass(frozen=True, eq=False)
class Merging:
    """Points of a task-specific map ask, points of it and of a task-agnostic map answer, both normalised over channels.

    softmax(Q(s) [K(a), K'(s)]^T / sqrt(d / heads)) [V(a), V'(s)],    the mean over points
    """

    matrices: Tensor
    """``[5, d, d]``: Q, K, V of the agnostic map, K', V'."""
    norms: Tensor
    """``[2, 2, d]``: factor and offset of the normalisation of the agnostic map, and of the specific one."""
    heads: int

    def parameters(self) -> list[Tensor]:
        return [self.matrices, self.norms]

    def __call__(self, agnostic: Tensor, specific: Tensor) -> Tensor:
        """Maps ``[n, d, h, w]`` of one network and of the other -> features ``[n, d]``."""
        a, s = (
            functional.layer_norm(found.flatten(2).transpose(1, 2), found.shape[1:2], *norm)
            for found, norm in zip((agnostic, specific), self.norms, strict=True)
        )
        q, k_a, v_a, k_s, v_s = (
            (points @ matrix).unflatten(2, (self.heads, -1)).transpose(1, 2)
            for points, matrix in zip((s, a, a, s, s), self.matrices, strict=True)
        )
        k, v = torch.cat([k_a, k_s], dim=2), torch.cat([v_a, v_s], dim=2)
        weights = functional.softmax(q @ k.transpose(2, 3) / q.shape[3] ** 0.5, dim=3)
        return (weights @ v).transpose(1, 2).flatten(2).mean(1)


def new_merging(dim: int, heads: int, generator: torch.Generator, device: torch.device) -> Merging:
    """A trainable one: matrices N(0, 1 / d)."""
    matrices = torch.randn(5, dim, dim, generator=generator) / dim**0.5
    norms = torch.stack([torch.ones(2, dim), torch.zeros(2, dim)], dim=1)
    return Merging(matrices.to(device).requires_grad_(True), norms.to(device).requires_grad_(True), heads)
