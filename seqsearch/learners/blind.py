"""Blind: the most frequent of the last k labels, whatever the image.

"Rapid Adaptation in Online Continual Learning: Are We Evaluating It Right?", section 3.2. Of labels that are equally frequent
it says the one that came last. A sample of a batch is evaluated before labels of its own batch are known.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from seqsearch.learners.base import Learner, LearnerContext, Step
from seqsearch.methods.base import Caps
from seqsearch.methods.config import Config as BaseConfig
from seqsearch.methods.config import param
from seqsearch.methods.data import Batch


class Blind(Learner):
    """The last k labels; see the module."""

    @dataclass(frozen=True)
    class Config(BaseConfig):
        k: int = param(
            1, "labels that are looked back at", minimum=1, maximum=10_000_000, search=(1, 2, 5, 10, 20, 50, 100)
        )

    config: Config
    caps = Caps(input="labels", trains_backbone=False)

    @classmethod
    def seeded(cls, config: BaseConfig) -> bool:
        return False

    def __init__(self, context: LearnerContext, config: BaseConfig) -> None:
        super().__init__(context, config)
        self.last = torch.zeros(0, dtype=torch.int64)
        self.says = -1

    def predict(self, batch: Batch) -> Tensor:
        return torch.full((len(batch),), self.says)

    def learn(self, step: Step) -> None:
        labels = torch.from_numpy(step.labels(np.arange(step.first, step.revealed)))
        self.last = torch.cat([self.last, labels])[-self.config.k :].clone()
        self._look()

    def _look(self) -> None:
        if not len(self.last):
            return
        counts = torch.bincount(self.last)
        frequent = counts[self.last] == counts.max()
        self.says = int(self.last[int(torch.nonzero(frequent)[-1])])

    def state_dict(self) -> dict[str, Any]:
        return {"last": self.last}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        self.last = state["last"]
        self._look()


build = Blind
