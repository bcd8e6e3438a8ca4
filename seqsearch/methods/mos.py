"""MOS: an adapter for each task, merged towards the earlier ones; at test time each image searches for its own.

"MOS: Model Surgery for Pre-trained Model-Based Class-Incremental Learning".

Adapters: a set of bottlenecks beside the MLPs of a frozen transformer. The set of task t starts from that of
task t - 1. With new head rows it descends (h are the features of a batch)

    CE among the new classes + identity * CE(M M^T / 0.8, identity matrix),   M = stored means of old classes over h

(`identity_loss`). After each step, A_t <- (1 - m) A_t + m mean(A_1 .. A_(t-1)). The set is then fixed.
Statistics of the new classes' h are stored. From the second task on, all head rows are trained on draws from
all classes. Each new class also gets a prototype: the mean of its features by the FIRST task's set.

Prediction: an image starts with the task of its nearest prototype by cosine. That task's set and the head
score it, and it moves to the task of its best class. This repeats until the task stays, or until 4 scorings.
The result is ``softmax(scores) + softmax(T cos)``, with T the number of tasks.

Trainable: one adapter set (at ``lr``), new head rows (at ``head_lr``), then all head rows (at ``align_lr``).
Stored: all sets, the head, statistics, prototypes, and the size of each task.

Departures from the public code (PILOT), and why (effects are not measured unless given):

- the merge acts once per step. In PILOT it also acts inside the forward pass, once per block, in training and
  in EVALUATION, on the stored sets themselves. On 12 blocks each forward pass leaves 0.9^12 = 0.28 of a set's
  distance from the earlier mean, and results depend on how many batches were ever evaluated. Numbers here
  differ from PILOT's for that reason.
- earlier sets are kept as copies. In PILOT the running sum of sets begins with the live tensors (`.data`) of
  the first set. The first forward pass of the second task replaces these tensors before any step changes
  them, so the shared memory has no effect.
- prototypes are computed in eval mode. In PILOT dropout is still on for all but the first task. Here there is
  no dropout anywhere.
- the head has the rows of classes seen, and grows. The schedule is a cosine by step. There is no
  augmentation.
- full covariances, where kept, are exact low-rank roots (`methods/parts/gaussians.py`), so their
  factorisation cannot fail.

On the glyphs only the aligned head and the prototypes matter. Any rate from 0.01 to 0.1, with or without
merging, gives the same accuracy within 0.001. Rates that change the features much (0.5 and more, one
sequence) cost 1 to 4 points.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor

from seqsearch.backbones.inject import Transformer
from seqsearch.methods.base import Caps, Context, FitReport, Footprint, Method, joined
from seqsearch.methods.config import Config as BaseConfig
from seqsearch.methods.config import LogUniform, param
from seqsearch.methods.data import Batch, TaskData
from seqsearch.methods.parts.adapters import Adapted, Adapters, load_adapters, new_adapters
from seqsearch.methods.parts.alignment import Alignment, aligned_head, identity_loss
from seqsearch.methods.parts.augmentation import learned, learned_tokens
from seqsearch.methods.parts.cosine import class_means, cosines
from seqsearch.methods.parts.gaussians import KINDS, fit_gaussians, load_gaussians, no_gaussians
from seqsearch.methods.parts.head import empty_head, load_head, local_cross_entropy, new_head
from seqsearch.methods.parts.network import saved
from seqsearch.methods.parts.task_inference import task_of_column
from seqsearch.methods.parts.training import Descent, Group, Hooks, Training, descend

ROUNDS = 4
"""How often an image is scored at most."""


def mean_of(sets: list[Adapters]) -> list[Tensor]:
    """The mean of each parameter over ``sets``."""
    return [torch.stack(same).mean(0) for same in zip(*(s.parameters() for s in sets), strict=True)]


class MOS(Method):
    """Merged adapters and self-refined retrieval; see the module."""

    @dataclass(frozen=True)
    class Config(Training):
        epochs: int = param(
            20, "passes over a task's images", minimum=1, maximum=10_000, search=(5, 10, 20), embedded=5
        )
        batch_size: int = param(48, "images per step", minimum=1, maximum=100_000, embedded=16)
        lr: float = param(
            0.03, "learning rate of the adapters", minimum=0.0, maximum=1e30, search=LogUniform(0.005, 0.1)
        )
        head_lr: float = param(
            0.003, "learning rate of new head rows", minimum=0.0, maximum=1e30, search=LogUniform(5e-4, 0.05)
        )
        ffn_num: int = param(
            16, "width of an adapter's bottleneck", minimum=1, maximum=100_000, search=(4, 8, 16, 32, 64)
        )
        adapter_momentum: float = param(
            0.1, "share of the mean of earlier adapters after each step (m)", minimum=0.0, maximum=1.0
        )
        identity: float = param(
            0.1, "weight of the identity term", minimum=0.0, maximum=1e6, search=(0.0, 0.01, 0.1, 0.5)
        )
        align_epochs: int = param(
            30, "passes over the drawn features", minimum=1, maximum=10_000, embedded=10, later=True
        )
        align_lr: float = param(
            0.005,
            "learning rate of the alignment",
            minimum=0.0,
            maximum=1e30,
            search=LogUniform(1e-3, 0.05),
            later=True,
        )
        draws: int = param(
            240,
            "features drawn per class, and per step of the alignment",
            minimum=1,
            maximum=100_000,
            embedded=64,
            later=True,
        )
        covariance: str = param("full", "what is kept of a class's features", choices=KINDS)
        centroids: int = param(10, "centroids of a class at most (covariance=centroids)", minimum=1, maximum=10_000)
        ensemble: bool = param(True, "add the prototypes' scores to the head's")

    config: Config
    caps = Caps(
        backbones="vit", augmentation="pilot", design=("statistic", "parameter-efficient", "expansion", "ensemble")
    )

    def __init__(self, context: Context, config: BaseConfig) -> None:
        super().__init__(context, config)
        self.vit = Transformer(context.frozen_backbone())
        self.sets: list[Adapted] = []
        """Finished ones, one a task."""
        self.head = empty_head(context.dim, context.device)
        self.prototypes = torch.zeros(0, context.dim, device=context.device)
        """Class means by the first set ``[C, d]``."""
        self.statistics = no_gaussians(context.dim, self.config.covariance)
        self.task_sizes: list[int] = []

    def fit_task(self, task: TaskData) -> FitReport:
        report = self._adapt(task)
        if report.status != "ok":
            return report
        self.task_sizes.append(len(task.columns))
        targets = task.train.targets
        features, original = (self.sets[t](task.train) for t in (task.depth, 0))
        if not bool(torch.isfinite(features).all()):
            return FitReport("diverged", report.losses)
        means = class_means(original, targets - task.columns.start, len(task.columns))
        self.prototypes = torch.cat([self.prototypes, means])
        config, seed = self.config, task.generator("centroids")
        new = fit_gaussians(features, targets, task.columns, config.covariance, config.centroids, seed)
        self.statistics = self.statistics.joined(new)
        return self._align(task, report) if task.depth else report

    def _adapt(self, task: TaskData) -> FitReport:
        """The task's adapters and new rows of the head."""
        config, device, train = self.config, self.context.device, task.train
        images = learned(train, self.context, "pilot", task.generator("augment"))
        tokens = learned_tokens(self.vit, images, self.context)
        block = new_head(len(task.columns), self.context.dim, task.generator("head"), device)
        old = self.statistics.centres.to(device)
        if self.sets:
            earlier = [own.adapters for own in self.sets]
            adapters, mean = earlier[-1].trainable(), mean_of(earlier)
        else:
            first = new_adapters(self.vit, config.ffn_num, task.generator("adapters"), device)
            adapters, mean = first.trainable(), []

        def loss_of(positions: Tensor) -> Tensor:
            features = self.vit.pool(self.vit.run(tokens(positions), adapters.blocks()))
            loss = local_cross_entropy(block(features), train.targets[positions.to(device)], task.columns)
            return loss + config.identity * identity_loss(features, old)

        groups = [Group(adapters.parameters(), config.lr), Group(block.parameters(), config.head_lr)]
        hooks = (
            Hooks(after_step=partial(merge, adapters.parameters(), mean, config.adapter_momentum)) if mean else Hooks()
        )
        report = descend(groups, len(train), Descent.of(config), task.generator("shuffle"), loss_of, hooks)
        self.sets = [*self.sets, self._fixed(adapters.detached())]
        self.head = self.head.grown(block)
        return report

    def _fixed(self, adapters: Adapters) -> Adapted:
        return Adapted(self.vit, adapters, self.context.backbone_id)

    def _align(self, task: TaskData, report: FitReport) -> FitReport:
        """Train all rows of the head on draws from all classes."""
        config = self.config
        settings = Alignment(config.align_epochs, config.draws, config.align_lr, config.weight_decay)
        self.head, aligned = aligned_head(self.statistics, self.head, settings, task)
        return joined(report, FitReport(aligned.status))

    def predict(self, batch: Batch) -> Tensor:
        similar = self._similar(batch)
        scores = self.head(self._retrieved(batch, similar))
        if not self.config.ensemble:
            return scores
        return scores.softmax(1) + (len(self.task_sizes) * similar).softmax(1)

    def features(self, batch: Batch) -> Tensor:
        return self._retrieved(batch, self._similar(batch))

    def _similar(self, batch: Batch) -> Tensor:
        """Cosines with all prototypes ``[n, C]``, by the first set."""
        return cosines(self.sets[0](batch), self.prototypes)

    def _retrieved(self, batch: Batch, similar: Tensor) -> Tensor:
        """Features ``[n, d]``, each image's by the set that it settles on (or by the last that it is scored with)."""
        task_of = task_of_column(self.task_sizes)
        tasks = task_of[similar.argmax(1).cpu()]
        features = self._by_sets(batch, tasks)
        moving = torch.arange(len(batch))
        for _ in range(ROUNDS - 1):
            wanted = task_of[self.head(features[moving.to(features.device)]).argmax(1).cpu()]
            moved = wanted != tasks[moving]
            moving = moving[moved]
            if not len(moving):
                break
            tasks[moving] = wanted[moved]
            features[moving.to(features.device)] = self._by_sets(batch.select(moving), tasks[moving])
        return features

    def _by_sets(self, batch: Batch, tasks: Tensor) -> Tensor:
        """Features ``[n, d]`` by the sets of ``tasks`` ``[n]`` (on the CPU)."""
        features = torch.empty(len(batch), self.context.dim, device=self.context.device)
        for t in sorted(set(tasks.tolist())):
            at = torch.nonzero(tasks == t).squeeze(1)
            features[at.to(features.device)] = self.sets[t](batch.select(at))
        return features

    def state_dict(self) -> dict[str, Any]:
        state = self.head.state("head.") | self.statistics.state("statistics.") | saved({"prototypes": self.prototypes})
        for t, own in enumerate(self.sets):
            state |= own.state(f"sets.{t}.")
        return state | {"task_sizes": torch.tensor(self.task_sizes, dtype=torch.int64)}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        device = self.context.device
        self.head = load_head(state, "head.", device)
        self.statistics = load_gaussians(state, "statistics.")
        self.prototypes = state["prototypes"].to(device, copy=True)
        self.task_sizes = state["task_sizes"].tolist()
        tasks = range(len(self.task_sizes))
        self.sets = [self._fixed(load_adapters(state, f"sets.{t}.", device)) for t in tasks]

    def memory_footprint(self) -> Footprint:
        params = self.head.bytes + sum(own.bytes for own in self.sets)
        return Footprint(params=params, statistics=self.statistics.bytes + 4 * self.prototypes.numel())


@torch.no_grad()
def merge(parameters: list[Tensor], mean: list[Tensor], share: float) -> None:
    """Move ``parameters`` by ``share`` of the way to ``mean``, in place."""
    for own, earlier in zip(parameters, mean, strict=True):
        own.mul_(1 - share).add_(earlier, alpha=share)


build = MOS
