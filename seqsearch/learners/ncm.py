"""NCM: the nearest of the running class means of frozen features, by cosine.

"Distance-Based Image Classification: Generalizing to New Classes at Near-Zero Cost". Nothing is trained. Classes that were
not seen are never said.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from seqsearch.learners.base import Learner, LearnerContext, Step
from seqsearch.methods.config import Config
from seqsearch.methods.data import Batch


class NearestClassMean(Learner):
    """Sums ``[C, d]`` and counts ``[C]`` of features; see the module."""

    @classmethod
    def seeded(cls, config: Config) -> bool:
        return False

    def __init__(self, context: LearnerContext, config: Config) -> None:
        super().__init__(context, config)
        self.sums = torch.zeros(context.n_classes, context.dim, device=context.device)
        self.counts = torch.zeros(context.n_classes, device=context.device)
        self._unseen = torch.full((context.n_classes,), -torch.inf, device=context.device)
        self._scale = torch.zeros(context.n_classes, device=context.device)
        self._knows = False

    def _measure(self, seen: Tensor) -> None:
        """Update the factors that normalise the scores, the inverse norms of the sums. Columns that are ``seen``
        compete from now on; scores of unseen classes are minus infinity."""
        self._knows = self._knows or bool(len(seen))
        self._unseen[seen] = 0.0
        self._scale = self.sums.norm(dim=1).clamp_(min=1e-12).reciprocal_()

    def predict(self, batch: Batch) -> Tensor:
        if not self._knows:
            return torch.full((len(batch),), -1)
        return torch.addcmul(self._unseen, batch.frozen @ self.sums.T, self._scale).argmax(1)

    def learn(self, step: Step) -> None:
        targets = step.batch.targets
        self.sums.index_add_(0, targets, step.batch.frozen)
        self.counts += torch.bincount(targets, minlength=len(self.counts))
        self._measure(targets)

    def state_dict(self) -> dict[str, Any]:
        return {"sums": self.sums.to("cpu", copy=True), "counts": self.counts.to("cpu", copy=True)}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        self.sums, self.counts = state["sums"].to(self.sums.device), state["counts"].to(self.counts.device)
        self._measure(torch.nonzero(self.counts)[:, 0])


build = NearestClassMean
