"""Finetune: train the whole network on the new task, with nothing against forgetting. The lower baseline.

The network and a new block of head rows descend the cross-entropy among the new classes only,
``-log softmax(W_new f(x) + b_new)[y]``. Rows of old classes stay as they are, but their features drift. At
prediction all rows compete.

Trainable: the whole backbone (at ``backbone_lr``) and the new rows (at ``lr``). Stored: backbone and head.

Departures from the public code, and why (effects are not measured unless given):

- on a pre-trained network the rate is constant, because PILOT's milestones lie beyond its last epoch. On the
  glyphs it is a cosine.
- a pre-trained network is trained in eval mode (`own_backbone` has the reason).
- the rate falls by the step, not by the epoch.
- weight decay acts on trained weights alone. PyCIL's decay shrinks old head rows, too. With its published
  schedule, on ten tasks of CIFAR-100, a row keeps 0.71 of its length in each later task. ``ewc:lamb=0``
  trains as PyCIL does.

From scratch the schedules are PyCIL's: 200 epochs for the first task, then 80 with drops after 40 and 70.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from seqsearch.methods.base import Caps, FitReport
from seqsearch.methods.data import TaskData
from seqsearch.methods.parts.augmentation import learned
from seqsearch.methods.parts.head import first_rows, local_cross_entropy
from seqsearch.methods.parts.tuned import Tuned, TunedTraining, scheduler_of


class Finetune(Tuned):
    """Cross-entropy on the new classes, whole network; see the module."""

    @dataclass(frozen=True)
    class Config(TunedTraining):
        scheduler: str = scheduler_of("constant")

        def drops(self) -> Sequence[float]:
            return 40 / 80, 70 / 80

    config: Config
    caps = Caps(pairs=True, augmentation="pilot", design=("full",))

    def fit_task(self, task: TaskData) -> FitReport:
        train = learned(task.train, self.context, "pilot", task.generator("augment"))
        block = first_rows(self.context, len(task.columns), task.generator("head"))

        def loss_of(positions: Tensor) -> Tensor:
            part = train.select(positions)
            return local_cross_entropy(block(self.backbone(part.inputs)), part.targets, task.columns)

        report = self.descend(task, train, block.parameters(), loss_of)
        self.head = self.head.grown(block)
        return report


build = Finetune
