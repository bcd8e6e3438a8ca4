"""SimpleCIL: nearest class mean in the frozen feature space, by cosine.

"Revisiting Class-Incremental Learning with Pre-Trained Models: Generalizability and Adaptivity are All You
Need".

Idea: a pre-trained backbone may be good enough as it is. With ``f`` the frozen features, class c has the
prototype ``m_c = mean of f(x) over its training images``. The scores of an image are ``cos(f(x), m_c)``.

Trainable: nothing. Stored: one prototype per class. The final scores do not depend on the order of the tasks.

There is no departure from the published method. It has nothing to validate, so it learns from all images of a
task but test images.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from seqsearch.methods.base import Additive, Caps, Context, FitReport, Footprint
from seqsearch.methods.config import Config as BaseConfig
from seqsearch.methods.data import Batch, TaskData
from seqsearch.methods.parts.cosine import class_means, cosines
from seqsearch.methods.parts.network import saved


class SimpleCIL(Additive):
    """Cosine to frozen class means; see the module."""

    caps = Caps(input="frozen", order_invariant_after=0, trains_backbone=False, design=("statistic",), closed_form=True)

    def __init__(self, context: Context, config: BaseConfig) -> None:
        super().__init__(context, config)
        self.prototypes = torch.zeros(0, context.dim, device=context.device)
        """``[C, d]``."""

    def learn(self, task: TaskData) -> tuple[dict[str, Any], FitReport]:
        means = class_means(task.train.frozen, task.train.targets - task.columns.start, len(task.columns))
        return saved({"means": means}), FitReport("ok" if bool(torch.isfinite(means).all()) else "diverged")

    def absorb(self, part: Mapping[str, Any], task: TaskData) -> FitReport:
        self.prototypes = torch.cat([self.prototypes, part["means"].to(self.context.device)])
        return FitReport()

    def predict(self, batch: Batch) -> Tensor:
        return cosines(batch.frozen, self.prototypes)

    def features(self, batch: Batch) -> Tensor:
        return batch.frozen

    def state_dict(self) -> dict[str, Any]:
        return saved({"prototypes": self.prototypes})

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        self.prototypes = state["prototypes"].to(self.context.device, copy=True)

    def memory_footprint(self) -> Footprint:
        return Footprint(statistics=4 * self.prototypes.numel())


build = SimpleCIL
