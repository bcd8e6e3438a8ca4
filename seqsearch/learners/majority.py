"""Majority: the class that most revealed samples are of, whatever the image; of several the first column."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor

from seqsearch.learners.base import Learner, LearnerContext, Step
from seqsearch.methods.base import Caps
from seqsearch.methods.config import Config
from seqsearch.methods.data import Batch


class Majority(Learner):
    """Counts ``[C]``; see the module."""

    caps = Caps(input="labels", trains_backbone=False)

    def __init__(self, context: LearnerContext, config: Config) -> None:
        super().__init__(context, config)
        self.counts = torch.zeros(context.n_classes, dtype=torch.int64)

    def predict(self, batch: Batch) -> Tensor:
        return torch.full((len(batch),), int(self.counts.argmax()) if bool(self.counts.any()) else -1)

    def learn(self, step: Step) -> None:
        labels = torch.from_numpy(step.labels(np.arange(step.first, step.revealed)))
        self.counts += torch.bincount(labels, minlength=len(self.counts))

    def state_dict(self) -> dict[str, Any]:
        return {"counts": self.counts.clone()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        self.counts = state["counts"]


build = Majority
