"""ACE, asymmetric cross-entropy: samples of the batch just revealed do not push down classes that are absent from it.

"New Insights on Reducing Abrupt Representation Change in Online Continual Learning", as "Rapid Adaptation in Online Continual
Learning: Are We Evaluating It Right?" compares it: on batches drawn as those of `er`. A sample of the batch just revealed is
classified among the classes that are present, an older one among all.

- ``present=incoming``: present are the classes of the batch just revealed, and the loss is the mean over these samples plus the
  mean over older ones (ER-ACE as it was published, where the whole batch just revealed is trained on at each step).
- ``present=batch``: present are the classes of the whole training batch, older samples included, and the loss is one mean (the
  public code of the comparison; its file that says which samples are new was never published).
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from seqsearch.learners.base import Step
from seqsearch.learners.er import ReplayOnly
from seqsearch.methods.config import param


class AsymmetricCrossEntropy(ReplayOnly):
    """See the module."""

    @dataclass(frozen=True)
    class Config(ReplayOnly.Config):
        present: str = param(
            "incoming",
            "classes that new samples compete with: of the batch just revealed, or of the one trained on",
            choices=("incoming", "batch"),
        )

    config: Config

    def loss(self, scores: Tensor, targets: Tensor, incoming: Tensor, step: Step) -> Tensor:
        present = torch.zeros(scores.shape[1], dtype=torch.bool, device=scores.device)
        present[step.batch.targets if self.config.present == "incoming" else targets] = True
        masked = torch.where(incoming[:, None] & ~present, -torch.inf, scores)
        if self.config.present == "batch":
            return functional.cross_entropy(masked, targets)
        losses = functional.cross_entropy(masked, targets, reduction="none")
        return torch.stack([losses[part].mean() for part in (incoming, ~incoming) if bool(part.any())]).sum()


build = AsymmetricCrossEntropy
