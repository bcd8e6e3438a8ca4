"""A linear classifier that grows by a block of rows with every task."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from seqsearch.methods.base import Context, FitReport
from seqsearch.methods.parts.network import saved, saved_under


@dataclass(frozen=True, eq=False)
class Head:
    """Scores ``x W^T + b`` with ``weight`` ``[C, d]`` and ``bias`` ``[C]``."""

    weight: Tensor
    bias: Tensor

    def __call__(self, features: Tensor) -> Tensor:
        """Features ``[n, d]`` -> scores ``[n, C]``."""
        return functional.linear(features, self.weight, self.bias)

    def __len__(self) -> int:
        return len(self.weight)

    def parameters(self) -> list[Tensor]:
        return [self.weight, self.bias]

    def grown(self, block: Head) -> Head:
        """Own copies of these rows with those of ``block`` below."""
        return Head(torch.cat([self.weight, block.weight]).detach(), torch.cat([self.bias, block.bias]).detach())

    def trainable(self) -> Head:
        """An own copy that takes gradients."""
        return Head(*(p.detach().clone().requires_grad_(True) for p in self.parameters()))

    def detached(self) -> Head:
        """The same values without gradients."""
        return Head(self.weight.detach(), self.bias.detach())

    def state(self, prefix: str) -> dict[str, Any]:
        return saved({"weight": self.weight, "bias": self.bias}, prefix)

    @property
    def bytes(self) -> int:
        """Size as 32-bit floats."""
        return 4 * (self.weight.numel() + self.bias.numel())


def new_head(classes: int, dim: int, generator: torch.Generator, device: torch.device) -> Head:
    """A trainable block for ``classes`` new classes: weights N(0, 0.01^2), bias 0.

    Seeded by depth alone (``task.generator("head")``), so that all continuations of one state start from the same values.
    """
    weight = 0.01 * torch.randn(classes, dim, generator=generator)
    return Head(weight.to(device), torch.zeros(classes, device=device)).trainable()


def uniform_head(classes: int, dim: int, generator: torch.Generator, device: torch.device) -> Head:
    """As `new_head`, with weights that are uniform within ``+- sqrt(3 / d)`` (standard deviation ``1 / sqrt(d)``): the start of
    classifiers over networks from scratch, in PyCIL."""
    weight = (2 * torch.rand(classes, dim, generator=generator) - 1) * (3 / dim) ** 0.5
    return Head(weight.to(device), torch.zeros(classes, device=device)).trainable()


def first_rows(context: Context, classes: int, generator: torch.Generator) -> Head:
    """A trainable block for new classes: `new_head` over a pre-trained network, `uniform_head` over one from scratch."""
    return (uniform_head if context.from_scratch else new_head)(classes, context.dim, generator, context.device)


def local_cross_entropy(scores: Tensor, targets: Tensor, columns: range) -> Tensor:
    """Cross-entropy among the classes ``columns`` alone: ``scores`` ``[n, len(columns)]``, ``targets`` ``[n]`` head columns."""
    return functional.cross_entropy(scores, targets - columns.start)


def distillation(scores: Tensor, teacher: Tensor, temperature: float) -> Tensor:
    """Mean cross-entropy from the teacher's distribution ``softmax(teacher / T)`` to ``softmax(scores / T)``, both ``[n, C]``.

    Not multiplied by T^2: its gradient is T^2 times smaller than that of scores that are not divided.
    """
    return functional.cross_entropy(scores / temperature, functional.softmax(teacher / temperature, dim=1))


def weighed(loss: Tensor, kd: Tensor, lamb: float, share: float) -> Tensor:
    """``(1 - k) loss + k kd`` with k the ``share`` of old classes if ``lamb`` is 0, else ``loss + lamb kd``: as WA and BiC weigh
    classification and distillation, and as GTEP does."""
    return loss + lamb * kd if lamb else (1 - share) * loss + share * kd


def weight_aligned(head: Head, old: int) -> Head:
    """The head with its rows from ``old`` on scaled by the ratio of mean norms, ``mean ||w_old|| / mean ||w_new||``.

    "Maintaining Discrimination and Fairness in Class Incremental Learning": new rows grow larger than old ones, and with
    them their scores. Biases stay. Nothing happens where there are no old rows. Where squares of weights overflow, there is no
    ratio: the new rows are then NaN, not 0, which would be taken for scores.
    """
    if not old:
        return head.detached()
    norms = head.weight.detach().norm(dim=1)
    ratio = norms[:old].mean() / norms[old:].mean() if bool(torch.isfinite(norms).all()) else torch.nan
    return Head(torch.cat([head.weight[:old], ratio * head.weight[old:]]).detach(), head.bias.detach())


def checked_finite(tensors: Iterable[Tensor], report: FitReport) -> FitReport:
    """``diverged`` in place of ``ok`` where one of ``tensors``, what is taken over from a training, is not finite."""
    finite = all(bool(torch.isfinite(t).all()) for t in tensors)
    return report if finite else replace(report, status="diverged")


def empty_head(dim: int, device: torch.device) -> Head:
    """A head that knows no class yet."""
    return Head(torch.zeros(0, dim, device=device), torch.zeros(0, device=device))


def load_head(state: Mapping[str, Any], prefix: str, device: torch.device) -> Head:
    """The head that `Head.state` saved under ``prefix``."""
    tensors = saved_under(state, prefix)
    return Head(tensors["weight"].to(device, copy=True), tensors["bias"].to(device, copy=True))
