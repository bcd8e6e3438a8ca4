"""Components of prompts that are added up by weights ("CODA-Prompt: COntinual Decomposed Attention-based Prompting for
Rehearsal-Free Continual Learning"): the weights of an image, how new components start, and their orthogonality.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from seqsearch.methods.config import Config, Conflict, param
from seqsearch.methods.parts import gtep


@dataclass(frozen=True)
class Components(Config):
    """Number and size of components."""

    components: int = param(
        10,
        "components that a task adds in each layer",
        minimum=1,
        maximum=10_000,
        search=gtep.COMPONENTS,
        embedded=5,
    )
    length: int = param(
        8, "of a component: half of it keys, half values", minimum=2, maximum=10_000, search=gtep.COMPONENT_LENGTH
    )
    mu: float = param(
        0.0, "weight of the orthogonality of components", minimum=0.0, maximum=1e6, search=gtep.ORTHOGONALITY
    )

    def check(self) -> None:
        if self.length % 2:
            raise Conflict(f"length={self.length}: must be even, half of it are keys; take {self.length + 1}")


BLOCKS = (0, 1, 2, 3, 4)
"""Layers that have components, as far as a network has these layers."""


def weights(query: Tensor, attention: Tensor, keys: Tensor) -> Tensor:
    """``cos(q * A_m, K_m)`` ``[n, M]`` of queries ``[n, d]``, for attention vectors and keys ``[M, d]``.

    Without the ``[n, M, d]`` numbers q * A: its norm is the root of ``q^2 . A^2``, its product with K that of q with A * K.
    """
    norms = functional.linear(query.square(), attention.square()).clamp_min(1e-24).sqrt()
    return functional.linear(query, attention * functional.normalize(keys, dim=1)) / norms


def overlap(rows: Tensor) -> Tensor:
    """Sum over blocks of ``mean((M M^T - I)^2)``, ``rows`` ``[B, M, d]``."""
    gram = rows @ rows.transpose(1, 2)
    gap: Tensor = gram - torch.eye(gram.shape[1], device=gram.device)
    return gap.square().mean((1, 2)).sum()


def orthonormal(draws: Tensor, old: Tensor) -> Tensor:
    """Rows ``[m, d]`` from random ``draws`` ``[m, d]``, orthonormal, and orthogonal to ``old`` ``[M, d]`` if there is room.

    Where there is none even among themselves (m > d), rows are of length 1.
    """
    count, width = draws.shape
    if count > width:
        return functional.normalize(draws, dim=1)
    if len(old) and len(old) + count <= width:
        basis = torch.linalg.qr(old.T).Q
        draws = draws - draws @ basis @ basis.T
    rows: Tensor = torch.linalg.qr(draws.T).Q.T.contiguous()
    return rows


def added(draws: Tensor, known: Tensor | None) -> Tensor:
    """New rows ``[B, m, d]`` in single precision, layer by layer, from random ``draws`` ``[B, m, d]`` float64 and the rows
    ``known`` ``[B, M, d]`` of earlier tasks, if there are any."""
    old = draws[:, :0] if known is None else known.double().cpu()
    return torch.stack([orthonormal(new, before) for new, before in zip(draws, old, strict=True)]).float()
