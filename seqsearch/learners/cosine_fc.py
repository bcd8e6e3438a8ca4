"""CosineFC: scores are cosines of features and class weights, times a factor that is learned.

"Learning a Unified Classifier Incrementally via Rebalancing", of which "Rapid Adaptation in Online Continual Learning: Are We
Evaluating It Right?" takes the classifier alone, without distillation: ``sigma cos(w_c, f(x))``, sigma from 1, weights uniform
within ``1 / sqrt(d)``. The network is trained as by `er`.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from seqsearch.learners.base import LearnerContext
from seqsearch.learners.er import ReplayOnly
from seqsearch.methods.config import LogUniform, param
from seqsearch.methods.parts.cosine import cosines


class CosineHead(nn.Module):
    """``sigma cos(w_c, x)`` ``[n, C]`` of features ``[n, d]``."""

    def __init__(self, context: LearnerContext) -> None:
        super().__init__()
        drawn = torch.rand(context.n_classes, context.dim, generator=context.generator("head"))
        self.weight = nn.Parameter(((2 * drawn - 1) / context.dim**0.5).to(context.device))
        self.sigma = nn.Parameter(torch.ones((), device=context.device))

    def forward(self, features: Tensor) -> Tensor:
        return self.sigma * cosines(features, self.weight)


class CosineClassifier(ReplayOnly):
    """See the module."""

    @dataclass(frozen=True)
    class Config(ReplayOnly.Config):
        lr: float = param(
            0.005, "learning rate", minimum=0.0, maximum=1e30, search=LogUniform(5e-4, 0.05), embedded=0.005, tiny=0.02
        )

    config: Config

    def new_head(self) -> nn.Module:
        return CosineHead(self.context)


build = CosineClassifier
