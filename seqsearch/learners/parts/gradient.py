"""Learners that descend a gradient: at each step as many updates as the budget affords, on batches drawn from all that was
revealed.

"Rapid Adaptation in Online Continual Learning: Are We Evaluating It Right?", section 4: SGD at a constant learning rate of .005,
weight decay 1e-4; nothing is printed of the momentum, which is .9 in the public code.

An update of ``T`` samples where a batch of the stream is ``B`` costs ``T / B`` of a forward and backward pass of the whole
network over ``B`` (``cost_by=updates``); with ``cost_by=flops`` times the floating-point operations of the update in relation
to those of that pass, as `torch.utils.flop_counter` counts them. The head is linear, where the public code has a hidden layer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.flop_counter import FlopCounterMode

from seqsearch.core.errors import Diverged
from seqsearch.learners.base import Learner, LearnerContext, Step
from seqsearch.learners.parts.samplers import SAMPLERS, training_batches
from seqsearch.methods.base import Caps
from seqsearch.methods.config import Config as BaseConfig
from seqsearch.methods.config import LogUniform, param
from seqsearch.methods.data import Batch
from seqsearch.methods.parts.augmentation import policy
from seqsearch.methods.parts.head import new_head
from seqsearch.methods.parts.network import in_training, own_backbone, saved, saved_under, statistics_of

RECIPE = "mammoth"
"""Recipe of ``--augment``: a random part (of images up to 64 pixels a shifted window), half of them mirrored."""
COUNTED = 2
"""Images of the batch that operations are counted on; they go with its size."""


@dataclass(frozen=True)
class Updates(BaseConfig):
    """Hyperparameters of a learner that makes updates."""

    budget: float = param(
        1.0,
        "updates that a step grants (1: forward and backward pass of the whole network over a batch of the stream)",
        minimum=1e-6,
        maximum=1e4,
    )
    cost_by: str = param(
        "updates", "what an update costs: its samples alone, or its operations too", choices=("updates", "flops")
    )
    sampler: str = param("uniform", "which revealed samples a training batch holds", choices=SAMPLERS)
    train_batch: int = param(
        0, "samples of a training batch; 0: as many as a batch of the stream", minimum=0, maximum=100_000
    )
    lr: float = param(0.005, "learning rate", minimum=0.0, maximum=1e30, search=LogUniform(5e-4, 0.05))
    weight_decay: float = param(1e-4, "L2 penalty on all that is trained", minimum=0.0, maximum=1e3)
    momentum: float = param(0.9, "of SGD", minimum=0.0, maximum=0.999)


class LinearHead(nn.Module):
    """Scores ``x W^T + b`` ``[n, C]`` of features ``[n, d]``; begins as `new_head`."""

    def __init__(self, context: LearnerContext) -> None:
        super().__init__()
        head = new_head(context.n_classes, context.dim, context.generator("head"), context.device)
        self.weight, self.bias = nn.Parameter(head.weight.detach()), nn.Parameter(head.bias.detach())

    def forward(self, features: Tensor) -> Tensor:
        return functional.linear(features, self.weight, self.bias)


class GradientLearner(Learner):
    """Subclasses say whether the network is trained (`caps`), what the head is, and what is descended."""

    Config = Updates
    config: Updates
    caps = Caps(augmentation=RECIPE, design=("exemplar", "full"))

    def __init__(self, context: LearnerContext, config: BaseConfig) -> None:
        super().__init__(context, config)
        self.network = own_backbone(context) if self.caps.trains_backbone else None
        self.head = self.new_head()
        self.parameters = [*(self.network.parameters() if self.network is not None else ()), *self.head.parameters()]
        self.optimizer = torch.optim.SGD(
            self.parameters,
            lr=self.config.lr,
            momentum=self.config.momentum,
            weight_decay=self.config.weight_decay,
        )
        self._augment = policy(context, RECIPE) if self.network is not None else None

    def new_head(self) -> nn.Module:
        """From features ``[n, d]`` to scores ``[n, C]``."""
        return LinearHead(self.context)

    def loss(self, scores: Tensor, targets: Tensor, incoming: Tensor, step: Step) -> Tensor:
        """Return the loss of an update, a mean over scores ``[T, C]`` of classes ``[T]``. ``incoming`` ``[T]`` marks
        samples of the batch just revealed."""
        return functional.cross_entropy(scores, targets)

    def scores(self, batch: Batch) -> Tensor:
        """``[n, C]``."""
        found: Tensor = self.head(batch.frozen if self.network is None else self.network(batch.images))
        return found

    def predict(self, batch: Batch) -> Tensor:
        return self.scores(batch).argmax(1)

    def learn(self, step: Step) -> None:
        usual = step.first // step.number if step.number else step.revealed
        size = self.config.train_batch or usual
        cost, count = size / usual * self.operations, 0
        while step.afford(cost):
            count += 1
        if not count:
            return
        batches = training_batches(self.config.sampler, step.revealed, size, count, lambda g: step.draws(f"sample {g}"))
        generator = step.generator("augment") if self._augment is not None else None
        networks = () if self.network is None else statistics_of(self.context, self.network)
        with in_training(networks):
            for positions in batches:
                if networks and len(positions) == 1:
                    positions = positions.repeat(2)  # one sample has no statistics
                part = step.samples(positions)
                if self._augment is not None and generator is not None:
                    part = part.augmented(self._augment, generator)
                incoming = torch.from_numpy(positions >= step.first).to(self.context.device)
                self.update(part, incoming, step)
        if not all(math.isfinite(float(p.detach().sum())) for p in self.parameters):
            raise Diverged("training diverged (parameters are not finite)")

    def update(self, part: Batch, incoming: Tensor, step: Step) -> None:
        """One, on a batch with labels.

        Raises:
            Diverged: its loss is not finite.
        """
        loss = self.loss(self.scores(part), part.targets, incoming, step)
        if not math.isfinite(float(loss.detach())):
            raise Diverged("training diverged (non-finite loss)")
        self.optimizer.zero_grad(set_to_none=True)
        torch.autograd.backward(loss)
        self.optimizer.step()

    @cached_property
    def operations(self) -> float:
        """Of an update, in those of a forward and backward pass of the whole network over as many samples; 1 unless
        ``cost_by=flops``."""
        if self.config.cost_by == "updates":
            return 1.0
        side = math.isqrt(self.context.image_bytes // 3)
        images = torch.zeros(COUNTED, 3, side, side, device=self.context.device)
        features = torch.zeros(COUNTED, self.context.dim, device=self.context.device)
        network, linear = own_backbone(self.context), LinearHead(self.context)
        whole = _counted(lambda: linear(network(images)), True)
        rest = _counted(lambda: network(images), False)
        if self.network is not None:
            rest = whole - _counted(lambda: linear(features), True)
        return (rest + _counted(lambda: self.new_head()(features), True)) / whole

    def state_dict(self) -> dict[str, Any]:
        found = saved(self.head.state_dict(), "head.")
        if self.network is not None:
            found |= saved(self.network.state_dict(), "backbone.")
        for number, p in enumerate(self.parameters):
            if (moving := self.optimizer.state.get(p, {}).get("momentum_buffer")) is not None:
                found |= saved({str(number): moving}, "momentum.")
        return found

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        self.head.load_state_dict(saved_under(state, "head."))
        if self.network is not None:
            self.network.load_state_dict(saved_under(state, "backbone."))
        for number, moving in saved_under(state, "momentum.").items():
            self.optimizer.state[self.parameters[int(number)]]["momentum_buffer"] = moving.to(self.context.device)


def _counted(scores: Callable[[], Tensor], back: bool) -> int:
    """Floating-point operations of products and convolutions, forward and ``back``; the same on every machine."""
    with FlopCounterMode(display=False) as counter:
        found = scores()
        if back:
            torch.autograd.backward(found.sum())
    return int(counter.get_total_flops())
