"""Diagonal of the empirical Fisher information, and the quadratic penalty that holds parameters where it is large.

``F_j = 1/n sum_i (d loss(x_i, y_i) / d theta_j)^2``: the gradient of each image is squared by itself, then averaged,
with the true labels. The square of a batch's mean gradient, which much public code takes, is smaller by about the size
of the batch, so that their penalty weights do not carry over.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
from torch import Tensor, nn
from torch.func import functional_call, grad, vmap
from torch.nn.attention import SDPBackend, sdpa_kernel

from seqsearch.methods.data import Batch
from seqsearch.methods.parts.network import cut, saved_under

GRADIENT_BYTES = 1 << 30
"""Gradients of single images that are held at a time take at most this (a network larger than it: one image)."""

MOST_IMAGES = 16
"""More at a time are not faster."""

LEAST_RATE = 1e-12
"""A learning rate below it counts as this where it is divided by."""

Parameters = Mapping[str, Tensor]
Loss = Callable[[Parameters, Tensor, Tensor], Tensor]
"""Parameters, an image ``[1, 3, s, s]`` and its head column ``[1]`` -> its loss, a function of the given parameters."""


def named(network: nn.Module, prefix: str) -> dict[str, Tensor]:
    """Parameters of ``network`` by name; those of a network that trains, not copies."""
    return {prefix + name: parameter for name, parameter in network.named_parameters()}


def run_with(network: nn.Module, parameters: Parameters, prefix: str, images: Tensor) -> Tensor:
    """Return the output of ``network`` with the parameters of these names in place of its own."""
    features: Tensor = functional_call(network, saved_under(parameters, prefix), (images,))
    return features


def diagonal_fisher(network: nn.Module, parameters: Parameters, loss_of: Loss, batch: Batch) -> dict[str, Tensor]:
    """The diagonal at ``parameters``, a tensor of the same shape for each, averaged over the images of ``batch``.

    ``network``, which the loss runs, must be in eval mode: an image's loss may not depend on others or on random numbers.
    Many images are taken at once if it is small; one, with ordinary autograd, if it is large or computes under autocast,
    which `vmap` does not get along with.
    """
    at = {name: parameter.detach() for name, parameter in parameters.items()}
    size = max(1, min(MOST_IMAGES, GRADIENT_BYTES // (4 * sum(p.numel() for p in at.values()))))
    if getattr(network, "autocast_dtype", None) is not None:
        size = 1
    gradients_of = _of_one if size == 1 else _of_many
    total = {name: torch.zeros(parameter.shape, device=parameter.device) for name, parameter in at.items()}
    for positions in cut(torch.arange(len(batch)), size):
        part = batch.select(positions)
        for name, gradient in gradients_of(at, loss_of, part.images, part.targets).items():
            total[name] += gradient.square().sum(0)
    return {name: squares / len(batch) for name, squares in total.items()}


def _of_many(at: Parameters, loss_of: Loss, images: Tensor, targets: Tensor) -> dict[str, Tensor]:
    """Gradient of each image ``[n, ...]`` by parameter."""
    with sdpa_kernel(SDPBackend.MATH):  # the other kernels have no rule for many gradients at once
        found: dict[str, Tensor] = vmap(grad(loss_of), in_dims=(None, 0, 0))(at, images[:, None], targets[:, None])
    return found


def _of_one(at: Parameters, loss_of: Loss, images: Tensor, targets: Tensor) -> dict[str, Tensor]:
    """The same for a single image."""
    leaves = {name: parameter.detach().requires_grad_(True) for name, parameter in at.items()}
    loss = loss_of(leaves, images, targets)
    found = torch.autograd.grad(loss, list(leaves.values()), materialize_grads=True)
    return {name: gradient[None] for name, gradient in zip(leaves, found, strict=True)}


def blended(old: Parameters, new: Parameters, weight: float) -> dict[str, Tensor]:
    """``weight old + (1 - weight) new``; rows that only ``new`` has (of classes that came since) are taken as they are."""
    blend = {name: tensor.clone() for name, tensor in new.items()}
    for name, before in old.items():
        known = blend[name][: len(before)] if before.dim() else blend[name]
        known.mul_(1 - weight).add_(before, alpha=weight)
    return blend


def stiffness(fisher: Parameters, weight: float, limit: float) -> dict[str, Tensor]:
    """``weight F``, cut at ``limit``: what `quadratic_penalty` multiplies squared distances with.

    A plain step of rate lr multiplies the distance of a parameter by ``1 - lr stiffness``: at ``1 / lr`` it is undone at
    once, and beyond ``2 / lr`` it grows without bound (with momentum m beyond ``2 (1 + m) / lr``). So a limit of ``1 / lr``
    holds as firmly as steps of this rate can.
    """
    return {name: (weight * importance).clamp_max(limit) for name, importance in fisher.items()}


def quadratic_penalty(parameters: Parameters, anchor: Parameters, stiff: Parameters) -> Tensor:
    """``1/2 sum_j s_j (theta_j - theta*_j)^2`` over the names in ``stiff``; rows beyond those of the anchor are free."""
    terms = []
    for name, stiffnesses in stiff.items():
        current = parameters[name][: len(stiffnesses)] if stiffnesses.dim() else parameters[name]
        terms.append((stiffnesses * (current - anchor[name]).square()).sum())
    return 0.5 * torch.stack(terms).sum()
