"""Common parts of methods that fine-tune the whole network: a network with a growing head, and the learning rates of both.

`Tuned` stands for fine-tuned, not for hyperparameter tuning. The functions below return a parameter
(`seqsearch.methods.config.param`) with a default and a search space for each kind of backbone. The first that applies is used:

- the embedded backbones (`seqsearch.methods.config.EMBEDDED`, shipped with the package): ``embedded``, else ``tiny``.
- ``scratch:tiny``: ``tiny``, else ``scratch``.
- other backbones from scratch: ``scratch``.
- otherwise, for pre-trained backbones, and where none of these is set: the first argument of ``param``.

A custom backbone names the sets that it uses in ``presets``.
"""

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
from seqsearch.methods.parts.augmentation import Learned, learned
from seqsearch.methods.parts.checkpoint import Live
from seqsearch.methods.parts.head import Head, empty_head, first_rows, load_head
from seqsearch.methods.parts.network import embed, own_backbone, saved, saved_under, statistics_of
from seqsearch.methods.parts.training import SHORT_DECAY, FirstApart, Group, descend

TINY_EPOCHS, TINY_LR = (5, 10, 15, 20), (0.01, 0.02, 0.05)
"""Search spaces of the epochs and of both learning rates on ``scratch:tiny``."""


def epochs_of(published: int) -> Any:
    """The parameter ``epochs``: 20 as in PILOT for a pre-trained transformer, ``published`` for networks from scratch."""
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
    """The parameter ``scheduler``: ``pretrained`` for pre-trained backbones, milestones (``steplr``) from scratch."""
    return param(
        pretrained,
        "how the learning rate falls",
        choices=("cosine", "steplr", "constant"),
        embedded=embedded,
        scratch="steplr",
        tiny=pretrained,
    )


def head_rate(embedded: float) -> Any:
    """The parameter ``lr`` of the head; ``embedded`` is its default on the embedded backbones."""
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
    """The parameter ``backbone_lr``; ``embedded`` is its default on the embedded backbones."""
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
    """The parameter ``weight_decay``: light (``published``) for pre-trained backbones, ``scratch`` from scratch, larger on
    ``scratch:tiny``, where few steps leave a light decay without effect (`SHORT_DECAY`)."""
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
    """Training with a learning rate for the network and another for the head. If the first task has a schedule of its own
    (``first_epochs`` above 0), both learn at ``first_lr`` in it."""

    lr: float = head_rate(embedded=0.05)
    backbone_lr: float = backbone_rate(embedded=0.005)

    def groups(self, depth: int, network: nn.Module, head: Sequence[Tensor]) -> list[Group]:
        """The trained parameters and their learning rates. ``depth``: number of earlier tasks."""
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
    """Base of methods that fine-tune the whole backbone and a growing head. A subclass writes `fit_task` and calls `descend`."""

    config: TwoRates

    def __init__(self, context: Context, config: BaseConfig) -> None:
        super().__init__(context, config)
        self.backbone = own_backbone(context)
        self.learning = statistics_of(context, self.backbone)
        """Networks to put in train mode during training: the backbone if it starts from scratch, else none. It then learns the
        statistics of its batch normalisation."""
        self.head = empty_head(context.dim, context.device)

    def begun(self, task: TaskData) -> tuple[Learned, Head]:
        """The images of a task as they are learned from, and the head with rows for its classes, to be trained."""
        train = learned(task.train, self.context, self.caps.augmentation, task.generator("augment"))
        block = first_rows(self.context, len(task.columns), task.generator("head"))
        return train, self.head.grown(block).trainable()

    def descend(
        self,
        task: TaskData,
        data: Learned,
        head: Sequence[Tensor],
        loss_of: Callable[[Tensor], Tensor],
        drawing: Sequence[torch.Generator] = (),
    ) -> FitReport:
        """Minimise ``loss_of`` over the network and ``head``, by the schedule of the task, with the function `descend` of
        `seqsearch.methods.parts.training`.

        Args:
            task: gives the random numbers and the place of checkpoints.
            data: training images.
            head: the head's trainable tensors.
            loss_of: positions in ``data`` -> mean loss of that batch.
            drawing: generators that the loss draws from, beside the generator of ``data``; checkpoints save their states.
        """
        groups, schedule = self.config.groups(task.depth, self.backbone, head), self.config.schedule(task.depth)
        live = Live(self.learning, [data.generator, *drawing], task.progress)
        return descend(groups, len(data), schedule, task.generator("shuffle"), loss_of, live=live)

    def predict(self, batch: Batch) -> Tensor:
        return self.head(self.features(batch))

    def features(self, batch: Batch) -> Tensor:
        """Features ``[n, d]`` by the network as it is now (`seqsearch.methods.parts.network.embed`)."""
        return embed(self.backbone, batch)

    def state_dict(self) -> dict[str, Any]:
        return saved(self.backbone.state_dict(), "backbone.") | self.head.state("head.")

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        self.backbone.load_state_dict(saved_under(state, "backbone."))
        self.head = load_head(state, "head.", self.context.device)

    def memory_footprint(self) -> Footprint:
        """The head alone: a footprint counts bytes beyond the backbone."""
        return Footprint(params=self.head.bytes)
