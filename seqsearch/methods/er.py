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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.nn import functional

from seqsearch.methods.base import Caps, Context, FitReport, Footprint
from seqsearch.methods.config import Config as BaseConfig
from seqsearch.methods.config import LogUniform, param
from seqsearch.methods.data import Batch, TaskData
from seqsearch.methods.parts import gtep
from seqsearch.methods.parts.augmentation import Learned, learned
from seqsearch.methods.parts.head import first_rows
from seqsearch.methods.parts.herding import Herded, none_herded
from seqsearch.methods.parts.network import saved
from seqsearch.methods.parts.reservoir import Reservoir, empty_reservoir
from seqsearch.methods.parts.tuned import (
    TINY_EPOCHS,
    TINY_LR,
    Tuned,
    TwoRates,
    backbone_rate,
    light_decay,
    scheduler_of,
)

if TYPE_CHECKING:
    from seqsearch.pools.base import Rows


class ExperienceReplay(Tuned):
    """Joint cross-entropy on new images and a reservoir; see the module."""

    @dataclass(frozen=True)
    class Config(TwoRates):
        buffer_size: int = param(2000, "stored images", minimum=1, maximum=10_000_000, embedded=500, tiny=48)
        buffer: str = param(
            "reservoir",
            "which images are stored: a uniform sample, or the same number of each class by herding",
            choices=("reservoir", "herding"),
        )
        epochs: int = param(
            5,
            "passes over a task's images",
            minimum=1,
            maximum=10_000,
            search=(1, 3, 5, 10),
            embedded=3,
            embedded_search=(1, 3, 5, 10),
            scratch=70,
            scratch_search=gtep.EPOCHS,
            tiny=15,
            tiny_search=TINY_EPOCHS,
        )
        lr: float = param(
            0.01,
            "learning rate of the head",
            minimum=0.0,
            maximum=1e30,
            search=LogUniform(1e-3, 0.1),
            embedded=0.1,
            embedded_search=LogUniform(0.01, 0.5),
            scratch=0.1,
            scratch_search=gtep.LR,
            tiny=0.05,
            tiny_search=TINY_LR,
        )
        backbone_lr: float = backbone_rate(embedded=0.005)
        batch_size: int = param(
            32,
            "new images per step; as many stored ones join them",
            minimum=1,
            maximum=100_000,
            embedded=8,
            tiny=16,
        )
        weight_decay: float = light_decay(5e-4)
        momentum: float = param(0.0, "of optimizer=sgd", minimum=0.0, maximum=0.999, scratch=0.9)
        scheduler: str = scheduler_of("cosine")

        def drops(self) -> Sequence[float]:
            return 30 / 70, 50 / 70

    config: Config
    caps = Caps(needs_exemplars=True, augmentation="mammoth", design=("exemplar", "full"))

    def __init__(self, context: Context, config: BaseConfig) -> None:
        super().__init__(context, config)
        size = self.config.buffer_size
        self.buffer: Reservoir | Herded = none_herded(size)
        if self.config.buffer == "reservoir":
            self.buffer = empty_reservoir(size)

    def fit_task(self, task: TaskData) -> FitReport:
        train, stored = learned(task.train, self.context, "mammoth", task.generator("augment")), self._stored(task)
        block = first_rows(self.context, len(task.columns), task.generator("head"))
        head = self.head.grown(block).trainable()
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

    def _stored(self, task: TaskData) -> Learned | None:
        """The buffer's images; None while it is empty."""
        if not len(self.buffer):
            return None
        batch = task.replay(self.buffer.rows.numpy(), self.buffer.columns.to(self.context.device))
        return learned(batch, self.context, "mammoth", task.generator("augment replay"))

    def exemplars(self) -> Rows:
        return self.buffer.rows.numpy()

    def state_dict(self) -> dict[str, Any]:
        buffer = saved({"rows": self.buffer.rows, "columns": self.buffer.columns}, "buffer.")
        if isinstance(self.buffer, Reservoir):
            buffer["buffer.offered"] = self.buffer.offered
        return super().state_dict() | buffer

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        super().load_state_dict(state)
        size, rows, columns = self.config.buffer_size, state["buffer.rows"].clone(), state["buffer.columns"].clone()
        if isinstance(self.buffer, Reservoir):
            self.buffer = Reservoir(size, rows, columns, int(state["buffer.offered"]))
        else:
            self.buffer = Herded(size, rows, columns)

    def memory_footprint(self) -> Footprint:
        return Footprint(params=self.head.bytes, exemplar_images=len(self.buffer) * self.context.image_bytes)


build = ExperienceReplay
