"""Methods that replay stored images beside new ones, as the Mammoth toolbox does: hyperparameters, the buffer and the training.

Each step draws a batch of the new task and as many stored images. An image is stored when its task ends, so that replay is of
older tasks only.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import torch
from torch import Tensor
from torch.nn import functional

from seqsearch.methods.base import Context, FitReport, Footprint
from seqsearch.methods.config import Config as BaseConfig
from seqsearch.methods.config import LogUniform, param
from seqsearch.methods.data import Batch, TaskData
from seqsearch.methods.parts import gtep
from seqsearch.methods.parts.augmentation import Learned, learned
from seqsearch.methods.parts.head import Head
from seqsearch.methods.parts.herding import Herded
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

B = TypeVar("B", bound=Reservoir | Herded)


@dataclass(frozen=True)
class ReplayTraining(TwoRates):
    """No paper prints settings of ER for a pre-trained transformer, so these are a usual fine-tuning. From scratch they are those
    of PyCIL's Replay."""

    buffer_size: int = param(2000, "stored images", minimum=1, maximum=10_000_000, embedded=500, tiny=48)
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
    batch_size: int = param(
        32,
        "new images per step; as many stored ones join them",
        minimum=1,
        maximum=100_000,
        embedded=8,
        tiny=16,
    )
    backbone_lr: float = backbone_rate(embedded=0.005)
    weight_decay: float = light_decay(5e-4)
    momentum: float = param(0.0, "of optimizer=sgd", minimum=0.0, maximum=0.999, scratch=0.9)
    scheduler: str = scheduler_of("cosine")

    def drops(self) -> Sequence[float]:
        return 30 / 70, 50 / 70


@dataclass(frozen=True, eq=False)
class Stored:
    """Stored images, as they are learned from, and the generator that draws among them."""

    images: Learned
    generator: torch.Generator

    def positions(self, count: int) -> Tensor:
        """Places ``[m]`` of ``count`` different stored images, or of all if there are fewer."""
        return torch.randperm(len(self.images), generator=self.generator)[:count]

    def drawn(self, count: int) -> Batch:
        """``count`` different stored images, or all if there are fewer."""
        return self.images.select(self.positions(count))


def stored_images(task: TaskData, buffer: Reservoir | Herded, context: Context) -> Stored | None:
    """The images of a buffer; None while it is empty."""
    if not len(buffer):
        return None
    batch = task.replay(buffer.rows.numpy(), buffer.columns.to(context.device))
    images = learned(batch, context, "mammoth", task.generator("augment replay"))
    return Stored(images, task.generator("replay"))


def state_of(buffer: Reservoir | Herded) -> dict[str, Any]:
    """What a method's state holds of its buffer."""
    found = saved({"rows": buffer.rows, "columns": buffer.columns}, "buffer.")
    return found | ({"buffer.offered": buffer.offered} if isinstance(buffer, Reservoir) else {})


def restored(buffer: B, state: Mapping[str, Any]) -> B:
    """The buffer that `state_of` was given, of the kind and the capacity of ``buffer``."""
    kept: dict[str, Any] = {name: state[f"buffer.{name}"].clone() for name in ("rows", "columns")}
    if "buffer.offered" in state:
        kept["offered"] = int(state["buffer.offered"])
    return replace(buffer, **kept)


class Replaying(Tuned):
    """Base of methods that fine-tune the whole network with a reservoir of stored images. A subclass writes `loss`."""

    config: ReplayTraining
    buffer: Reservoir | Herded

    def __init__(self, context: Context, config: BaseConfig) -> None:
        super().__init__(context, config)
        self.buffer = empty_reservoir(self.config.buffer_size)

    @abstractmethod
    def loss(self, head: Head, new: Batch, stored: Stored) -> Tensor:
        """Loss of a step once there are stored images.

        Args:
            head: the head that is trained.
            new: images of the task.
            stored: gives stored images; as many as ``new`` has are meant to be drawn.
        """

    def fit_task(self, task: TaskData) -> FitReport:
        train, head = self.begun(task)
        replayed = self.replayed(task)
        stored = stored_images(task, replayed, self.context) if task.depth else None

        def loss_of(positions: Tensor) -> Tensor:
            new = train.select(positions)
            if stored is None:
                return functional.cross_entropy(head(self.backbone(new.images)), new.targets)
            return self.loss(head, new, stored)

        drawing = [stored.generator, stored.images.generator] if stored else []
        report = self.descend(task, train, head.parameters(), loss_of, drawing)
        self.head = head.detached()
        if report.status == "ok":
            self.store(task, replayed)
        return report

    def replayed(self, task: TaskData) -> Reservoir | Herded:
        """The buffer that a later task's training draws from."""
        return self.buffer

    def store(self, task: TaskData, replayed: Reservoir | Herded) -> None:
        """Offer the task's images to the buffer, which was ``replayed`` while the task was learned."""
        self.buffer = self.offered(task)

    def offered(self, task: TaskData) -> Reservoir:
        """The reservoir after the task's images passed by."""
        assert isinstance(self.buffer, Reservoir)
        rows, columns = torch.from_numpy(task.train.indices), task.train.targets.cpu()
        return self.buffer.offer(rows, columns, task.generator("reservoir"))

    def exemplars(self) -> Rows:
        return self.buffer.rows.numpy()

    def state_dict(self) -> dict[str, Any]:
        return super().state_dict() | state_of(self.buffer)

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        super().load_state_dict(state)
        self.buffer = restored(self.buffer, state)

    def memory_footprint(self) -> Footprint:
        return Footprint(params=self.head.bytes, exemplar_images=len(self.buffer) * self.context.image_bytes)
