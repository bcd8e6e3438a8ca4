"""Training a classifier on features drawn from stored class statistics: what SLCA, HiDe-Prompt and MOS have in common.

`identity_loss` is another loss that HiDe-Prompt and MOS share: it separates the features of a batch from each other and from the
stored means of old classes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from seqsearch.methods.base import FitReport
from seqsearch.methods.data import TaskData
from seqsearch.methods.parts.gaussians import Bank
from seqsearch.methods.parts.head import Head
from seqsearch.methods.parts.training import Descent, Group, Hooks, descend


@dataclass(frozen=True)
class Alignment:
    """Settings: SGD with momentum 0.9 and a cosine schedule."""

    epochs: int
    draws: int
    """Features drawn of each class in each epoch. It is also the batch size, so that an epoch has as many steps as classes."""
    lr: float
    weight_decay: float


def align(
    bank: Bank,
    parameters: Sequence[Tensor],
    loss_of: Callable[[Tensor, Tensor], Tensor],
    settings: Alignment,
    task: TaskData,
    device: torch.device,
    scale: Tensor | None = None,
    phase: str = "",
) -> FitReport:
    """Minimise ``loss_of`` over draws from all classes of ``bank``, fresh ones each epoch; changes ``parameters`` in place.

    Args:
        bank: every class seen, column by column.
        parameters: what is trained.
        loss_of: drawn features ``[b, d]`` and their columns ``[b]`` -> mean loss.
        settings: how long and how fast.
        task: its generators draw the features and their order; they are seeded by the number of tasks learned.
        device: where ``parameters`` are.
        scale: factor on each class's mean ``[C]``; 1 if not given.
        phase: distinguishes several alignments of one task.

    Returns:
        ``diverged`` also where the squares of the parameters overflow: with little or no weight decay a rate that is far too
        high leaves numbers which are finite and mean nothing.
    """
    labels = torch.arange(len(bank)).repeat_interleave(settings.draws).to(device)
    scale = torch.ones(len(bank)) if scale is None else scale
    draw, shuffle = task.generator(phase + "draws"), task.generator(phase + "align")
    drawn = torch.empty(0)

    def redraw(epoch: int) -> None:
        nonlocal drawn
        drawn = bank.sample(settings.draws, scale, draw).flatten(0, 1).to(device)

    def loss_at(positions: Tensor) -> Tensor:
        return loss_of(drawn[positions], labels[positions])

    descent = Descent(settings.epochs, settings.draws, settings.weight_decay)
    groups = [Group(parameters, settings.lr)]
    report = descend(groups, len(labels), descent, shuffle, loss_at, Hooks(before_epoch=redraw))
    if report.status == "ok" and not all(bool(torch.isfinite(p.detach().square().sum())) for p in parameters):
        return FitReport("diverged", report.losses)
    return report


def aligned_head(bank: Bank, head: Head, settings: Alignment, task: TaskData) -> tuple[Head, FitReport]:
    """``head`` after cross-entropy among all classes on draws from ``bank``."""
    trainable = head.trainable()

    def loss_of(drawn: Tensor, labels: Tensor) -> Tensor:
        return functional.cross_entropy(trainable(drawn), labels)

    report = align(bank, trainable.parameters(), loss_of, settings, task, head.weight.device)
    return trainable.detached(), report


def identity_loss(features: Tensor, centres: Tensor, temperature: float = 0.8) -> Tensor:
    """How far features are from being separated from each other and from ``centres`` of old classes.

    With M the rows of ``centres`` ``[K, d]`` (which get no gradient) above those of ``features`` ``[b, d]``, the cross-entropy of
    ``M M^T / temperature`` to the identity: each row should be most similar to itself. HiDe-Prompt and MOS write it like this;
    it is InfoNCE with a row as its own positive, so what it does is push a batch apart, classmates included. Normalised features
    are longest along themselves by far: on the glyphs (norm 12) it is below 1e-8 and weights of 0 and 0.5 give the same numbers.
    """
    rows = torch.cat([centres, features])
    similarities = rows @ rows.T / temperature
    return functional.cross_entropy(similarities, torch.arange(len(rows), device=rows.device))
