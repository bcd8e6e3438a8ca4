"""LwF, learning without forgetting: distil the old network's scores of the old classes, on new images.

"Learning without Forgetting".

No old image is kept. The old network scores each NEW image for the old classes, and the new network learns
these scores. With z the scores of the network being trained and o those of the network before the task,

    loss = CE(z_new, y) + lambda KD(z_old, o),    KD(z, o) = - sum_c softmax(o / T)_c log softmax(z / T)_c,

where z_new are the scores of the new classes (cross-entropy among them alone) and z_old those of the old
classes. With ``align`` the new rows of the head are scaled to the mean norm of the old rows afterwards
(`weight_aligned`).

Trainable: the whole backbone (at ``backbone_lr``) and all head rows (at ``lr``). Old rows learn by
distillation alone. Stored: backbone and head. The old network is not stored: it is the state before the task.

Departures from the public code, and why (effects are not measured unless given):

- if images are not augmented, the old network's scores are computed once, before training. They are the same
  numbers, and no second network stays in memory. On a backbone of image-text pairs they are computed at each
  step, because a pool may draw the texts of a step.
- on a pre-trained network epochs and rates are PILOT's for fine-tuning a transformer, and the network stays
  in eval mode (`own_backbone`).
- the rate falls by the step, not by the epoch.
- as in the public code, all is trained at once. The paper first trains the new head rows alone (its warm-up).

On a backbone of image-text pairs "image" stands for a pair, here and above.

From scratch the schedules are PyCIL's: 200 epochs for the first task with drops after 60, 120 and 160, then
250 with drops after 60, 120, 180 and 220.

On ``scratch:tiny`` it was not better than `finetune` with any lambda that was tried, and on ``glyph_flava`` no
difference is shown. docs/method_measurements.md has sweeps. Its values are as published.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from torch import Tensor

from seqsearch.methods.base import Caps, FitReport
from seqsearch.methods.config import param
from seqsearch.methods.data import Batch, TaskData
from seqsearch.methods.parts.augmentation import Learned
from seqsearch.methods.parts.head import (
    checked_finite,
    distillation,
    local_cross_entropy,
    weight_aligned,
)
from seqsearch.methods.parts.network import embed
from seqsearch.methods.parts.tuned import Tuned, TunedTraining, backbone_rate, epochs_of


class LwF(Tuned):
    """Cross-entropy on new classes, distillation on old ones; see the module."""

    @dataclass(frozen=True)
    class Config(TunedTraining):
        epochs: int = epochs_of(250)
        backbone_lr: float = backbone_rate(embedded=0.0003)
        lamb: float = param(
            3.0,
            "lambda: weight of the distillation",
            minimum=0.0,
            maximum=1e12,
            search=(1.0, 3.0, 10.0),
            embedded=1.0,
            later=True,
        )
        temperature: float = param(2.0, "T of the distillation", minimum=0.01, maximum=1e6, later=True)
        align: bool = param(False, "scale new head rows to the norm of old ones after each task", search=(False, True))

        def first_drops(self) -> Sequence[float]:
            return 60 / 200, 120 / 200, 160 / 200

        def drops(self) -> Sequence[float]:
            return 60 / 250, 120 / 250, 180 / 250, 220 / 250

    config: Config
    caps = Caps(pairs=True, augmentation="pycil", design=("full", "functional"))

    def fit_task(self, task: TaskData) -> FitReport:
        config, old = self.config, task.columns.start
        train, head = self.begun(task)
        answers = self._answers(train)

        def loss_of(positions: Tensor) -> Tensor:
            part = train.select(positions)
            scores = head(self.backbone(part.inputs))
            loss = local_cross_entropy(scores[:, old:], part.targets, task.columns)
            if not old:
                return loss
            return loss + config.lamb * distillation(scores[:, :old], answers(positions, part), config.temperature)

        report = self.descend(task, train, head.parameters(), loss_of)
        self.head = weight_aligned(head, old) if config.align else head.detached()
        return checked_finite(self.head.parameters(), report)

    def _answers(self, train: Learned) -> Callable[[Tensor, Batch], Tensor]:
        """Return the scores of the present network: a function of positions ``[m]`` and of the images there, as
        augmented."""
        if train.fixed:
            known = self.predict(train.batch)
            return lambda positions, part: known[positions.to(known.device)]
        network, head = copy.deepcopy(self.backbone).requires_grad_(False), self.head
        return lambda positions, part: head(embed(network, part))


build = LwF
