"""Common parts of rehearsal methods that have one network and one head."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, Protocol, Self, TypeVar

import torch
from torch import Tensor, nn

from seqsearch.methods.base import Context, FitReport, Footprint
from seqsearch.methods.config import Config as BaseConfig
from seqsearch.methods.config import param
from seqsearch.methods.data import Batch, TaskData
from seqsearch.methods.parts import gtep
from seqsearch.methods.parts.head import Head, checked_finite, empty_head, load_head, uniform_head
from seqsearch.methods.parts.herding import herding_order
from seqsearch.methods.parts.network import embed, own_backbone, saved, saved_under
from seqsearch.methods.parts.rehearsal import REHEARSAL, Rehearsal, RehearsalTraining, decay
from seqsearch.methods.parts.training import Descent, Group

DISTILLED = replace(REHEARSAL, design=("exemplar", "full", "functional"))
"""Capabilities of methods that distil the old network's scores of old classes."""


@dataclass(frozen=True)
class WeighedDistillation(RehearsalTraining):
    """PyCIL's settings of WA and BiC, and GTEP's search spaces."""

    lamb: float = param(
        0.0,
        "lambda: weight of the distillation beside cross-entropy; 0: both by the share of old classes",
        minimum=0.0,
        maximum=1e12,
        search=gtep.DISTILLATION,
        tiny=1.0,
        later=True,
    )
    temperature: float = param(
        2.0, "T of the distillation", minimum=0.01, maximum=1e6, search=gtep.TEMPERATURE, later=True
    )

    def drops(self) -> Sequence[float]:
        """The learning rate of later tasks falls after epochs 60, 100 and 140 of 170."""
        return 60 / 170, 100 / 170, 140 / 170


@dataclass(frozen=True)
class BalancedTuning(RehearsalTraining):
    """Settings of methods that go on training on balanced exemplars after each later task: PODNet and LUCIR."""

    weight_decay: float = decay(5e-4)
    epochs: int = param(
        160,
        "passes over the images of a later task",
        minimum=1,
        maximum=10_000,
        search=gtep.EPOCHS,
        tiny=15,
        tiny_search=(5, 10, 15, 20),
        later=True,
    )
    tuning_epochs: int = param(
        20,
        "passes over balanced exemplars after a later task; 0: none",
        minimum=0,
        maximum=10_000,
        search=gtep.TUNING_EPOCHS,
        later=True,
    )
    tuning_lr: float = param(
        0.005, "learning rate of these", minimum=0.0, maximum=1e30, search=gtep.TUNING_LR, later=True
    )

    def drops(self) -> Sequence[float]:
        """The learning rate of later tasks falls after epochs 80 and 120 of 160."""
        return 80 / 160, 120 / 160

    def tuning(self) -> Descent:
        """The descent on balanced exemplars."""
        return replace(self.later(), epochs=self.tuning_epochs)


class GrowingClassifier(Protocol):
    """Classifier of features that grows with the classes: `Head`, `seqsearch.methods.parts.proxies.ProxyHead`."""

    def __call__(self, features: Tensor) -> Tensor:
        """Features ``[n, d]`` -> scores ``[n, C]``."""
        ...

    def detached(self) -> Self:
        """The same values without gradients."""
        ...

    def state(self, prefix: str) -> dict[str, Any]:
        """Copies of its tensors by name."""
        ...

    def parameters(self) -> list[Tensor]:
        """Return the learned tensors."""
        ...

    @property
    def bytes(self) -> int:
        """Size as 32-bit floats."""
        ...


C = TypeVar("C", bound=GrowingClassifier)


class OneNetwork(Rehearsal, Generic[C]):
    """A trained network and a ``head`` of some kind. The subclass sets and loads the head, and says how both learn."""

    head: C

    def __init__(self, context: Context, config: BaseConfig) -> None:
        super().__init__(context, config)
        self.backbone = own_backbone(context)

    @abstractmethod
    def loaded_head(self, state: Mapping[str, Any]) -> C:
        """The head that was saved under ``head.``."""

    def finish(self, task: TaskData, head: C, report: FitReport) -> FitReport:
        """Keep the trained head, and choose exemplars unless the training diverged or the head is not finite."""
        self.head = head.detached()
        report = checked_finite(self.head.parameters(), report)
        if report.status == "ok":
            self.store(task)
        return report

    def balanced(self, task: TaskData) -> Batch:
        """Exemplars of old classes, and as many of each new one, by features as they are now."""
        count = self.stored.capacity if self.stored.per_class else self.stored.capacity // task.columns.start
        features, targets = self.features(task.train), task.train.targets
        rows, columns = [self.stored.rows], [self.stored.columns]
        for column in task.columns:
            mine = torch.nonzero(targets == column).flatten()
            chosen = mine[herding_order(features[mine], count).to(mine.device)].cpu()
            rows.append(torch.from_numpy(task.train.indices)[chosen])
            columns.append(torch.full((len(chosen),), column))
        return task.replay(torch.cat(rows).numpy(), torch.cat(columns).to(self.context.device))

    def head_scores(self, features: Tensor) -> Tensor:
        return self.head(features)

    def features(self, batch: Batch) -> Tensor:
        return embed(self.backbone, batch)

    def state_dict(self) -> dict[str, Any]:
        return super().state_dict() | saved(self.backbone.state_dict(), "backbone.") | self.head.state("head.")

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        super().load_state_dict(state)
        self.backbone.load_state_dict(saved_under(state, "backbone."))
        self.head = self.loaded_head(state)

    def memory_footprint(self) -> Footprint:
        return self.footprint(self.head.bytes)


class Single(OneNetwork[Head]):
    """A trained network and a linear head that grows. A subclass says how they learn."""

    def __init__(self, context: Context, config: BaseConfig) -> None:
        super().__init__(context, config)
        self.head = empty_head(context.dim, context.device)

    def loaded_head(self, state: Mapping[str, Any]) -> Head:
        return load_head(state, "head.", self.context.device)

    def grown_head(self, task: TaskData) -> Head:
        """The head with new rows for the classes of the task; all rows are trainable."""
        rows = uniform_head(len(task.columns), self.context.dim, task.generator("head"), self.context.device)
        return self.head.grown(rows).trainable()

    def groups(self, task: TaskData, head: Head) -> Sequence[Group]:
        """The whole network and the head, at one rate."""
        return [Group([*self.backbone.parameters(), *head.parameters()], self.rates(task))]

    def before(self) -> nn.Module:
        """A frozen copy of the network as it is now, in eval mode: the teacher of the old classes."""
        return copy.deepcopy(self.backbone).eval().requires_grad_(False)

    def answers(self) -> Callable[[Any], Tensor]:
        """The old network's scores, for distillation: a function from images ``[n, 3, s, s]``, or the inputs of pairs, to scores
        ``[n, k]`` of the classes learned so far, without gradients. It keeps the network and the head as they are now."""
        network, head = self.before(), self.head

        @torch.no_grad()
        def scores(inputs: Any) -> Tensor:
            return head(network(inputs))

        return scores
