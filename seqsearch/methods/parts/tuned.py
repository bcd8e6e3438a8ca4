"""Common parts of methods that train the whole network: a network with a growing head, and the rates of both."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from seqsearch.methods.base import Context, FitReport, Footprint, Method
from seqsearch.methods.config import Config as BaseConfig
from seqsearch.methods.config import LogUniform, param
from seqsearch.methods.data import Batch, TaskData
from seqsearch.methods.parts import gtep
from seqsearch.methods.parts.augmentation import Learned
from seqsearch.methods.parts.checkpoint import Live
from seqsearch.methods.parts.head import empty_head, load_head
from seqsearch.methods.parts.network import embed, own_backbone, saved, saved_under, statistics_of
from seqsearch.methods.parts.training import SHORT_DECAY, FirstApart, Group, descend

TINY_EPOCHS, TINY_LR = (5, 10, 15, 20), (0.01, 0.02, 0.05)
"""Where both are searched on ``scratch:tiny``."""


def epochs_of(published: int) -> Any:
    """A parameter: as PILOT fine-tunes a pre-trained transformer, with the value ``published`` for networks from scratch."""
    return param(
        20,
        "passes over a task's images",
        minimum=1,
        maximum=10_000,
        search=(5, 10, 20),
        embedded=4,
        embedded_search=(2, 4, 8),
        scratch=published,
        scratch_search=tuple(sorted({*gtep.EPOCHS, published})),
        tiny=15,
        tiny_search=TINY_EPOCHS,
    )


def scheduler_of(pretrained: str, embedded: str = "cosine") -> Any:
    """A parameter: how the rate falls, by milestones from scratch."""
    return param(
        pretrained,
        "how the learning rate falls",
        choices=("cosine", "steplr", "constant"),
        embedded=embedded,
        scratch="steplr",
        tiny=pretrained,
    )


def head_rate(embedded: float) -> Any:
    """A parameter, with its value on the embedded backbone."""
    return param(
        0.001,
        "learning rate of the head",
        minimum=0.0,
        maximum=1e30,
        search=LogUniform(1e-4, 0.05),
        embedded=embedded,
        embedded_search=LogUniform(0.005, 0.5),
        scratch=0.1,
        scratch_search=gtep.LR,
        tiny=0.05,
        tiny_search=TINY_LR,
    )


def backbone_rate(embedded: float) -> Any:
    """A parameter, with its value on the embedded backbone."""
    return param(
        0.001,
        "learning rate of the backbone",
        minimum=0.0,
        maximum=1e30,
        search=LogUniform(1e-5, 0.01),
        embedded=embedded,
        embedded_search=LogUniform(1e-4, 0.02),
        scratch=0.1,
        scratch_search=gtep.LR,
        tiny=0.05,
        tiny_search=TINY_LR,
    )


def light_decay(published: float = 2e-4, scratch: float = 2e-4) -> Any:
    """A parameter: weight decay, with the ``published`` value as its default and a larger one on ``scratch:tiny``."""
    return param(
        published,
        "L2 penalty on what is trained",
        minimum=0.0,
        maximum=1e3,
        embedded=5e-4,
        scratch=scratch,
        tiny=SHORT_DECAY,
    )


@dataclass(frozen=True)
class TwoRates(FirstApart):
    """A descent of a network at one rate and a head at another; a first task that stands apart has one for both."""

    lr: float = head_rate(embedded=0.05)
    backbone_lr: float = backbone_rate(embedded=0.005)

    def groups(self, depth: int, network: nn.Module, head: Sequence[Tensor]) -> list[Group]:
        """Return the trained parameters and their rates, in a task with ``depth`` earlier ones."""
        of_network, of_head = (self.first_lr,) * 2 if self.apart(depth) else (self.backbone_lr, self.lr)
        return [Group(list(network.parameters()), of_network), Group(head, of_head)]


@dataclass(frozen=True)
class TunedTraining(TwoRates):
    """PILOT's settings for fine-tuning a pre-trained transformer, PyCIL's for a network from scratch."""

    epochs: int = epochs_of(80)
    batch_size: int = param(128, "images per step", minimum=1, maximum=100_000, embedded=32, tiny=16)
    weight_decay: float = param(2e-4, "L2 penalty on what is trained", minimum=0.0, maximum=1e3, embedded=5e-4)
    scheduler: str = scheduler_of("cosine")


class Tuned(Method):
    """A network of one's own and a head, which predict and are saved; a subclass says how they learn."""

    config: TwoRates

    def __init__(self, context: Context, config: BaseConfig) -> None:
        super().__init__(context, config)
        self.backbone = own_backbone(context)
        self.learning = statistics_of(context, self.backbone)
        """Networks that are trained in train mode."""
        self.head = empty_head(context.dim, context.device)

    def descend(
        self,
        task: TaskData,
        data: Learned,
        head: Sequence[Tensor],
        loss_of: Callable[[Tensor], Tensor],
        drawing: Sequence[torch.Generator] = (),
    ) -> FitReport:
        """Minimise ``loss_of`` positions in ``data`` over the network and ``head``, by the schedule of the task.

        ``drawing``: generators, but that of ``data``, which the loss draws from.
        """
        groups, schedule = self.config.groups(task.depth, self.backbone, head), self.config.schedule(task.depth)
        live = Live(self.learning, [data.generator, *drawing], task.progress)
        return descend(groups, len(data), schedule, task.generator("shuffle"), loss_of, live=live)

    def predict(self, batch: Batch) -> Tensor:
        return self.head(self.features(batch))

    def features(self, batch: Batch) -> Tensor:
        return embed(self.backbone, batch)

    def state_dict(self) -> dict[str, Any]:
        return saved(self.backbone.state_dict(), "backbone.") | self.head.state("head.")

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        self.backbone.load_state_dict(saved_under(state, "backbone."))
        self.head = load_head(state, "head.", self.context.device)

    def memory_footprint(self) -> Footprint:
        return Footprint(params=self.head.bytes)
