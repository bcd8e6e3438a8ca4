"""Components of prompts that are added up by weights ("CODA-Prompt: COntinual Decomposed Attention-based Prompting for
Rehearsal-Free Continual Learning"): the weights of an image, how new components start, and their orthogonality.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

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
