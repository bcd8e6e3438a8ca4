"""FC-only: a linear layer on frozen features, trained on batches drawn from all that was revealed.

"Rapid Adaptation in Online Continual Learning: Are We Evaluating It Right?", section 4. There an update counts as one of the
whole network although it is cheaper (``cost_by=updates``); with ``cost_by=flops`` it costs a forward pass of the network and
both passes of the layer. Here features come from a store.

Departures from the public code, and why: there batch statistics of the frozen network go on moving, and its head has a hidden
layer; here features are frozen, and the head is linear. Rates as `er`; on the embedded backbones another, since they were
chosen for a whole network.
"""

from __future__ import annotations

from dataclasses import dataclass

from seqsearch.learners.parts.gradient import GradientLearner, Updates
from seqsearch.methods.base import Caps
from seqsearch.methods.config import LogUniform, param


class LastLayer(GradientLearner):
    """See the module."""

    @dataclass(frozen=True)
    class Config(Updates):
        lr: float = param(
            0.005, "learning rate", minimum=0.0, maximum=1e30, search=LogUniform(5e-4, 5.0), embedded=0.05
        )

    config: Config
    caps = Caps(input="frozen", trains_backbone=False, design=("exemplar",))


build = LastLayer
