"""ER-ACE, replay with an asymmetric cross-entropy: new images do not push down the scores of old classes.

"New Insights on Reducing Abrupt Representation Change in Online Continual Learning".

A joint cross-entropy on new and stored images changes the features of old classes abruptly when a task begins,
because each new image lowers the scores of all old classes. ER-ACE scores new images among fewer classes. With B
new images and B' as many stored images, a step descends

    CE(B, among the classes of the images in B) + CE(B', among all classes seen).

In the first task the cross-entropy is among all classes of the task, and nothing is replayed. The buffer is a
uniform sample of all images seen, the present task's included (`Reservoir`). Only these stored images of the present
task compare new classes with old ones.

Trainable: the whole backbone (at ``backbone_lr``) and all head rows (at ``lr``). Stored: backbone, head, and the
buffer as pool rows and head columns.

The stream learner ``ace`` of ``seqsearch online`` has the same loss.

Departures from the public code, and why (effects are not measured unless given):

- the images of a task enter the reservoir once, before the task is learned. The public code offers an image in each
  epoch, in the step that learns it.
- the head grows. The public code has all classes of the sequence from the start, and new images compete with
  classes that have not come yet. A slip adds the class with the highest number so far.
- the head is linear as in the other methods here. The public code has cosines times 10.
- schedules, rates and buffer are those of `er`.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from seqsearch.methods.base import Caps
from seqsearch.methods.data import Batch, TaskData
from seqsearch.methods.parts.head import Head
from seqsearch.methods.parts.herding import Herded
from seqsearch.methods.parts.replaying import Replaying, ReplayTraining, Stored
from seqsearch.methods.parts.reservoir import Reservoir


class AsymmetricReplay(Replaying):
    """Replay with an asymmetric cross-entropy; see the module."""

    Config = ReplayTraining
    config: ReplayTraining
    caps = Caps(needs_exemplars=True, augmentation="mammoth", design=("exemplar", "full"))

    def replayed(self, task: TaskData) -> Reservoir:
        return self.offered(task)

    def store(self, task: TaskData, replayed: Reservoir | Herded) -> None:
        self.buffer = replayed

    def loss(self, head: Head, new: Batch, stored: Stored) -> Tensor:
        old = stored.drawn(len(new))
        scores = head(self.backbone(new.images))
        absent = torch.ones(scores.shape[1], dtype=torch.bool, device=scores.device)
        absent[new.targets] = False
        loss = functional.cross_entropy(scores.masked_fill(absent, -torch.inf), new.targets)
        return loss + functional.cross_entropy(head(self.backbone(old.images)), old.targets)


build = AsymmetricReplay
