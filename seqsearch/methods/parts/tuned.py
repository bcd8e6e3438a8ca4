"""What methods share that train the whole network: its place beside a growing head, and the rates of both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from seqsearch.methods.base import Context, Footprint, Method
from seqsearch.methods.config import Config as BaseConfig
from seqsearch.methods.config import LogUniform, param
from seqsearch.methods.data import Batch
from seqsearch.methods.parts.head import empty_head, load_head
from seqsearch.methods.parts.network import embed, own_backbone, saved, saved_under, statistics_of
from seqsearch.methods.parts.training import SHORT_DECAY, Training


def head_rate(embedded: float) -> Any:
    """A parameter, with its value on the embedded backbone."""
    return param(
        0.001, "learning rate of the head", minimum=0.0, maximum=1e30, search=LogUniform(1e-4, 0.05),
        embedded=embedded, embedded_search=LogUniform(0.005, 0.5), scratch=0.1, tiny=0.05,
    )  # fmt: skip


def backbone_rate(embedded: float) -> Any:
    """A parameter, with its value on the embedded backbone."""
    return param(
        0.001, "learning rate of the backbone", minimum=0.0, maximum=1e30, search=LogUniform(1e-5, 0.01),
        embedded=embedded, embedded_search=LogUniform(1e-4, 0.02), scratch=0.1, tiny=0.05,
    )  # fmt: skip


def light_decay(published: float = 2e-4) -> Any:
    """A parameter: weight decay, with the ``published`` value as its default and a larger one on ``scratch:tiny``."""
    return param(
        published, "L2 penalty on what is trained", minimum=0.0, maximum=1e3, embedded=5e-4, tiny=SHORT_DECAY
    )  # fmt: skip


@dataclass(frozen=True)
class TunedTraining(Training):
    """PILOT's settings for fine-tuning a pre-trained transformer, PyCIL's for a network from scratch."""

    epochs: int = param(
        20, "passes over a task's images", minimum=1, maximum=10_000, search=(5, 10, 20), embedded=4,
        embedded_search=(2, 4, 8), scratch=80, tiny=15,
    )  # fmt: skip
    batch_size: int = param(128, "images per step", minimum=1, maximum=100_000, embedded=32, tiny=16)
    lr: float = head_rate(embedded=0.05)
    backbone_lr: float = backbone_rate(embedded=0.005)
    weight_decay: float = param(2e-4, "L2 penalty on what is trained", minimum=0.0, maximum=1e3, embedded=5e-4)


class Tuned(Method):
    """A network of one's own and a head, which predict and are saved; a subclass says how they learn."""

    def __init__(self, context: Context, config: BaseConfig) -> None:
        super().__init__(context, config)
        self.backbone = own_backbone(context)
        self.learning = statistics_of(context, self.backbone)
        """Networks that are trained in train mode."""
        self.head = empty_head(context.dim, context.device)

    def predict(self, batch: Batch) -> Tensor:
        return self.head(self.features(batch))

    def features(self, batch: Batch) -> Tensor:
        return embed(self.backbone, batch)

    def state_dict(self) -> dict[str, Any]:
        return saved(self.backbone.state_dict(), "backbone.") | self.head.state("head.")

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        self.backbone.load_state_dict(saved_under(state, "backbone."))
        self.head = load_head(state, "head.", self.context.device)

    def memory_footprint(self) -> Footprint:
        return Footprint(params=self.head.bytes)
