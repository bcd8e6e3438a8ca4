"""MEMO: stages shared by all tasks, a new last stage for every task, and one classifier over all last stages.

"A Model or 603 Exemplars: Towards Memory-Efficient Class-Incremental Learning": shallow stages of networks
that are trained on different tasks are similar, and deep stages are not. So each task adds only the deepest
stage. Let ``s`` be the shared stages and ``d_k`` the last stage of task k, averaged over points. The features
of an image are ``u(x) = [d_1(s(x)), ..., d_t(s(x))]``. Task t trains ``d_t``, which begins with the final
weights of ``d_{t-1}``, the head over u and, with ``train_base``, s. It uses new images and exemplars
together, and the losses of `der`:

    CE(W u(x) + b, y)  +  lamb * CE(V d_t(s(x)) + c, y'),    y' = 0 for all old classes, else 1 + the class's place in the task

Afterwards the rows of new classes in W are scaled to the mean norm of the old rows.

Trainable: the new last stage, all rows of the head, and the shared stages with ``train_base``. Stored: all
last stages (the old ones once, for all states that share them), the shared stages, the head, exemplars as
pool rows, and the means of their features.

Departures from the public code (PyCIL, and the authors' like it), and why (effects are not measured unless
given):

- rates fall by the step. Weights of the first task are drawn from its seed. New head rows start with equal
  values in all continuations of one state.
- stages are those of the backbone, so the first task trains the same network as other methods do.
- ``scheduler=cosine`` ends with the training. In PyCIL its length is a setting of its own (``t_max``).
- GTEP samples an exemplar batch size. In public code this batch only computes features of exemplars, so it
  decides nothing, and there is no such parameter here.

Values on ``scratch:tiny`` are those of `replay`, and weight decay has the reason given in `der`.
``train_base=false`` did worse on three draws of classes (with the published decay).
docs/method_measurements.md has the accuracies.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from seqsearch.backbones.parts.resnet import pooled, stages
from seqsearch.methods.base import Context, FitReport
from seqsearch.methods.config import Config as BaseConfig
from seqsearch.methods.config import param
from seqsearch.methods.data import Batch, TaskData
from seqsearch.methods.parts.expanding import (
    Expanding,
    ExpandingTraining,
    auxiliary_loss,
    concatenated,
    load_frozen,
    widened,
)
from seqsearch.methods.parts.network import embed, own_backbone, saved, saved_under
from seqsearch.methods.parts.rehearsal import REHEARSAL
from seqsearch.methods.parts.training import Group


class MemoryEfficient(Expanding):
    """A last stage a task; see the module. ``networks`` are the last stages: map ``[n, c, h, w]`` -> map ``[n, d, h', w']``."""

    @dataclass(frozen=True)
    class Config(ExpandingTraining):
        train_base: bool = param(True, "go on training the shared stages in later tasks", later=True)

    config: Config
    caps = replace(REHEARSAL, design=("exemplar", "full", "expansion"), backbones="maps")

    def __init__(self, context: Context, config: BaseConfig) -> None:
        super().__init__(context, config)
        self.shared, self._last = parted(own_backbone(context))

    def new_network(self) -> nn.Module:
        return super().new_network() if self.networks else self._last

    def fit_task(self, task: TaskData) -> FitReport:
        stage, first = self.new_network(), not self.networks
        trains = first or self.config.train_base
        head = widened(self.head, len(task.columns), self.context.dim, task.generator("head"))
        auxiliary = self.auxiliary_head(task)

        def loss_of(part: Batch) -> Tensor:
            with torch.set_grad_enabled(trains):
                shared = self.shared(part.images)
            old, new = points_of(self.networks, shared), points_of([stage], shared)
            loss = functional.cross_entropy(head(torch.cat([old, new], dim=1)), part.targets)
            if first:
                return loss
            return loss + self.config.lamb * auxiliary_loss(auxiliary(new), part.targets, task.columns.start)

        networks = [self.shared, stage] if trains else [stage]
        trained = [p for network in networks for p in network.parameters()]
        heads = head.parameters() if first else [*head.parameters(), *auxiliary.parameters()]
        groups = [Group([*trained, *heads], self.rates(task))]
        report = self.train(task, self.with_exemplars(task), groups, networks, loss_of)
        return self.finish(task, stage, head, report)

    def features(self, batch: Batch) -> Tensor:
        return embed(lambda images: points_of(self.networks, self.shared(images)), batch)

    def state_dict(self) -> dict[str, Any]:
        return super().state_dict() | saved(self.shared.state_dict(), "shared.")

    def load_networks(self, state: Mapping[str, Any]) -> None:
        self.shared.load_state_dict(saved_under(state, "shared."))
        self.networks = load_frozen(state, self._last, self.context.device)


def parted(network: nn.Module) -> tuple[nn.Module, nn.Module]:
    """All stages of a network but the last one, and that."""
    *shared, last = stages(network)
    return nn.Sequential(*shared), last


def points_of(stages: Sequence[nn.Module], shared: Tensor) -> Tensor:
    """Features ``[n, len(stages) * d]`` by last stages of the map ``[n, c, h, w]`` of the shared ones."""
    return concatenated([partial(_points, stage) for stage in stages], shared)


def _points(stage: nn.Module, shared: Tensor) -> Tensor:
    return pooled(stage(shared))


build = MemoryEfficient
