"""Finetune: train everything on the new task and do nothing against forgetting. The lower baseline.

The network and a new block of head rows descend the cross-entropy among the new classes only, ``-log softmax(W_new
f(x) + b_new)[y]``; rows of old classes stay as they are but their features drift, and at prediction all rows compete.

Trainable: the whole backbone (at ``backbone_lr``) and the new rows (at ``lr``). Stored: backbone and head.

Departures from the public code, and why:
- the rate is constant where the code names milestones that lie beyond its last epoch; cosine on the glyphs.
- no augmentation, and the network is trained in eval mode (`own_backbone` says why).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from seqsearch.methods._head import empty_head, load_head, local_cross_entropy, new_head
from seqsearch.methods._network import embed, held, own_backbone, saved, saved_under
from seqsearch.methods._training import Descent, Group, Training, descend
from seqsearch.methods.base import Caps, Context, FitReport, Footprint, LogUniform, Method, param
from seqsearch.methods.base import Config as BaseConfig
from seqsearch.methods.data import Batch, TaskData


class Finetune(Method):
    """Cross-entropy on the new classes, whole network; see the module."""

    @dataclass(frozen=True)
    class Config(Training):
        epochs: int = param(
            20, "passes over a task's images", minimum=1, search=(5, 10, 20), embedded=4, embedded_search=(1, 2, 4, 8)
        )
        batch_size: int = param(128, "images per step", minimum=1, embedded=32)
        lr: float = param(
            0.001, "learning rate of the head", minimum=0.0, search=LogUniform(1e-4, 0.05),
            embedded=0.05, embedded_search=LogUniform(0.005, 0.5),
        )  # fmt: skip
        backbone_lr: float = param(
            0.001, "learning rate of the backbone", minimum=0.0, search=LogUniform(1e-5, 0.01),
            embedded=0.005, embedded_search=LogUniform(1e-4, 0.02),
        )  # fmt: skip
        weight_decay: float = param(2e-4, "L2 penalty on what is trained", minimum=0.0, embedded=5e-4)
        scheduler: str = param(
            "constant", "how the learning rate falls", choices=("cosine", "steplr", "constant"), embedded="cosine"
        )

    config: Config
    caps = Caps(design=("full",))

    def __init__(self, context: Context, config: BaseConfig) -> None:
        super().__init__(context, config)
        self.backbone = own_backbone(context)
        self.head = empty_head(context.dim, context.device)

    def fit_task(self, task: TaskData) -> FitReport:
        config, train = self.config, held(task.train, self.context)
        block = new_head(len(task.columns), self.context.dim, task.generator("head"), self.context.device)

        def loss_of(positions: Tensor) -> Tensor:
            part = train.select(positions)
            return local_cross_entropy(block(self.backbone(part.images)), part.targets, task.columns)

        groups = [Group(list(self.backbone.parameters()), config.backbone_lr), Group(block.parameters(), config.lr)]
        report = descend(groups, len(train), Descent.of(config), task.generator("shuffle"), loss_of)
        self.head = self.head.grown(block)
        return report

    def predict(self, batch: Batch) -> Tensor:
        return self.head(self.features(batch))

    def features(self, batch: Batch) -> Tensor:
        return embed(self.backbone, batch)

    def state_dict(self) -> dict[str, Any]:
        return saved(self.backbone.state_dict(), "backbone.") | self.head.state("head.")

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        self.backbone.load_state_dict(saved_under(state, "backbone."))
        self.head = load_head(state, "head.", self.context.device)

    def memory_footprint(self) -> Footprint:
        return Footprint(params=self.head.bytes)


build = Finetune
