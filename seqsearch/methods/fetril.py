"""FeTrIL, feature translation: old classes are learned again from features of new ones, moved to the means of old classes.

"FeTrIL: Feature Translation for Exemplar-Free Class-Incremental Learning".

The first task trains the network, which is then frozen. No image is stored, only the mean feature m_c of each class. In a
later task each old class c borrows the features of the new class k whose mean is nearest to m_c by cosine:

    f~_c(x) = f(x) - m_k + m_c    for the images x of class k.

The linear head is then trained further by cross-entropy among all classes, on the features of new classes and on the
borrowed features of old ones.

Trainable: on the first task network and head, later the head. Stored: network, head and means.

On pre-trained backbones ``epochs`` is 0: the network stays as it is, and the first task trains the head alone.

Departures from the public code (PyCIL), and why (effects are not measured unless given):

- the classifier is the linear head. The paper's best one is a linear support vector machine, which PyCIL reports beside
  the head.
- borrowed features are computed in each step, not stored.
- rates fall by the step, not by the epoch.
- images of the first task are augmented if the run asks for it, by the recipe of all methods. PyCIL has a stronger one.
- the paper trains networks from scratch. On pre-trained backbones rates are usual ones of fine-tuning.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from seqsearch.methods.base import Caps, Context, FitReport, Footprint, Method
from seqsearch.methods.config import Config as BaseConfig
from seqsearch.methods.config import LogUniform, param
from seqsearch.methods.data import Batch, TaskData
from seqsearch.methods.parts.checkpoint import Live
from seqsearch.methods.parts.cosine import class_means, cosines
from seqsearch.methods.parts.head import empty_head, first_rows, load_head
from seqsearch.methods.parts.network import saved, saved_under
from seqsearch.methods.parts.training import Descent, Group, descend
from seqsearch.methods.parts.whole import NetworkTraining, Whole, load_whole, train_network


class FeTrIL(Method):
    """A head trained on translated features; see the module."""

    @dataclass(frozen=True)
    class Config(NetworkTraining):
        head_epochs: int = param(
            50,
            "passes over the features of a task, which train the head",
            minimum=1,
            maximum=10_000,
            search=(10, 20, 50),
        )
        head_lr: float = param(
            0.05, "learning rate of the head then", minimum=0.0, maximum=1e30, search=LogUniform(0.005, 0.5)
        )
        head_decay: float = param(5e-4, "L2 penalty on the head then", minimum=0.0, maximum=1e3)

    config: Config

    @classmethod
    def capabilities(cls, config: BaseConfig) -> Caps:
        trains = bool(getattr(config, "epochs", 0))
        return Caps(
            input="images" if trains else "frozen",
            trains_backbone=trains,
            augmentation="pycil",
            design=("statistic", "full") if trains else ("statistic",),
        )

    def __init__(self, context: Context, config: BaseConfig) -> None:
        super().__init__(context, config)
        self.network: Whole | None = None
        """As the first task trained it; None if it stays as it is."""
        self.head = empty_head(context.dim, context.device)
        self.means = torch.zeros(0, context.dim, device=context.device)
        """``[C, d]``."""

    def fit_task(self, task: TaskData) -> FitReport:
        if not task.depth and self.config.epochs:
            self.network, self.head, report = train_network(task, self.config, self.context)
        else:
            report = self._train_head(task)
        self.means = torch.cat([self.means, self._means(task)])
        return report

    def _means(self, task: TaskData) -> Tensor:
        return class_means(self.features(task.train), task.train.targets - task.columns.start, len(task.columns))

    def _train_head(self, task: TaskData) -> FitReport:
        config, old = self.config, task.columns.start
        features, labels, new = self.features(task.train), task.train.targets, self._means(task)
        lenders = old + cosines(self.means, new).argmax(1)
        borrowed = [torch.nonzero(labels == k)[:, 0] for k in lenders]
        source = torch.cat([torch.arange(len(features), device=features.device), *borrowed])
        columns = torch.cat([labels, *(torch.full_like(rows, c) for c, rows in enumerate(borrowed))])
        moves = torch.cat([self.means - new[lenders - old], torch.zeros_like(new)])
        block = first_rows(self.context, len(task.columns), task.generator("head"))
        head = self.head.grown(block).trainable()

        def loss_of(positions: Tensor) -> Tensor:
            at = positions.to(features.device)
            wanted = columns[at]
            return functional.cross_entropy(head(features[source[at]] + moves[wanted]), wanted)

        descent = replace(Descent.of(config), epochs=config.head_epochs, weight_decay=config.head_decay)
        groups, live = [Group(head.parameters(), config.head_lr)], Live((), (), task.progress, "head")
        report = descend(groups, len(source), descent, task.generator("shuffle head"), loss_of, live=live)
        self.head = head.detached()
        return report

    def predict(self, batch: Batch) -> Tensor:
        return self.head(self.features(batch))

    def features(self, batch: Batch) -> Tensor:
        return batch.frozen if self.network is None else self.network(batch)

    def feature_space(self) -> str:
        return self.context.backbone_id if self.network is None else self.network.space

    def state_dict(self) -> dict[str, Any]:
        network = {} if self.network is None else self.network.state("network.")
        known = self.head.state("head.") | saved({"means": self.means}) | {"space": self.feature_space()}
        return network | known

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        device, weights = self.context.device, saved_under(state, "network.")
        self.network = load_whole(weights, str(state["space"]), self.context) if weights else None
        self.head, self.means = load_head(state, "head.", device), state["means"].to(device, copy=True)

    def memory_footprint(self) -> Footprint:
        return Footprint(params=self.head.bytes, statistics=4 * self.means.numel())


build = FeTrIL
