"""WA, weight aligning: distil the old classes' scores, then scale the new rows of the head to the length of the old ones.

"Maintaining Discrimination and Fairness in Class Incremental Learning".

Let z be the scores of the network being trained, and o those of the network before the task for the old
classes. Both are on new images and exemplars together. Let k be the share of old classes among all. The loss
is

    (1 - k) CE(z, y) + k KD(z_old, o),    KD(z, o) = - sum_c softmax(o / T)_c log softmax(z / T)_c.

New classes have more images, so their rows of the head grow longer and their scores larger. After each task
but the first the new rows are multiplied by ``mean ||w_old|| / mean ||w_new||`` (weight aligning), and the
next task starts from there. With ``lamb`` 0 the two losses have the weights above. With any other value the
loss is that of GTEP: ``CE + lambda KD``.

Trainable: the whole network and all head rows. Stored: network (batch statistics too), head, exemplars as
pool rows, and the means of their features for the second classifier, ``nme``. The old network is not stored:
it is the state before the task.

Departures from the public code (PyCIL), and why (effects are not measured unless given):

- rates fall by the step. Weights of the first task are drawn from its seed. New head rows start with equal
  values in all continuations of one state.
- rows are aligned once. PyCIL aligns twice, and the second time changes nothing. Biases are left as they are,
  as in PyCIL.
- the paper also keeps weights from becoming negative in training (weight clipping). PyCIL and this method do
  not.

On ``scratch:tiny`` lambda is 1. With the share of old classes as weight, cross-entropy had too little weight
in 15 epochs (three draws of classes, published weight decay). Values of lambda = 0.5 and 2 did no better.
With that decay new rows also stay shorter than old rows there, and aligning prefers new classes even more. So
weight decay is larger (`seqsearch.methods.parts.training.SHORT_DECAY`). docs/method_measurements.md has the
accuracies.
"""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional

from seqsearch.methods.base import FitReport
from seqsearch.methods.data import Batch, TaskData
from seqsearch.methods.parts.head import distillation, weighed, weight_aligned
from seqsearch.methods.parts.single import DISTILLED, Single, WeighedDistillation


class WA(Single):
    """Distillation, and new head rows of the length of old ones; see the module."""

    Config = WeighedDistillation
    config: WeighedDistillation
    caps = DISTILLED

    def fit_task(self, task: TaskData) -> FitReport:
        config, head, old = self.config, self.grown_head(task), task.columns.start
        old_scores, share = self.answers(), old / task.columns.stop

        def loss_of(part: Batch) -> Tensor:
            scores = head(self.backbone(part.images))
            loss = functional.cross_entropy(scores, part.targets)
            if not old:
                return loss
            kd = distillation(scores[:, :old], old_scores(part.images), config.temperature)
            return weighed(loss, kd, config.lamb, share)

        report = self.train(task, self.with_exemplars(task), self.groups(task, head), [self.backbone], loss_of)
        return self.finish(task, weight_aligned(head, old), report)


build = WA
