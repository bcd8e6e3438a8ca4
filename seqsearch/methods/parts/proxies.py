"""A cosine classifier of several proxies a class, that grows with every task, and the loss it is trained by.

"PODNet: Pooled Outputs Distillation for Small-Tasks Incremental Learning", section "Local Similarity Classifier".
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from seqsearch.methods.parts.network import saved, saved_under


@dataclass(frozen=True, eq=False)
class ProxyHead:
    """Scores ``eta sum_p a_cp s_cp``: ``s_cp`` is the cosine of a feature with proxy p of class c, and ``a_c = softmax(s_c)``.

    Attributes:
        old: proxies that are learned no more ``[C_old, P, d]``.
        new: those that are ``[C_new, P, d]``.
        eta: scale of all scores, learned.
    """

    old: Tensor
    new: Tensor
    eta: Tensor

    def __call__(self, features: Tensor) -> Tensor:
        """Features ``[n, d]`` -> scores ``[n, C]``."""
        proxies = functional.normalize(torch.cat([self.old, self.new]), dim=2)
        s = torch.einsum("nd,cpd->ncp", functional.normalize(features), proxies)
        return self.eta * (s.softmax(2) * s).sum(2)

    def __len__(self) -> int:
        return len(self.old) + len(self.new)

    def parameters(self) -> list[Tensor]:
        """Return the learned tensors."""
        return [self.new, self.eta]

    def grown(self, proxies: Tensor) -> ProxyHead:
        """With trainable ``proxies`` ``[n, P, d]`` of new classes; those there are now are learned no more."""
        known = torch.cat([self.old, self.new]).detach()
        return ProxyHead(known, *(t.detach().clone().requires_grad_(True) for t in (proxies, self.eta)))

    def detached(self) -> ProxyHead:
        """The same values without gradients."""
        return ProxyHead(self.old, self.new.detach(), self.eta.detach())

    def state(self, prefix: str) -> dict[str, Any]:
        return saved({"proxies": torch.cat([self.old, self.new]), "eta": self.eta}, prefix)

    @property
    def bytes(self) -> int:
        """Size as 32-bit floats."""
        return 4 * (self.old.numel() + self.new.numel() + 1)


def proxies_of(classes: int, count: int, dim: int, generator: torch.Generator, device: torch.device) -> Tensor:
    """Proxies ``[classes, count, dim]``, uniform within ``+- 1 / sqrt(dim)``."""
    return ((2 * torch.rand(classes, count, dim, generator=generator) - 1) / math.sqrt(dim)).to(device)


def empty_proxies(count: int, dim: int, device: torch.device) -> ProxyHead:
    """A head that knows no class yet; eta is 1."""
    none = torch.zeros(0, count, dim, device=device)
    return ProxyHead(none, none, torch.ones((), device=device))


def load_proxies(state: Mapping[str, Any], prefix: str, device: torch.device) -> ProxyHead:
    """The head that `ProxyHead.state` saved under ``prefix``."""
    tensors = {name: tensor.to(device, copy=True) for name, tensor in saved_under(state, prefix).items()}
    return ProxyHead(tensors["proxies"], tensors["proxies"][:0], tensors["eta"])


def nca_published(scores: Tensor, targets: Tensor) -> Tensor:
    """The loss of the public code (PyCIL): mean over images of ``log (1 + sum_{c != y} exp(s_c - m)) - (s_y - m)``, with m the
    largest score of an image.

    Its margin is taken from all scores alike, so that it cancels out. The own class stands among the others as exp(0).
    """
    shifted = scores - scores.max(1, keepdim=True).values
    own = functional.one_hot(targets, scores.shape[1]).bool()
    return (shifted.masked_fill(own, 0.0).logsumexp(1) - shifted[own]).mean()


def nca(scores: Tensor, targets: Tensor, margin: float) -> Tensor:
    """Mean of ``[ log sum_{c != y} exp(scores_c) - (scores_y - margin) ]_+`` over images.

    Args:
        scores: ``[n, C]``, scaled. Among one class there is nothing to separate: 0.
        targets: columns ``[n]``.
        margin: by how much the score of the own class must exceed the others (their soft maximum).
    """
    if scores.shape[1] == 1:
        return 0 * scores.mean()
    own = functional.one_hot(targets, scores.shape[1]).bool()
    others = scores.masked_fill(own, -torch.inf).logsumexp(1)
    return functional.relu(others - scores[own] + margin).mean()
