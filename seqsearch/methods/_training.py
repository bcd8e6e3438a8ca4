"""Stochastic gradient descent over the positions of one task's images: the loop of every method that trains."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from seqsearch.methods._network import cut
from seqsearch.methods.base import FitReport

Rate = Callable[[float], float]
"""Factor on the learning rate as a function of progress in [0, 1)."""


def cosine(progress: float) -> float:
    """From 1 to 0 along half a cosine."""
    return 0.5 * (1.0 + math.cos(math.pi * progress))


def drop_at(milestone: float, factor: float = 0.1) -> Rate:
    """1 until ``milestone`` (a fraction of the training), ``factor`` from then on."""
    return lambda progress: 1.0 if progress < milestone else factor


@dataclass(frozen=True)
class Sgd:
    """Settings of a descent; learning rates come with the parameters (`Group`)."""

    epochs: int
    batch_size: int
    weight_decay: float
    rate: Rate = cosine
    momentum: float = 0.9


@dataclass(frozen=True, eq=False)
class Group:
    """Parameters that share a learning rate."""

    parameters: Sequence[Tensor]
    lr: float


def descend(
    groups: Sequence[Group],
    n: int,
    sgd: Sgd,
    generator: torch.Generator,
    loss_of: Callable[[Tensor], Tensor],
    before_epoch: Callable[[], None] = lambda: None,
) -> FitReport:
    """Minimise ``loss_of`` over shuffled positions ``0 .. n - 1``, changing the parameters in place.

    Args:
        groups: what is trained, and how fast.
        n: number of training images.
        sgd: epochs, batch size, schedule.
        generator: draws the order of each epoch; a CPU generator.
        loss_of: positions ``[b]`` int64 on the CPU -> mean loss of that batch (a scalar with gradient).
        before_epoch: called when an epoch begins, e.g. to draw its data.

    Returns:
        ``diverged`` at the first loss that is not finite, or if a parameter is not finite at the end.
    """
    settings = [{"params": list(group.parameters), "lr": group.lr} for group in groups]
    optimizer = torch.optim.SGD(settings, momentum=sgd.momentum, weight_decay=sgd.weight_decay)
    steps, step = sgd.epochs * math.ceil(n / sgd.batch_size), 0
    losses: list[float] = []
    for _ in range(sgd.epochs):
        before_epoch()
        total = 0.0
        for positions in cut(torch.randperm(n, generator=generator), sgd.batch_size):
            for setting, group in zip(optimizer.param_groups, groups, strict=True):
                setting["lr"] = group.lr * sgd.rate(step / steps)
            loss = loss_of(positions)
            value = float(loss.detach())
            if not math.isfinite(value):
                return FitReport("diverged", tuple(losses), {"step": float(step)})
            optimizer.zero_grad(set_to_none=True)
            loss.backward()  # type: ignore[no-untyped-call]  # torch says no types
            optimizer.step()
            total += value * len(positions)
            step += 1
        losses.append(total / n)
    if not all(bool(torch.isfinite(p).all()) for group in groups for p in group.parameters):
        return FitReport("diverged", tuple(losses), {"step": float(step)})
    return FitReport("ok", tuple(losses))
