"""SLCA: a slow learner for the representation, then classifier alignment on Gaussians of past features.

"SLCA: Slow Learner with Classifier Alignment for Continual Learning on a Pre-trained Model".

Representation stage: the backbone learns at a rate far below the head's, by cross-entropy among the new
classes only. Head rows of old classes are frozen. Then each new class gets the mean and covariance (+1e-4 I)
of its features (``covariance=diagonal`` or ``centroids`` keeps less of them, see
`methods/parts/gaussians.py`).

Alignment (from the second task on): features are drawn from every class's Gaussian. The mean of a class of
task i is scaled by ``0.9 + 0.1 (i + 1) / (t + 1)`` at task t. Old means count less, because the backbone has
moved since. A copy of all head rows is trained on ``CE(z / (tau n(z)), y)``, where n(z) is the mean over
tasks of the norm of that task's logits.

Trainable: backbone and new rows, then all rows of the aligned copy. Stored: backbone, BOTH heads, the
Gaussians, and the size of each task. The next task starts from the unaligned head, and predictions use the
aligned head.

Departures from the public code, and why (effects are not measured unless given):

- task boundaries are kept, not computed from a common task size.
- covariances are stored as exact low-rank roots (`Gaussians`), so that sampling cannot fail with few images.
- the rate of the backbone is a parameter of its own. Its default is the published hundredth of the head's,
  because on the embedded network faster is worse.
- a pre-trained network stays in eval mode (`own_backbone`).

From scratch the first task has the schedule of PyCIL's methods (200 epochs at rate 0.1), because a slow
backbone without pre-training learns nothing. Later tasks have the published slow rates. No source gives
others.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from seqsearch.methods.base import Caps, Context, FitReport, Footprint, Method, joined
from seqsearch.methods.config import Config as BaseConfig
from seqsearch.methods.config import LogUniform, param
from seqsearch.methods.data import Batch, TaskData
from seqsearch.methods.parts.alignment import Alignment, align
from seqsearch.methods.parts.augmentation import learned
from seqsearch.methods.parts.checkpoint import Live
from seqsearch.methods.parts.gaussians import KINDS, fit_gaussians, load_gaussians, no_gaussians
from seqsearch.methods.parts.head import Head, empty_head, first_rows, load_head, local_cross_entropy
from seqsearch.methods.parts.network import cut, embed, own_backbone, saved, saved_under, statistics_of
from seqsearch.methods.parts.training import Rate, descend, steps
from seqsearch.methods.parts.tuned import TwoRates


class SLCA(Method):
    """Slow backbone, aligned classifier; see the module."""

    @dataclass(frozen=True)
    class Config(TwoRates):
        epochs: int = param(
            20,
            "passes over a task's images",
            minimum=1,
            maximum=10_000,
            search=(5, 10, 20),
            embedded=4,
            embedded_search=(2, 4, 8),
        )
        batch_size: int = param(64, "images per step", minimum=1, maximum=100_000, embedded=32)
        lr: float = param(0.01, "learning rate of the head", minimum=0.0, maximum=1e30, search=LogUniform(1e-3, 0.1))
        backbone_lr: float = param(
            0.0001, "learning rate of the backbone", minimum=0.0, maximum=1e30, search=LogUniform(1e-5, 2e-3)
        )
        align_epochs: int = param(5, "passes over the drawn features", minimum=1, maximum=10_000, later=True)
        align_lr: float = param(
            0.01, "learning rate of the alignment", minimum=0.0, maximum=1e30, search=LogUniform(1e-3, 0.1), later=True
        )
        draws: int = param(
            256, "features drawn per class, and per step of the alignment", minimum=1, maximum=100_000, later=True
        )
        temperature: float = param(
            0.1, "tau of the alignment loss", minimum=1e-6, maximum=1e6, search=(0.05, 0.1, 0.2), later=True
        )
        covariance: str = param("full", "what is kept of a class's features", choices=KINDS)
        centroids: int = param(10, "centroids of a class at most (covariance=centroids)", minimum=1, maximum=10_000)
        scheduler: str = param(
            "steplr",
            "how the rate falls; steplr: once, at 0.9 of the steps, in later tasks",
            choices=("cosine", "steplr", "constant"),
        )

        def rate(self) -> Rate:
            return steps([0.9], self.lr_decay) if self.scheduler == "steplr" else super().rate()

    config: Config
    caps = Caps(pairs=True, augmentation="pycil", design=("statistic", "full"))

    def __init__(self, context: Context, config: BaseConfig) -> None:
        super().__init__(context, config)
        self.backbone = own_backbone(context)
        self.head = empty_head(context.dim, context.device)
        """Before alignment: the head from which the next task goes on."""
        self.aligned = self.head
        """Head that predicts."""
        self.gaussians = no_gaussians(context.dim, self.config.covariance)
        self.task_sizes: list[int] = []

    def fit_task(self, task: TaskData) -> FitReport:
        block, report = self._represent(task)
        if report.status != "ok":
            return report
        self.head = self.aligned = self.head.grown(block)
        self.task_sizes.append(len(task.columns))
        features, kind = embed(self.backbone, task.train), self.config.covariance
        clusters, seed = self.config.centroids, task.generator("centroids")
        new = fit_gaussians(features, task.train.targets, task.columns, kind, clusters, seed)
        self.gaussians = self.gaussians.joined(new)
        return self._align(task, report) if task.depth else report

    def _represent(self, task: TaskData) -> tuple[Head, FitReport]:
        """Train the backbone slowly, with new head rows on the new classes alone."""
        config, train = self.config, learned(task.train, self.context, "pycil", task.generator("augment"))
        block = first_rows(self.context, len(task.columns), task.generator("head"))

        def loss_of(positions: Tensor) -> Tensor:
            part = train.select(positions)
            return local_cross_entropy(block(self.backbone(part.inputs)), part.targets, task.columns)

        groups = config.groups(task.depth, self.backbone, block.parameters())
        live = Live(statistics_of(self.context, self.backbone), [train.generator], task.progress)
        schedule, shuffle = config.schedule(task.depth), task.generator("shuffle")
        return block, descend(groups, len(train), schedule, shuffle, loss_of, live=live)

    def _align(self, task: TaskData, report: FitReport) -> FitReport:
        """Train a copy of the head on draws from all Gaussians; a fresh set of draws each epoch."""
        config, head = self.config, self.head.trainable()

        def loss_of(drawn: Tensor, labels: Tensor) -> Tensor:
            return alignment_loss(head(drawn), labels, self.task_sizes, config.temperature)

        settings = Alignment(config.align_epochs, config.draws, config.align_lr, config.weight_decay)
        scale, device = mean_scale(self.task_sizes), self.context.device
        aligned = align(self.gaussians, head.parameters(), loss_of, settings, task, device, scale)
        self.aligned = head.detached()
        notes = {"alignment_loss": aligned.losses[-1]} if aligned.losses else {}
        return joined(report, FitReport(aligned.status, notes=notes))

    def predict(self, batch: Batch) -> Tensor:
        return self.aligned(self.features(batch))

    def features(self, batch: Batch) -> Tensor:
        return embed(self.backbone, batch)

    def state_dict(self) -> dict[str, Any]:
        return (
            saved(self.backbone.state_dict(), "backbone.")
            | self.head.state("head.")
            | self.aligned.state("aligned.")
            | self.gaussians.state("gaussians.")
            | {"task_sizes": torch.tensor(self.task_sizes, dtype=torch.int64)}
        )

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        self.backbone.load_state_dict(saved_under(state, "backbone."))
        self.head = load_head(state, "head.", self.context.device)
        self.aligned = load_head(state, "aligned.", self.context.device)
        self.gaussians = load_gaussians(state, "gaussians.")
        self.task_sizes = state["task_sizes"].tolist()

    def memory_footprint(self) -> Footprint:
        return Footprint(params=self.head.bytes + self.aligned.bytes, statistics=self.gaussians.bytes)


def mean_scale(task_sizes: list[int]) -> Tensor:
    """Factor on each class's mean ``[C]``: 0.9 + 0.1 (i + 1) / (t + 1) for classes of task i, t being the last one."""
    last = len(task_sizes)
    return torch.cat([torch.full((size,), 0.9 + 0.1 * (i + 1) / last) for i, size in enumerate(task_sizes)])


def alignment_loss(logits: Tensor, labels: Tensor, task_sizes: list[int], temperature: float) -> Tensor:
    """Cross-entropy of logits ``[n, C]`` divided by ``temperature`` times the mean norm of the tasks' blocks."""
    norms = [block.norm(dim=0) for block in cut(logits.T, task_sizes)]
    mean_norm = torch.stack(norms).mean(0) + 1e-7
    return functional.cross_entropy(logits / (temperature * mean_norm)[:, None], labels)


build = SLCA
