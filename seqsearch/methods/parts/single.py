"""What rehearsal methods share that have one network and one linear head."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from seqsearch.methods.base import Context, FitReport, Footprint
from seqsearch.methods.config import Config as BaseConfig
from seqsearch.methods.data import Batch, TaskData
from seqsearch.methods.parts.head import Head, empty_head, load_head, uniform_head
from seqsearch.methods.parts.network import embed, own_backbone, saved, saved_under
from seqsearch.methods.parts.rehearsal import REHEARSAL, Rehearsal
from seqsearch.methods.parts.training import Group

DISTILLED = replace(REHEARSAL, design=("exemplar", "full", "functional"))
"""Capabilities of those that distil what old classes are to score."""


class Single(Rehearsal):
    """A network of one's own and a head that grows. A subclass says how they learn."""

    def __init__(self, context: Context, config: BaseConfig) -> None:
        super().__init__(context, config)
        self.backbone = own_backbone(context)
        self.head = empty_head(context.dim, context.device)

    def grown_head(self, task: TaskData) -> Head:
        """Trainable rows of all classes, those of the task new."""
        rows = uniform_head(len(task.columns), self.context.dim, task.generator("head"), self.context.device)
        return self.head.grown(rows).trainable()

    def groups(self, task: TaskData, head: Head) -> Sequence[Group]:
        """The whole network and the head, at one rate."""
        return [Group([*self.backbone.parameters(), *head.parameters()], self.rates(task))]

    def before(self) -> nn.Module:
        """A frozen copy of the network as it is, in eval mode: what the old classes are distilled from."""
        return copy.deepcopy(self.backbone).eval().requires_grad_(False)

    def answers(self) -> Callable[[Tensor], Tensor]:
        """What the network and the head, as they are now, say of images ``[n, 3, s, s]``: scores ``[n, k]`` of the classes
        known so far, without gradients."""
        network, head = self.before(), self.head

        @torch.no_grad()
        def scores(images: Tensor) -> Tensor:
            return head(network(images))

        return scores

    def finish(self, task: TaskData, head: Head, report: FitReport) -> FitReport:
        """Take over what was learned, and exemplars of it, unless it diverged."""
        self.head = head.detached()
        if report.status == "ok":
            self.store(task)
        return report

    def head_scores(self, features: Tensor) -> Tensor:
        return self.head(features)

    def features(self, batch: Batch) -> Tensor:
        return embed(self.backbone, batch)

    def state_dict(self) -> dict[str, Any]:
        return super().state_dict() | saved(self.backbone.state_dict(), "backbone.") | self.head.state("head.")

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        super().load_state_dict(state)
        self.backbone.load_state_dict(saved_under(state, "backbone."))
        self.head = load_head(state, "head.", self.context.device)

    def memory_footprint(self) -> Footprint:
        return self.footprint(self.head.bytes)
