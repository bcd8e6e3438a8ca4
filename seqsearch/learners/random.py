"""Random: a class drawn uniformly for each image, by its row and the seed alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor

from seqsearch.learners.base import Learner, LearnerContext, Step
from seqsearch.learners.parts.hashing import hashed
from seqsearch.methods.base import Caps
from seqsearch.methods.config import Config
from seqsearch.methods.data import Batch


class RandomClass(Learner):
    """It learns nothing; see the module."""

    caps = Caps(input="labels", trains_backbone=False)

    def __init__(self, context: LearnerContext, config: Config) -> None:
        super().__init__(context, config)
        self._seed = context.generator("random").initial_seed()

    def predict(self, batch: Batch) -> Tensor:
        drawn = hashed(self._seed, batch.indices) >> np.uint64(32)
        classes = drawn * np.uint64(self.context.n_classes) >> np.uint64(32)
        return torch.from_numpy(classes.astype(np.int64))

    def learn(self, step: Step) -> None:
        pass

    def state_dict(self) -> dict[str, Any]:
        return {}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        pass


build = RandomClass
