"""WA, weight aligning: distil the old classes' scores, then scale the new rows of the head to the length of the old ones.

"Maintaining Discrimination and Fairness in Class Incremental Learning".

With z the scores of the network being trained and o those of the network as it was before the task for the old classes, both
on new images and exemplars together, and k the share of old classes among all,

    (1 - k) CE(z, y) + k KD(z_old, o),    KD(z, o) = - sum_c softmax(o / T)_c log softmax(z / T)_c.

The new classes have the more images, so that their rows of the head grow longer and their scores larger. After each task but
the first the new rows are multiplied by ``mean ||w_old|| / mean ||w_new||`` (weight aligning), and the next task goes on from
there. With ``lamb`` 0 the two losses are weighed by k as above; with any other value as in GTEP: ``CE + lambda KD``.

Trainable: the whole network and all head rows. Stored: network (batch statistics too), head, exemplars as pool rows, and the
means of their features for the second classifier, ``nme``. The old network is not stored: it is the state before the task.

Departures from the public code (PyCIL), and why (effects are not measured unless given):
- rates fall by the step, weights of the first task are drawn from its seed, and new head rows start alike in all continuations of
  one state.
- rows are aligned once; in PyCIL twice, and the second time changes nothing. Biases are left as they are, as in PyCIL.
- the paper also keeps weights from becoming negative in training (weight clipping); PyCIL does not, nor does this.

On ``scratch:tiny`` lambda is 1: on three draws of classes, with the published weight decay, the share of old classes left
cross-entropy too little weight in 15 epochs; lambda = .5 and 2 did no better. With that decay new rows also stay shorter than old
ones there, and aligning prefers new classes all the more; hence a larger one (`seqsearch.methods.parts.training.SHORT_DECAY`).
docs/methods.md has the accuracies.
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
