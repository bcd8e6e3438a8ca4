"""Frozen head: a linear head on frozen features, trained task by task. The baseline for prompts and adapters.

The backbone stays as it was pre-trained. A head descends ``-log softmax(W f + b)[y]`` on the new task's
stored features f, among the new classes (``mask=own``, as `finetune`) or among all seen (``mask=seen``).

Trainable: new head rows (with ``mask=seen`` all). Stored: the head. Each image is decoded once, for its
features.

There is no published method, so there are no departures. On a backbone of image-text pairs the features are
of pairs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from torch import Tensor
from torch.nn import functional

from seqsearch.methods.base import Caps, Context, FitReport, Footprint, Method
from seqsearch.methods.config import Config as BaseConfig
from seqsearch.methods.config import LogUniform, param
from seqsearch.methods.data import Batch, TaskData
from seqsearch.methods.parts.head import checked_finite, empty_head, load_head, local_cross_entropy, new_head
from seqsearch.methods.parts.pairs import mask_of
from seqsearch.methods.parts.training import Descent, Group, Training, descend


class FrozenHead(Method):
    """Cross-entropy on stored features; see the module."""

    @dataclass(frozen=True)
    class Config(Training):
        epochs: int = param(20, "passes over a task's features", minimum=1, maximum=10_000, search=(5, 10, 20, 40))
        lr: float = param(
            0.005,
            "learning rate",
            minimum=0.0,
            maximum=1e30,
            search=LogUniform(1e-4, 0.1),
            embedded=0.01,
            embedded_search=LogUniform(1e-3, 0.1),
        )
        weight_decay: float = param(
            0.01, "penalty on the rows that are trained (adamw: decoupled)", minimum=0.0, maximum=1e3
        )
        optimizer: str = param("adamw", "how a step is made", choices=("sgd", "adam", "adamw"))
        mask: str = mask_of("own")

    config: Config
    caps = Caps(input="frozen", trains_backbone=False, design=("parameter-efficient",))

    def __init__(self, context: Context, config: BaseConfig) -> None:
        super().__init__(context, config)
        self.head = empty_head(context.dim, context.device)

    def fit_task(self, task: TaskData) -> FitReport:
        features, targets = task.train.frozen, task.train.targets
        block = new_head(len(task.columns), self.context.dim, task.generator("head"), self.context.device)
        whole = self.config.mask == "seen"
        head = self.head.grown(block).trainable() if whole else block

        def loss_of(positions: Tensor) -> Tensor:
            at = positions.to(features.device)
            if whole:
                return functional.cross_entropy(head(features[at]), targets[at])
            return local_cross_entropy(head(features[at]), targets[at], task.columns)

        groups = [Group(head.parameters(), self.config.lr)]
        report = descend(groups, len(features), Descent.of(self.config), task.generator("shuffle"), loss_of)
        self.head = head.detached() if whole else self.head.grown(block)
        return checked_finite(self.head.parameters(), report)

    def predict(self, batch: Batch) -> Tensor:
        return self.head(batch.frozen)

    def features(self, batch: Batch) -> Tensor:
        return batch.frozen

    def state_dict(self) -> dict[str, Any]:
        return self.head.state("head.")

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        self.head = load_head(state, "head.", self.context.device)

    def memory_footprint(self) -> Footprint:
        return Footprint(params=self.head.bytes)


build = FrozenHead
