"""Common parts of methods that replay stored images beside new ones, as the Mammoth toolbox does: hyperparameters and the buffer.

Each step draws a batch of the new task and as many stored images. An image is stored when its task ends, so that replay is of
older tasks only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from seqsearch.methods.base import Context
from seqsearch.methods.config import LogUniform, param
from seqsearch.methods.data import TaskData
from seqsearch.methods.parts import gtep
from seqsearch.methods.parts.augmentation import Learned, learned
from seqsearch.methods.parts.herding import Herded
from seqsearch.methods.parts.network import saved
from seqsearch.methods.parts.reservoir import Reservoir
from seqsearch.methods.parts.tuned import TINY_EPOCHS, TINY_LR, TwoRates, scheduler_of


@dataclass(frozen=True)
class ReplayTraining(TwoRates):
    """No paper prints settings of ER for a pre-trained transformer, so these are a usual fine-tuning. From scratch they are those
    of PyCIL's Replay."""

    buffer_size: int = param(2000, "stored images", minimum=1, maximum=10_000_000, embedded=500)
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
    momentum: float = param(0.0, "of optimizer=sgd", minimum=0.0, maximum=0.999, scratch=0.9)
    scheduler: str = scheduler_of("cosine")

    def drops(self) -> Sequence[float]:
        return 30 / 70, 50 / 70


def stored_images(task: TaskData, buffer: Reservoir | Herded, context: Context) -> Learned | None:
    """The images of a buffer, as they are learned from; None while it is empty."""
    if not len(buffer):
        return None
    batch = task.replay(buffer.rows.numpy(), buffer.columns.to(context.device))
    return learned(batch, context, "mammoth", task.generator("augment replay"))


def state_of(buffer: Reservoir | Herded) -> dict[str, Any]:
    """What a method's state holds of its buffer."""
    found = saved({"rows": buffer.rows, "columns": buffer.columns}, "buffer.")
    return found | ({"buffer.offered": buffer.offered} if isinstance(buffer, Reservoir) else {})


def reservoir_of(state: Mapping[str, Any], size: int) -> Reservoir:
    """The reservoir that `state_of` was given."""
    rows, columns = state["buffer.rows"].clone(), state["buffer.columns"].clone()
    return Reservoir(size, rows, columns, int(state["buffer.offered"]))
