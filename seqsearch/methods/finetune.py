"""Finetune: train everything on the new task and do nothing against forgetting. The lower baseline.

The network and a new block of head rows descend the cross-entropy among the new classes only, ``-log softmax(W_new
f(x) + b_new)[y]``; rows of old classes stay as they are but their features drift, and at prediction all rows compete.

Trainable: the whole backbone (at ``backbone_lr``) and the new rows (at ``lr``). Stored: backbone and head.

Departures from the public code, and why:
- the rate is constant where the code names milestones that lie beyond its last epoch; cosine on the glyphs.
- no augmentation, and the network is trained in eval mode (`own_backbone` says why).
"""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from seqsearch.methods.base import Caps, FitReport
from seqsearch.methods.config import param
from seqsearch.methods.data import TaskData
from seqsearch.methods.parts.augmentation import learned
from seqsearch.methods.parts.checkpoint import Live
from seqsearch.methods.parts.head import local_cross_entropy, new_head
from seqsearch.methods.parts.training import Descent, Group, descend
from seqsearch.methods.parts.tuned import Tuned, TunedTraining


class Finetune(Tuned):
    """Cross-entropy on the new classes, whole network; see the module."""

    @dataclass(frozen=True)
    class Config(TunedTraining):
        scheduler: str = param(
            "constant", "how the learning rate falls", choices=("cosine", "steplr", "constant"), embedded="cosine"
        )

    config: Config
    caps = Caps(pairs=True, augmentation="pilot", design=("full",))

    def fit_task(self, task: TaskData) -> FitReport:
        config, train = self.config, learned(task.train, self.context, "pilot", task.generator("augment"))
        block = new_head(len(task.columns), self.context.dim, task.generator("head"), self.context.device)

        def loss_of(positions: Tensor) -> Tensor:
            part = train.select(positions)
            return local_cross_entropy(block(self.backbone(part.inputs)), part.targets, task.columns)

        groups = [Group(list(self.backbone.parameters()), config.backbone_lr), Group(block.parameters(), config.lr)]
        report = descend(
            groups,
            len(train),
            Descent.of(config),
            task.generator("shuffle"),
            loss_of,
            live=Live(self.learning, [train.generator], task.progress),
        )
        self.head = self.head.grown(block)
        return report


build = Finetune
