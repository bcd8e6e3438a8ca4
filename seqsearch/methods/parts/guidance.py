"""Guidance of a new network by a task-agnostic one: settings and losses of "Task-Agnostic Guided Feature Expansion for
Class-Incremental Learning" (`seqsearch.methods.tagfex`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from seqsearch.backbones.parts.resnet import pooled, stages
from seqsearch.methods.config import param
from seqsearch.methods.parts import gtep
from seqsearch.methods.parts.contrast import info_nce
from seqsearch.methods.parts.expanding import auxiliary_loss
from seqsearch.methods.parts.head import Head
from seqsearch.methods.parts.merging import Merging
from seqsearch.methods.parts.rehearsal import RehearsalTraining, decay


@dataclass(frozen=True)
class Guided(RehearsalTraining):
    """The authors' settings."""

    epochs: int = param(
        170,
        "passes over the images of a later task",
        minimum=1,
        maximum=10_000,
        search=gtep.EPOCHS,
        tiny=10,
        tiny_search=(5, 10, 15),
        later=True,
    )
    first_epochs: int = param(200, "passes over the images of the first task", minimum=1, maximum=10_000, tiny=10)
    weight_decay: float = decay(2e-4)
    auxiliary: float = param(2.0, "weight of the auxiliary loss", minimum=0.0, maximum=1e6, later=True)
    contrast: float = param(1.0, "weight of all contrast of views", minimum=0.0, maximum=1e6)
    temperature: float = param(0.2, "of InfoNCE", minimum=1e-3, maximum=1e3)
    distillation: float = param(
        2.0, "weight of contrast with the older network's views", minimum=0.0, maximum=1e6, later=True
    )
    distillation_temperature: float = param(
        0.2, "of contrast with the older network's", minimum=1e-3, maximum=1e3, later=True
    )
    merged: float = param(1.0, "weight of the merged classifier's loss", minimum=0.0, maximum=1e6, later=True)
    transfer: float = param(1.0, "weight of what it teaches the head", minimum=0.0, maximum=1e6, later=True)
    transfer_temperature: float = param(2.0, "T of what it teaches", minimum=1e-3, maximum=1e3, later=True)
    inherited: float = param(
        0.95, "share of the last network in a new one; the rest is g's", minimum=0.0, maximum=1.0, later=True
    )
    heads: int = param(
        8,
        "of the attention that merges maps; the greatest common divisor of it and the features is taken",
        minimum=1,
        maximum=1024,
        later=True,
    )
    hidden: int = param(
        0,
        "width within the projector; 0: as published, 2048 for 512 features and more, else 512",
        minimum=0,
        maximum=100_000,
        tiny=128,
    )
    projected: int = param(
        0,
        "what is projected to; 0: as published, 1024 for 512 features and more, else 128",
        minimum=0,
        maximum=100_000,
        tiny=64,
    )


@dataclass(frozen=True, eq=False)
class Lesson:
    """Losses of a later task beside that of its classes; ``teacher`` and ``old_projector`` are as they were before the
    task."""

    config: Guided
    old: int
    all: int
    teacher: nn.Module
    old_projector: Sequence[Head]
    predictor: Head
    auxiliary: Head
    merging: Merging
    merged: Head

    def parameters(self) -> list[Tensor]:
        trained: list[Head | Merging] = [self.predictor, self.auxiliary, self.merging, self.merged]
        return [parameter for part in trained for parameter in part.parameters()]

    def contrast(self, fresh: Tensor, views: Tensor, agnostic: Tensor) -> Tensor:
        """The contrast ``fresh`` of the views' own features ``agnostic`` ``[2 n, d]``, and that with the teacher's."""
        share = self.old / self.all
        with torch.no_grad():
            taught = project(self.old_projector, pooled(mapped(self.teacher, views)))
        predicted = project(self.old_projector, self.predictor(agnostic))
        kept = info_nce(predicted, taught, self.config.distillation_temperature)
        return (1 - share) * fresh + self.config.distillation * share * kept

    def guided(self, loss: Tensor, scores: Tensor, targets: Tensor, agnostic: Tensor, specific: Tensor) -> Tensor:
        """The auxiliary loss, the merged classifier's, and what it teaches the head, of which ``loss`` and ``scores`` are."""
        config, new = self.config, targets >= self.old
        total = config.auxiliary * auxiliary_loss(self.auxiliary(pooled(specific)), targets, self.old)
        if not bool(new.any()):
            return total
        merged = self.merged(self.merging(agnostic[new], specific[new]))
        error = functional.cross_entropy(merged, targets[new] - self.old)
        total = total + config.merged * error
        if bool(error < loss):
            wanted = functional.softmax(merged.detach() / config.transfer_temperature, dim=1)
            given = functional.log_softmax(scores[new][:, self.old :] / config.transfer_temperature, dim=1)
            total = total + config.transfer * functional.kl_div(given, wanted, reduction="batchmean")
        return total


def mapped(network: nn.Module, images: Tensor) -> Tensor:
    """The map ``[n, d, h, w]`` behind a network's last stage."""
    for stage in stages(network):
        images = stage(images)
    return images


def project(layers: Sequence[Head], features: Tensor) -> Tensor:
    """Two linear layers with a rectifier between them: ``[n, d]`` -> ``[n, m]``."""
    first, second = layers
    return second(functional.relu(first(features)))
