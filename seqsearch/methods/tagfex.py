"""TagFex: a new network for every task, taught by a network that learns without labels across all tasks.

"Task-Agnostic Guided Feature Expansion for Class-Incremental Learning". New networks of `der` find the same
features as old networks. So a task-agnostic network g continues to learn to distinguish views of an image
from other views. An attention merges the maps of g and of the task's network ``f_t``, and passes the
knowledge of g on to ``f_t``. There are two views of each image. Let p be a projector, ``g'`` and ``p'`` as
they were before the task, q a predictor, k the share of old classes among all, and ``m`` the merged features.
The loss is

    CE(W [f_1, ..., f_t] + b, y)  +  auxiliary * CE(V f_t + c, y')                                             as in der
      + contrast * ( (1 - k) InfoNCE(p g, p g)  +  distillation * k * InfoNCE(p' q g, p' g') )
      + merged * CE(M m, y)  +  transfer * KL(softmax(M m / T) || softmax(W_new [f_1, ..., f_t] / T))

The last line uses images of the task alone. Its KL counts while the merged classifier M has a smaller mean
loss than the head. The first task has the first term, without V, and InfoNCE. Afterwards the rows of new
classes in W are scaled to the mean norm of old rows. The head classifies images on the features of the
networks ``f``. The parts g, attention and M only teach.

Trainable: the task's network, which begins as ``inherited`` times the last network and the rest g; g,
projector, predictor, attention, M, V; all rows of the head. Stored: all networks (the old ones once, for all
states that share them), g, projector and predictor, the head, exemplars as pool rows, and the means of their
features.

Departures from the public code (the authors' and PyCIL's), and why (effects are not measured unless given):

- in the public code classes are learned from both views, which AutoAugment and cutting out make
  (``train_2``). Other methods of the same table do not have that advantage. Here views are always made by the
  recipe of all methods from scratch (crop, flip, brightness), because InfoNCE needs two.
- with ``--augment none`` the views serve InfoNCE alone, and classes are learned from the original images.
  With ``published`` classes are learned from both views. With ``autoaugment`` AutoAugment makes the views,
  too.
- with ``--augment none`` g gets both views and, for the merged features, the original image. Its running
  statistics follow all three.
- batch statistics of a new network begin as the last network's. A few steps would not find them again.
- the first networks g and ``f_1`` begin with equal weights, because a method gets one network from scratch.
  Rates fall by the step.
- a batch without images of the task has no last line (the published mean over none is not a number). In the
  public code attention and M then have gradients of zero, so momentum and decay continue to change them. Here
  they stay unchanged.
- heads, projector and predictor begin with equal values in all continuations of one state. Old rows of the
  head begin with zeros over new features, as the authors' do. PyCIL draws them.

On ``scratch:tiny`` a task has 10 epochs. Of 8, 10 and 15, tried on three draws of classes, it is the fewest
that learned well. An epoch takes longer than one of `der`. docs/method_measurements.md has the accuracies.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from seqsearch.backbones.parts.resnet import pooled
from seqsearch.methods.base import Context, FitReport, Footprint
from seqsearch.methods.config import Config as BaseConfig
from seqsearch.methods.data import Batch, TaskData
from seqsearch.methods.parts.augmentation import views_by
from seqsearch.methods.parts.contrast import info_nce
from seqsearch.methods.parts.expanding import Expanding, bytes_of, concatenated, frozen, widened
from seqsearch.methods.parts.guidance import Guided, Lesson, mapped, project
from seqsearch.methods.parts.head import load_head, uniform_head
from seqsearch.methods.parts.merging import new_merging
from seqsearch.methods.parts.network import own_backbone, saved, saved_under
from seqsearch.methods.parts.rehearsal import REHEARSAL
from seqsearch.methods.parts.training import Group


class TaskAgnosticGuided(Expanding):
    """A network a task beside one that learns without labels; see the module."""

    Config = Guided
    config: Guided
    caps = replace(REHEARSAL, design=("exemplar", "full", "functional", "expansion"), backbones="maps")

    def __init__(self, context: Context, config: BaseConfig) -> None:
        super().__init__(context, config)
        dim, device, draw = context.dim, context.device, context.generator("projector")
        hidden = self.config.hidden or (2048 if dim >= 512 else 512)
        projected = self.config.projected or (1024 if dim >= 512 else 128)
        self.agnostic = own_backbone(context)
        self.projector = [uniform_head(hidden, dim, draw, device), uniform_head(projected, hidden, draw, device)]
        self.predictor = uniform_head(dim, dim, context.generator("predictor"), device)

    def new_network(self) -> nn.Module:
        network = super().new_network()
        if self.networks:
            with torch.no_grad():
                for parameter, other in zip(network.parameters(), self.agnostic.parameters(), strict=True):
                    parameter.mul_(self.config.inherited).add_(other, alpha=1 - self.config.inherited)
        return network

    def augmentation(self) -> None:
        """Views are made where the loss is computed."""

    def fit_task(self, task: TaskData) -> FitReport:
        network, data, draw = self.new_network(), self.with_exemplars(task), task.generator("views")
        head = widened(self.head, len(task.columns), self.context.dim, task.generator("head"), crossing=False)
        plain, view, before = (
            self.context.augment == "none",
            views_by(self.context, self.recipe),
            self.old_features(data),
        )
        projector = [layer.trainable() for layer in self.projector]
        lesson = self._lesson(task) if self.networks else None

        def loss_of(part: Batch) -> Tensor:
            views = torch.cat([view(part.images, draw), view(part.images, draw)])
            seen = mapped(self.agnostic, views)
            if plain:
                images, targets, old = part.images, part.targets, before(part)
                with torch.no_grad():
                    agnostic = mapped(self.agnostic, images)
            else:
                images, targets, agnostic = views, part.targets.repeat(2), seen.detach()
                with torch.no_grad():
                    old = concatenated(self.networks, views)
            specific = mapped(network, images)
            new, embeddings = pooled(specific), project(projector, pooled(seen))
            scores = head(torch.cat([old, new], dim=1))
            loss = functional.cross_entropy(scores, targets)
            contrast = info_nce(embeddings, embeddings, self.config.temperature)
            if lesson is None:
                return loss + self.config.contrast * contrast
            guided = lesson.guided(loss.detach(), scores, targets, agnostic, specific)
            return loss + guided + self.config.contrast * lesson.contrast(contrast, views, pooled(seen))

        heads = [p for h in (head, *projector) for p in h.parameters()] + (lesson.parameters() if lesson else [])
        groups = [Group([*network.parameters(), *self.agnostic.parameters(), *heads], self.rates(task))]
        report = self.train(task, data, groups, [network, self.agnostic], loss_of, generators=[draw])
        self.projector = [layer.detached() for layer in projector]
        self.predictor = lesson.predictor.detached() if lesson else self.predictor
        return self.finish(task, network, head, report)

    def _lesson(self, task: TaskData) -> Lesson:
        config, dim, device = self.config, self.context.dim, self.context.device
        return Lesson(
            config,
            task.columns.start,
            task.columns.stop,
            frozen(copy.deepcopy(self.agnostic)),
            self.projector,
            self.predictor.trainable(),
            self.auxiliary_head(task),
            new_merging(dim, math.gcd(config.heads, dim), task.generator("merging"), device),
            uniform_head(len(task.columns), dim, task.generator("merged head"), device),
        )

    def state_dict(self) -> dict[str, Any]:
        heads = {f"projector.{k}.": layer for k, layer in enumerate(self.projector)} | {"predictor.": self.predictor}
        found = super().state_dict() | saved(self.agnostic.state_dict(), "agnostic.")
        for prefix, head in heads.items():
            found |= head.state(prefix)
        return found

    def load_networks(self, state: Mapping[str, Any]) -> None:
        super().load_networks(state)
        self.agnostic.load_state_dict(saved_under(state, "agnostic."))
        self.projector = [load_head(state, f"projector.{k}.", self.context.device) for k in range(2)]
        self.predictor = load_head(state, "predictor.", self.context.device)

    def memory_footprint(self) -> Footprint:
        own, teaching = super().memory_footprint(), [*self.projector, self.predictor]
        return replace(own, params=own.params + bytes_of([self.agnostic]) + sum(head.bytes for head in teaching))


build = TaskAgnosticGuided
