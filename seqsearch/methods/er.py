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

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.nn import functional

from seqsearch.methods.base import Caps, Context, FitReport, Footprint
from seqsearch.methods.config import Config as BaseConfig
from seqsearch.methods.config import param
from seqsearch.methods.data import Batch, TaskData
from seqsearch.methods.parts.herding import Herded, none_herded
from seqsearch.methods.parts.replaying import ReplayTraining, reservoir_of, state_of, stored_images
from seqsearch.methods.parts.reservoir import Reservoir, empty_reservoir
from seqsearch.methods.parts.tuned import Tuned, backbone_rate, light_decay

if TYPE_CHECKING:
    from seqsearch.pools.base import Rows


class ExperienceReplay(Tuned):
    """Joint cross-entropy on new images and a reservoir; see the module."""

    @dataclass(frozen=True)
    class Config(ReplayTraining):
        buffer_size: int = param(2000, "stored images", minimum=1, maximum=10_000_000, embedded=500, tiny=48)
        buffer: str = param(
            "reservoir",
            "which images are stored: a uniform sample, or the same number of each class by herding",
            choices=("reservoir", "herding"),
        )
        backbone_lr: float = backbone_rate(embedded=0.005)
        weight_decay: float = light_decay(5e-4)

    config: Config
    caps = Caps(needs_exemplars=True, augmentation="mammoth", design=("exemplar", "full"))

    def __init__(self, context: Context, config: BaseConfig) -> None:
        super().__init__(context, config)
        size = self.config.buffer_size
        self.buffer: Reservoir | Herded = none_herded(size)
        if self.config.buffer == "reservoir":
            self.buffer = empty_reservoir(size)

    def fit_task(self, task: TaskData) -> FitReport:
        train, head = self.begun(task)
        stored = stored_images(task, self.buffer, self.context)
        draw = task.generator("replay")
        drawing = [draw, *([stored.generator] if stored else [])]

        def loss_of(positions: Tensor) -> Tensor:
            parts = [train.select(positions)]
            if stored is not None:
                parts.append(stored.select(torch.randperm(len(stored), generator=draw)[: len(positions)]))
            images, targets = torch.cat([p.images for p in parts]), torch.cat([p.targets for p in parts])
            return functional.cross_entropy(head(self.backbone(images)), targets)

        report = self.descend(task, train, head.parameters(), loss_of, drawing)
        self.head = head.detached()
        if report.status == "ok":
            self._store(task, train.batch)
        return report

    def _store(self, task: TaskData, train: Batch) -> None:
        """Offer the task's images to the buffer."""
        rows, columns = torch.from_numpy(train.indices), train.targets.cpu()
        if isinstance(self.buffer, Reservoir):
            self.buffer = self.buffer.offer(rows, columns, task.generator("reservoir"))
        else:
            self.buffer = self.buffer.offer(rows, columns, self.features(train), task.columns)

    def exemplars(self) -> Rows:
        return self.buffer.rows.numpy()

    def state_dict(self) -> dict[str, Any]:
        return super().state_dict() | state_of(self.buffer)

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        super().load_state_dict(state)
        size = self.config.buffer_size
        if isinstance(self.buffer, Reservoir):
            self.buffer = reservoir_of(state, size)
        else:
            self.buffer = Herded(size, state["buffer.rows"].clone(), state["buffer.columns"].clone())

    def memory_footprint(self) -> Footprint:
        return Footprint(params=self.head.bytes, exemplar_images=len(self.buffer) * self.context.image_bytes)


build = ExperienceReplay
