"""DER++, dark experience replay: stored images keep the scores that they had, and the network keeps giving these.

"Dark Experience for General Continual Learning: a Strong, Simple Baseline".

The buffer stores images with their classes and with the scores z* that the network gave them. With B new images,
B' and B'' two draws of as many stored images, and z the scores of all classes seen so far, a step descends

    CE(B) + alpha mean (z(x) - z*(x))^2 over x in B' + beta CE(B'').

The mean is over the classes that z* covers, which are the classes seen when the image was stored. The buffer is
a uniform sample of all images seen (`Reservoir`).

Trainable: the whole backbone (at ``backbone_lr``) and all head rows (at ``lr``). Stored: backbone, head, and the
buffer as pool rows, head columns and scores.

Departures from the public code, and why (effects are not measured unless given):

- an image enters the reservoir once, when its task ends (see `er`). Its scores are those at the end of its task.
  The public code stores an image and its scores in the step that learns the image.
- the head grows. The public code has all classes of the sequence from the start. So new images compete with
  classes that have not come yet, and their scores are part of z*.
- schedules, rates and buffer are those of `er`.
- on embedded networks alpha of 0.5 or more can diverge at the default rate of the head if tasks have few classes.
  A lower ``lr`` then helps, such as 0.01.
- alpha 0.3 and beta 0.5 are those of the Mammoth toolbox for CIFAR-100 with 500 stored images. The paper gives
  values for each data set and each size of the buffer. The search spaces cover its grid.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from seqsearch.methods.base import Caps, Context, Footprint
from seqsearch.methods.config import Config as BaseConfig
from seqsearch.methods.config import param
from seqsearch.methods.data import Batch, TaskData
from seqsearch.methods.parts.head import Head
from seqsearch.methods.parts.herding import Herded
from seqsearch.methods.parts.network import saved
from seqsearch.methods.parts.replaying import Replaying, ReplayTraining, Stored
from seqsearch.methods.parts.reservoir import Reservoir


class DarkExperienceReplay(Replaying):
    """Replay of classes and of scores; see the module."""

    @dataclass(frozen=True)
    class Config(ReplayTraining):
        alpha: float = param(
            0.3, "weight of the stored scores", minimum=0.0, maximum=1e6, search=(0.1, 0.2, 0.3, 0.5, 1.0), later=True
        )
        beta: float = param(
            0.5, "weight of the stored classes", minimum=0.0, maximum=1e6, search=(0.5, 1.0), later=True
        )

    config: Config
    caps = Caps(needs_exemplars=True, augmentation="mammoth", design=("exemplar", "full", "functional"))

    def __init__(self, context: Context, config: BaseConfig) -> None:
        super().__init__(context, config)
        self.scores = torch.zeros(0, 0)
        """z* of the stored images ``[m, C]`` on the CPU; 0 for classes that came later."""
        self.seen = torch.zeros(0, dtype=torch.int64)
        """For how many classes each stored image has scores ``[m]``."""

    def loss(self, head: Head, new: Batch, stored: Stored) -> Tensor:
        at = stored.positions(len(new))
        again, old = stored.images.select(at), stored.drawn(len(new))
        loss = functional.cross_entropy(head(self.backbone(new.images)), new.targets)
        moved = head(self.backbone(again.images))
        loss = loss + self.config.alpha * self._moved(moved, at)
        return loss + self.config.beta * functional.cross_entropy(head(self.backbone(old.images)), old.targets)

    def _moved(self, scores: Tensor, at: Tensor) -> Tensor:
        """Mean squared difference of ``scores`` ``[n, C]`` to those of the stored images at ``at`` ``[n]``."""
        width = self.scores.shape[1]
        known = (torch.arange(width) < self.seen[at, None]).to(scores.device)
        squares = (scores[:, :width] - self.scores[at].to(scores.device)).square()
        return squares[known].mean()

    def store(self, task: TaskData, replayed: Reservoir | Herded) -> None:
        super().store(task, replayed)
        before = {row: at for at, row in enumerate(replayed.rows.tolist())}
        places = {row: at for at, row in enumerate(task.train.indices.tolist())}
        rows, classes = self.buffer.rows.tolist(), task.columns.stop
        kept = [(at, before[row]) for at, row in enumerate(rows) if row in before]
        new = [(at, places[row]) for at, row in enumerate(rows) if row not in before]
        scores, seen = torch.zeros(len(rows), classes), torch.full((len(rows),), classes)
        for at, earlier in kept:
            scores[at, : self.scores.shape[1]], seen[at] = self.scores[earlier], self.seen[earlier]
        if new:
            here, there = (torch.tensor(column) for column in zip(*new, strict=True))
            scores[here] = self.predict(task.train.select(there)).cpu()
        self.scores, self.seen = scores, seen

    def state_dict(self) -> dict[str, Any]:
        return super().state_dict() | saved({"scores": self.scores, "seen": self.seen}, "buffer.")

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        super().load_state_dict(state)
        self.scores, self.seen = state["buffer.scores"].clone(), state["buffer.seen"].clone()

    def memory_footprint(self) -> Footprint:
        return replace(super().memory_footprint(), statistics=4 * self.scores.numel())


build = DarkExperienceReplay
