"""ER, experience replay: learn new images and a small uniform sample of the old ones together.

"On Tiny Episodic Memories in Continual Learning".

Each step draws a batch of the new task and as many images from the buffer. It descends the cross-entropy of
both together over ALL classes seen so far. With ``buffer=reservoir`` the buffer is a uniform sample of all
images seen (`Reservoir`). With ``buffer=herding`` it is divided equally among the classes. Each class keeps
the images that are closest to its mean feature at the end of its task (`Herded`, as PyCIL's "Replay" does).

Trainable: the whole backbone (at ``backbone_lr``) and all head rows (at ``lr``). Stored: backbone, head, and
the buffer as pool rows and head columns (pixels stay in the pool).

Departures from the public code, and why (effects are not measured unless given):

- an image enters the reservoir once, when its task ends. Once an epoch would inflate the count and fill the
  buffer with duplicates. So replay is of older tasks only.
- the backbone learns slower than the head. At one common rate a pre-trained network loses more than it gains.
  As in the public code there is no momentum: with the few steps of a small task it overshoots toward the new
  classes.
- a pre-trained network has a cosine schedule and stays in eval mode (`own_backbone`).
- no paper prints defaults of ER for a pre-trained transformer (CLDyB tunes on its first three tasks), and
  Mammoth's are for small networks from scratch. The defaults here are a usual fine-tuning and 2000 images;
  tune them.

From scratch the defaults are those of PyCIL's Replay: 200 epochs for the first task, then 70 with drops after
30 and 50, with momentum.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from seqsearch.methods.base import Caps, Context
from seqsearch.methods.config import Config as BaseConfig
from seqsearch.methods.config import param
from seqsearch.methods.data import Batch, TaskData
from seqsearch.methods.parts.head import Head
from seqsearch.methods.parts.herding import Herded, none_herded
from seqsearch.methods.parts.replaying import Replaying, ReplayTraining, Stored
from seqsearch.methods.parts.reservoir import Reservoir


class ExperienceReplay(Replaying):
    """Joint cross-entropy on new images and a reservoir; see the module."""

    @dataclass(frozen=True)
    class Config(ReplayTraining):
        buffer: str = param(
            "reservoir",
            "which images are stored: a uniform sample, or the same number of each class by herding",
            choices=("reservoir", "herding"),
        )

    config: Config
    caps = Caps(needs_exemplars=True, augmentation="mammoth", design=("exemplar", "full"))

    def __init__(self, context: Context, config: BaseConfig) -> None:
        super().__init__(context, config)
        if self.config.buffer == "herding":
            self.buffer = none_herded(self.config.buffer_size)

    def loss(self, head: Head, new: Batch, stored: Stored) -> Tensor:
        old = stored.drawn(len(new))
        scores = head(self.backbone(torch.cat([new.images, old.images])))
        return functional.cross_entropy(scores, torch.cat([new.targets, old.targets]))

    def store(self, task: TaskData, replayed: Reservoir | Herded) -> None:
        if isinstance(replayed, Herded):
            train = task.train
            rows, columns = torch.from_numpy(train.indices), train.targets.cpu()
            self.buffer = replayed.offer(rows, columns, self.features(train), task.columns)
        else:
            super().store(task, replayed)


build = ExperienceReplay
