"""A whole learner of streams, to copy: class means that forget. ``--methods learner.py:FadingMeans:keep=0.9``"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from seqsearch.learners.base import Learner, LearnerContext, Step
from seqsearch.methods import config
from seqsearch.methods.base import Caps
from seqsearch.methods.data import Batch


class FadingMeans(Learner):
    """The nearest mean of frozen features, by cosine; at each step sums are multiplied by ``keep``."""

    @dataclass(frozen=True)
    class Config(config.Config):
        keep: float = config.param(0.95, "share of the sums that a step leaves", minimum=0.0, maximum=1.0)

    config: Config
    caps = Caps(input="frozen", trains_backbone=False)

    def __init__(self, context: LearnerContext, config: config.Config) -> None:
        super().__init__(context, config)
        self.sums = torch.zeros(context.n_classes, context.dim, device=context.device)

    def predict(self, batch: Batch) -> Tensor:
        norms = self.sums.norm(dim=1)
        if not bool(norms.any()):
            return torch.full((len(batch),), -1)
        return (batch.frozen @ self.sums.T / norms).nan_to_num(-torch.inf, -torch.inf, -torch.inf).argmax(1)

    def learn(self, step: Step) -> None:
        self.sums *= self.config.keep
        self.sums.index_add_(0, step.batch.targets, step.batch.frozen)

    def state_dict(self) -> dict[str, Any]:
        return {"sums": self.sums.cpu().clone()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        self.sums = state["sums"].to(self.context.device)
