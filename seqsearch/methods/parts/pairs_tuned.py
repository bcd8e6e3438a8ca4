"""Common parts of methods of image-text pairs that train the whole network."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from seqsearch.methods.base import Caps, Context, FitReport
from seqsearch.methods.config import Config as BaseConfig
from seqsearch.methods.config import LogUniform, param
from seqsearch.methods.data import Batch, TaskData
from seqsearch.methods.parts.network import own_backbone, saved, saved_under
from seqsearch.methods.parts.pairs import Batches, PairMethod, PairTraining


@dataclass(frozen=True)
class WholeTraining(PairTraining):
    """Section 4.1: AdamW at 1e-5."""

    lr: float = param(
        1e-5,
        "learning rate of the network",
        minimum=0.0,
        maximum=1e30,
        search=LogUniform(1e-6, 1e-3),
        embedded=1e-4,
        embedded_search=LogUniform(3e-5, 3e-3),
    )
    head_lr: float = param(
        0.0, "learning rate of the head; 0: that of the network, as published", minimum=0.0, maximum=1e30, embedded=0.01
    )
    scheduler: str = param(
        "constant", "how the learning rate falls", choices=("cosine", "steplr", "constant"), embedded="cosine"
    )

    def rate_of_head(self) -> float:
        return self.head_lr or self.lr


class PairTuned(PairMethod):
    """A network of one's own, all of which is trained."""

    Config = WholeTraining
    config: WholeTraining
    caps = Caps(backbones="pairs", design=("full",))

    def __init__(self, context: Context, config: BaseConfig) -> None:
        super().__init__(context, config)
        self.network: Any = own_backbone(context)

    def tuned(self, task: TaskData, data: Batch, batches: Batches | None = None) -> FitReport:
        """Train the network and the head on ``data``, see `descended`."""
        weights = list(self.network.parameters())
        return self.descended(task, data, weights, lambda part: (self.network(part.inputs), 0.0), batches)

    def look(self, part: Batch) -> Tensor:
        found: Tensor = self.network(part.inputs)
        return found

    def state_dict(self) -> dict[str, Any]:
        return super().state_dict() | saved(self.network.state_dict(), "network.")

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        super().load_state_dict(state)
        self.network.load_state_dict(saved_under(state, "network."))
