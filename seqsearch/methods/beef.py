"""BEEF: a new network for every task, trained with generated rivals of its images; then all scores are fused.

"BEEF: Bi-Compatible Class-Incremental Learning via Energy-Based Expansion and Fusion", the form without
compression (BEEF-iso). Task t trains a network ``f_t``, which begins as the first network. Its head has a
slot for each class of the task and one slot for each task before (the backward prototypes ``v_k``). It also
has an energy score of each class seen (the forward prototypes; `seqsearch.methods.parts.energy`). Training
has two stages:

- expansion:
  ``CE([v f / alignment, w f], slot of y) + energy_weight * (energy loss of rivals of the images)``, on new
  images and exemplars. With ``alignment``, training raises the scores of old tasks' slots, because these
  tasks have few images.
- fusion: the score of an old class c of task k is its old score plus ``(1 + a_k) v_k f_t + b_k``. The score
  of a new class is ``w_c f_t``. Only a and b are trained, from zeros, by cross-entropy on equally many images
  of every class.

Fused scores are one linear head over the features of all networks.

Trainable: the new network and the weights that score its features, then two numbers for each task before.
Stored: all networks (the old ones once, for all states that share them), the head, and exemplars as `replay`
stores them. Forward and backward prototypes belong to one task.

``form=stabilised``, the default, is BEEF with its faults corrected. The journal has the note ``stabilised``.
With ``form=published`` training follows the formulas of the public code (PyCIL), and may diverge, as GTEP
found. Only that form has these properties:

- the energy of rivals is ``log`` of a sum over the batch, which underflows.
- rivals leave the range of pixels. Their loss leaves out, for each image, the slots of all images of the
  batch (`seqsearch.methods.parts.energy`).
- all old networks but the first continue to learn batch statistics, of images and of rivals, in both stages.
  So they are not stored once. In the default form all old networks are in eval mode, and in fusion the new
  one as well.
- fusion, and the scores right after a task, leave out the biases of old classes: the code overwrites them
  where it should add to them. From the next task on they are included.

Other departures from the public code, and why (effects are not measured unless given):

- rivals are made with the network itself in eval mode, not with a copy of it for every step. The result is
  the same, and faster.
- images of new classes for fusion are drawn once. Each class has as many as every old class has exemplars.
- memory is 2000 images together, as in GTEP's experiments (in PyCIL 20 a class:
  ``memory=20,memory_of=class``).
- new heads start with equal values in all continuations of one state. Rates fall by the step.

A step passes its images through the network five times, three of them for the rivals.

On ``scratch:tiny`` the rate is 0.1, with 8 epochs and 10 fusion epochs. This was the best on three draws of
classes. A rate of 0.05, and 15 and 15 epochs, were tried as well. docs/method_measurements.md has the
accuracies.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from seqsearch.methods.base import FROZEN, Context, FitReport, joined
from seqsearch.methods.config import Config as BaseConfig
from seqsearch.methods.config import param
from seqsearch.methods.data import Batch, TaskData
from seqsearch.methods.parts import gtep
from seqsearch.methods.parts.energy import Slots, at_rest, energy_loss, rivals
from seqsearch.methods.parts.expanding import Expanding, concatenated, frozen
from seqsearch.methods.parts.head import Head, checked_finite, uniform_head
from seqsearch.methods.parts.network import held, own_backbone, saved, saved_under
from seqsearch.methods.parts.rehearsal import REHEARSAL, RehearsalTraining, decay
from seqsearch.methods.parts.training import Group


class Beef(Expanding):
    """Expands by a network that scores old tasks, too, and fuses the scores; see the module."""

    @dataclass(frozen=True)
    class Config(RehearsalTraining):
        weight_decay: float = decay(5e-4)
        epochs: int = param(
            170,
            "passes over the images of a later task",
            minimum=1,
            maximum=10_000,
            search=gtep.EPOCHS,
            tiny=8,
            tiny_search=(5, 10, 15, 20),
            later=True,
        )
        lr: float = param(
            0.1,
            "learning rate of later tasks",
            minimum=0.0,
            maximum=1e30,
            search=gtep.LR,
            tiny=0.1,
            embedded=0.005,
            embedded_search=(0.001, 0.005, 0.02),
            tiny_search=(0.02, 0.05, 0.1),
            later=True,
        )
        scheduler: str = param(
            "cosine",
            "how the learning rate falls",
            choices=("cosine", "steplr", "constant"),
            search=gtep.SCRATCH_SCHEDULER,
        )
        energy_weight: float = param(
            0.01, "weight of the loss of rivals", minimum=0.0, maximum=1e6, search=gtep.ENERGY_WEIGHT
        )
        alignment: float = param(
            1.7,
            "by which scores of old tasks are divided in expansion",
            minimum=1e-3,
            maximum=1e3,
            search=gtep.LOGITS_ALIGNMENT,
            later=True,
        )
        fusion_epochs: int = param(
            60,
            "passes over the balanced images",
            minimum=1,
            maximum=10_000,
            search=gtep.EPOCHS,
            tiny=10,
            tiny_search=(5, 10, 15, 20),
            later=True,
        )
        fusion_lr: float = param(0.05, "learning rate of fusion", minimum=0.0, maximum=1e30, later=True)
        form: str = param(
            "stabilised", "with the public code's faults mended, or with them", choices=("stabilised", "published")
        )

    config: Config
    caps = replace(REHEARSAL, design=("exemplar", "full", "expansion"))

    def __init__(self, context: Context, config: BaseConfig) -> None:
        super().__init__(context, config)
        self.published = self.config.form == "published"
        self.sizes: list[int] = []
        """Classes of each task."""
        self.overwritten = torch.zeros(0, device=context.device)
        """Biases ``[C]`` that scores leave out right after a task, in the published form."""

    # ------------------------------------------------------------------------------------------------ learning

    def fit_task(self, task: TaskData) -> FitReport:
        data, network, slots = self.with_exemplars(task), self._begun(), self._slots(task)
        report = self._expand(task, data, network, slots)
        if report.status == "ok":
            self.networks.append(frozen(network))
            if task.depth:
                report = joined(report, self._fuse(task, slots))
            else:
                self.head, self.overwritten = slots.classes.detached(), torch.zeros_like(slots.classes.bias.detach())
        if report.status == "ok":
            self.sizes.append(len(task.columns))
            self.store(task)
        return replace(report, notes={**report.notes, "stabilised": float(not self.published)})

    def _begun(self) -> nn.Module:
        """The new network, which begins as the first one ended."""
        return copy.deepcopy(self.networks[0]).requires_grad_(True) if self.networks else own_backbone(self.context)

    def _slots(self, task: TaskData) -> Slots:
        counts = {"head": len(task.columns), "backward": task.depth, "forward": task.columns.stop}
        width, device = self.context.dim, self.context.device
        return Slots(*(uniform_head(n, width, task.generator(phase), device) for phase, n in counts.items()))

    def _tasks(self, new: int) -> Tensor:
        """The slot of each class seen ``[C]``: of old ones their task, of the ``new`` ones those behind."""
        of_old = torch.repeat_interleave(torch.arange(len(self.sizes)), torch.tensor(self.sizes, dtype=torch.int64))
        return torch.cat([of_old, len(self.sizes) + torch.arange(new)]).to(self.context.device)

    def _expand(self, task: TaskData, data: Batch, network: nn.Module, slots: Slots) -> FitReport:
        c, old, slot, noise = self.config, task.depth, self._tasks(len(task.columns)), task.generator("noise")
        live = self.networks[1:] if self.published else []

        def look(images: Tensor) -> tuple[Tensor, Tensor]:
            return slots(network(images))

        def passed(images: Tensor) -> tuple[Tensor, Tensor]:
            with torch.no_grad():
                concatenated(live, images)  # for its batch statistics
            return look(images)

        def loss_of(part: Batch) -> Tensor:
            own, (scores, _) = slot[part.targets], passed(part.images)
            aligned = torch.cat([scores[:, :old] / c.alignment, scores[:, old:]], 1)
            with at_rest(network):
                made = rivals(part.images, look, noise, self.context.levels, self.published)
            energy = energy_loss(*passed(made), own, part.targets, self.published)
            return functional.cross_entropy(aligned, own) + c.energy_weight * energy

        group = Group([*network.parameters(), *slots.parameters()], self.rates(task))
        return self.train(task, data, [group], [network, *live], loss_of, generators=[noise])

    def _fuse(self, task: TaskData, slots: Slots) -> FitReport:
        """Fit the scale and the offset of each old task's prototype."""
        data, k, kept = self._balanced(task), self._tasks(0), not self.published
        scale, offset = (torch.zeros(task.depth, device=self.context.device, requires_grad=True) for _ in range(2))
        features = self._features_in_training() if self.published else self.old_features(data)

        def loss_of(part: Batch) -> Tensor:
            return functional.cross_entropy(
                fused(self.head, slots, k, scale, offset, kept)(features(part)), part.targets
            )

        descent = replace(self.config.later(), epochs=self.config.fusion_epochs)
        group, live = Group([scale, offset], self.config.fusion_lr), self.networks[1:] if self.published else []
        report = self.train(task, data, [group], live, loss_of, phase="fuse", descent=descent)
        none = torch.zeros(len(task.columns), device=self.context.device)
        self.overwritten = torch.cat([self.head.bias, none]) * float(self.published)
        self.head = fused(self.head, slots, k, scale, offset).detached()
        return checked_finite(self.head.parameters(), report)

    def _features_in_training(self) -> Callable[[Batch], Tensor]:
        """Of all networks as they are, some of which may learn batch statistics."""

        def look(part: Batch) -> Tensor:
            with torch.no_grad():
                return concatenated(self.networks, part.images)

        return look

    def _balanced(self, task: TaskData) -> Batch:
        """Equally many exemplars of every old class, the best, and images of every new one."""
        columns, new = self.stored.columns, task.train.targets.cpu()
        counts = torch.cat([torch.bincount(columns), torch.bincount(new - task.columns.start)])
        n, draw, rows = int(counts.min()), task.generator("balanced"), []
        for column in range(task.columns.start):
            rows.append(self.stored.rows[columns == column][:n].numpy())
        for column in task.columns:
            mine = task.train.indices[(new == column).numpy()]
            rows.append(mine[torch.randperm(len(mine), generator=draw)[:n].numpy()])
        labels = torch.arange(task.columns.stop, device=self.context.device).repeat_interleave(n)
        return held(task.replay(np.concatenate(rows), labels), self.context)

    # ------------------------------------------------------------------------------------------------ evaluating

    def head_scores(self, features: Tensor) -> Tensor:
        scores = self.head(features)
        return scores - self.overwritten if self.published else scores

    def state_dict(self) -> dict[str, Any]:
        state = super().state_dict() | {"sizes": torch.tensor(self.sizes, dtype=torch.int64)}
        if self.published:
            state = {n: t for n, t in state.items() if not n.startswith(FROZEN)} | {
                "overwritten": self.overwritten.cpu()
            }
            for k, network in enumerate(self.networks):
                state |= saved(network.state_dict(), f"network.{k}.")
        return state

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        super().load_state_dict(state)
        self.sizes = state["sizes"].tolist()
        if self.published:
            self.overwritten = state["overwritten"].to(self.context.device, copy=True)
            for k in range(len(self.sizes)):
                self.networks.append(own_backbone(self.context))
                self.networks[k].load_state_dict(saved_under(state, f"network.{k}."))
                frozen(self.networks[k])


def fused(old: Head, slots: Slots, tasks: Tensor, scale: Tensor, offset: Tensor, biases: bool = True) -> Head:
    """The head over the features of all networks, with gradients for ``scale`` and ``offset``, both ``[t]``.

    Args:
        old: over the features of all but the new network.
        slots: of the new one, which are held still.
        tasks: of each old class ``[C]``.
        scale: a of each old task.
        offset: b.
        biases: whether old classes keep those of ``old``.
    """
    before, classes = slots.before.detached(), slots.classes.detached()
    weight = torch.cat([((1 + scale)[:, None] * before.weight)[tasks], classes.weight])
    bias = torch.cat([((1 + scale) * before.bias + offset)[tasks], classes.bias])
    left = functional.pad(old.weight, (0, 0, 0, len(classes)))
    return Head(torch.cat([left, weight], 1), bias + functional.pad(old.bias, (0, len(classes))) if biases else bias)


build = Beef
