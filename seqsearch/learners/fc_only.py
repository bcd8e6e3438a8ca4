"""FC-only: a linear layer on frozen features, trained on batches drawn from all that was revealed.

"Rapid Adaptation in Online Continual Learning: Are We Evaluating It Right?", section 4. There an update counts as one of the
whole network although it is cheaper (``cost_by=updates``); with ``cost_by=flops`` it costs a forward pass of the network and
both passes of the layer. Here features come from a store.

Departures from the public code, and why: there batch statistics of the frozen network go on moving, and its head has a hidden
layer; here features are frozen, and the head is linear. Rates as `er`; on the embedded backbones another, since they were
chosen for a whole network.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from seqsearch.core.errors import Diverged
from seqsearch.learners.base import Step
from seqsearch.learners.parts.gradient import GradientLearner, Updates
from seqsearch.methods.base import Caps
from seqsearch.methods.config import LogUniform, param
from seqsearch.methods.data import Batch


class LastLayer(GradientLearner):
    """See the module."""

    @dataclass(frozen=True)
    class Config(Updates):
        lr: float = param(
            0.005, "learning rate", minimum=0.0, maximum=1e30, search=LogUniform(5e-4, 5.0), embedded=0.05
        )

    config: Config
    caps = Caps(input="frozen", trains_backbone=False, design=("exemplar",))

    @torch.no_grad()
    def update(self, part: Batch, incoming: Tensor, step: Step) -> None:
        """The gradient of a linear layer is two products: written out it takes a third of the time of autograd."""
        weight, bias = self.parameters
        x, y, c = part.frozen, part.targets, self.config
        logs = functional.log_softmax(torch.addmm(bias, x, weight.T), dim=1)
        own = logs.gather(1, y[:, None])
        if not math.isfinite(float(own.sum())):
            raise Diverged("training diverged (non-finite loss)")
        slope = logs.exp_().scatter_add_(1, y[:, None], torch.full_like(own, -1.0))
        for p, moving in zip(self.parameters, self._moving(), strict=True):
            if p is weight:
                moving.addmm_(slope.T, x, beta=c.momentum, alpha=1 / len(x))
            else:
                moving.mul_(c.momentum).add_(slope.mean(0))
            moving.add_(p, alpha=c.weight_decay)
            p.add_(moving, alpha=-c.lr)

    def _moving(self) -> list[Tensor]:
        """Return the momentum buffer of each parameter."""
        states = [self.optimizer.state[p] for p in self.parameters]
        return [
            s.setdefault("momentum_buffer", torch.zeros_like(p)) for s, p in zip(states, self.parameters, strict=True)
        ]


build = LastLayer
