"""Contrast of views: "Representation Learning with Contrastive Predictive Coding", on two views of each image of a batch."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional


def info_nce(embeddings: Tensor, others: Tensor, temperature: float) -> Tensor:
    """How well the other view of an image is recognised among all other views: a mean cross-entropy over cosines.

        -log( exp(cos(e_i, o_j) / T) / sum over k other than i of exp(cos(e_i, o_k) / T) ),    j the other view of i's image

    Args:
        embeddings: e ``[2 n, d]``, views of n images and then, in the same order, views of them once more.
        others: o ``[2 n, d]``, of the same views: e itself, or an older network's.
        temperature: T.
    """
    cosines = functional.normalize(embeddings) @ functional.normalize(others).T
    views = torch.arange(len(cosines), device=cosines.device)
    itself = views[:, None] == views
    return functional.cross_entropy(
        (cosines / temperature).masked_fill(itself, -torch.inf), views.roll(len(views) // 2)
    )
