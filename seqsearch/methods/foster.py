"""FOSTER: a second network learns the errors of the first; then both are compressed into one network again.

"FOSTER: Feature Boosting and Compression for Class-Incremental Learning". From the second task on there are
two stages:

- boosting: the old network ``f_o`` is frozen, and a second network ``f_n`` begins as its copy. One head
  scores the features of both, ``z = W [f_o; f_n] + b``, and its rows of old classes begin as the old head.
  Another head ``u`` scores ``f_n`` alone. The loss is
  ``CE(z / w, y) + boost CE(u, y) + lamb KD(z of old classes, the old head's)``, so classes of few images must
  get higher scores. ``w_c`` is in proportion to ``(1 - beta1) / (1 - beta1^(n_c))``, with n_c the images of
  class c, and has a mean of 1 ("Class-Balanced Loss Based on Effective Number of Samples").
- compression: a student of one network begins as the old network and its head. It learns the distribution of
  the two, ``p_c ~ w_c softmax(z / T)_c`` with the weights above but with beta2:
  ``- sum_c p_c log softmax(student / T)_c``.

Both networks (the teacher) predict, choose exemplars and give `features`. The next task starts from the
student.

Trainable: the second network with both heads, then the student. Stored: old network, second network, student,
the heads of teacher and student, and exemplars as `replay` stores them. Networks are final when their task
ends, so a task stores two new ones.

Departures from the public code (PyCIL, the configuration of its authors), and why (effects are not measured
unless given):

- n_c counts the training images. In PyCIL it is the memory for each old class. For new classes it is 500 on
  CIFAR-100, and elsewhere the sum of the images' positions in the data set. Weights were as if new classes
  had no end of images.
- memory is 2000 images together, as in GTEP's experiments. In PyCIL it is 20 a class
  (``memory=20,memory_of=class``).
- ``boost`` and ``lamb`` are parameters, as GTEP samples them (its lambda of FE and of KD). In PyCIL they are
  1.
- new heads start with equal values in all continuations of one state. Rates fall by the step.
- two options are not offered, which that configuration leaves out as well: weight alignment, and a head
  without weights from old features to new classes (``oofc=az``).
- without augmentation the features of frozen networks are computed once a task.

On ``scratch:tiny`` T is 1, which was better than 2 on three draws of classes. Rates of 0.02 and 0.1, lamb =
2, and 10 to 20 epochs of boosting and compression were tried there as well. docs/method_measurements.md has
the accuracies.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from seqsearch.methods.base import Context, FitReport, Footprint, joined
from seqsearch.methods.config import Config as BaseConfig
from seqsearch.methods.config import param
from seqsearch.methods.data import Batch, TaskData
from seqsearch.methods.parts import gtep
from seqsearch.methods.parts.expanding import (
    bytes_of,
    concatenated,
    frozen,
    frozen_state,
    load_frozen,
    remembered,
    widened,
)
from seqsearch.methods.parts.head import Head, distillation, empty_head, load_head, uniform_head
from seqsearch.methods.parts.network import embed, own_backbone
from seqsearch.methods.parts.rehearsal import REHEARSAL, Rehearsal, RehearsalTraining, decay
from seqsearch.methods.parts.training import Group


class Foster(Rehearsal):
    """Boosts by a second network, and compresses both into one; see the module."""

    @dataclass(frozen=True)
    class Config(RehearsalTraining):
        weight_decay: float = decay(5e-4)
        scheduler: str = param(
            "cosine",
            "how the learning rate falls",
            choices=("cosine", "steplr", "constant"),
            search=gtep.SCRATCH_SCHEDULER,
        )
        compression_epochs: int = param(
            130,
            "passes over the images in compression",
            minimum=1,
            maximum=10_000,
            search=gtep.EPOCHS,
            tiny=15,
            tiny_search=(5, 10, 15, 20),
            later=True,
        )
        temperature: float = param(
            2.0, "T of both distillations", minimum=1e-3, maximum=1e3, search=gtep.TEMPERATURE, tiny=1.0, later=True
        )
        lamb: float = param(
            1.0, "weight of keeping old scores", minimum=0.0, maximum=1e6, search=gtep.DISTILLATION, later=True
        )
        boost: float = param(
            1.0,
            "weight of the second network's own cross-entropy",
            minimum=0.0,
            maximum=1e6,
            search=gtep.DISTILLATION,
            later=True,
        )
        beta1: float = param(
            0.96,
            "of class weights in boosting; 0: all are 1",
            minimum=0.0,
            maximum=0.999999,
            search=gtep.BETA,
            later=True,
        )
        beta2: float = param(
            0.97,
            "of class weights in compression; 0: all are 1",
            minimum=0.0,
            maximum=0.999999,
            search=gtep.BETA,
            later=True,
        )

    config: Config
    caps = replace(REHEARSAL, design=("exemplar", "full", "functional", "expansion"))

    def __init__(self, context: Context, config: BaseConfig) -> None:
        super().__init__(context, config)
        self.teacher: list[nn.Module] = []
        """The old network and the second one; after the first task its network alone. All networks are frozen."""
        self.head = empty_head(0, context.device)
        """Of the teacher's features, one network's beside the other's."""
        self.student: nn.Module = nn.Identity()
        self.student_head = self.head

    # ------------------------------------------------------------------------------------------------ learning

    def fit_task(self, task: TaskData) -> FitReport:
        data = self.with_exemplars(task)
        report = self._boost(task, data) if task.depth else self._first(task, data)
        if report.status == "ok" and task.depth:
            report = joined(report, self._compress(task, data))
        if report.status == "ok":
            self.store(task)
        return report

    def _first(self, task: TaskData, data: Batch) -> FitReport:
        network, head = own_backbone(self.context), self._head(task, "head")

        def loss_of(part: Batch) -> Tensor:
            return functional.cross_entropy(head(network(part.images)), part.targets)

        report = self.train(task, data, [self._group(network, [head], self.rates(task))], [network], loss_of)
        self.student, self.student_head = frozen(network), head.detached()
        self.teacher, self.head = [self.student], self.student_head
        return report

    def _boost(self, task: TaskData, data: Batch) -> FitReport:
        """Train a second network beside the old one, and the head of both."""
        c, width, old_head = self.config, self.context.dim, self.student_head
        old, second = self.student, copy.deepcopy(self.student).requires_grad_(True)
        head = widened(old_head, len(task.columns), width, task.generator("head"))
        own = uniform_head(task.columns.stop, width, task.generator("own head"), self.context.device)
        weights = class_weights(data.targets, task.columns.stop, c.beta1)
        old_features = self._unchanged([old], data)

        def loss_of(part: Batch) -> Tensor:
            before, found = old_features(part), second(part.images)
            scores = head(torch.cat([before, found], 1))
            loss = functional.cross_entropy(scores / weights, part.targets)
            loss = loss + c.boost * functional.cross_entropy(own(found), part.targets)
            return loss + c.lamb * distillation(scores[:, : len(old_head)], old_head(before), c.temperature)

        group = self._group(second, [head, own], self.rates(task))
        report = self.train(task, data, [group], [second], loss_of, phase="boost")
        self.teacher, self.head = [old, frozen(second)], head.detached()
        return report

    def _compress(self, task: TaskData, data: Batch) -> FitReport:
        """Train a student, which begins as the old network, to score as the teacher does."""
        c, student = self.config, copy.deepcopy(self.student).requires_grad_(True)
        head = self.student_head.grown(self._head(task, "student head")).trainable()
        weights = class_weights(data.targets, task.columns.stop, c.beta2)
        both = self._unchanged(self.teacher, data)

        def loss_of(part: Batch) -> Tensor:
            scores = head(student(part.images))
            return balanced_distillation(scores, self.head(both(part)), weights, c.temperature)

        descent = replace(c.later(), epochs=c.compression_epochs, weight_decay=0.0)
        group = self._group(student, [head], self.rates(task))
        report = self.train(task, data, [group], [student], loss_of, phase="compress", descent=descent)
        self.student, self.student_head = frozen(student), head.detached()
        return report

    def _unchanged(self, networks: Sequence[nn.Module], data: Batch) -> Callable[[Batch], Tensor]:
        """Features of parts of ``data`` by frozen networks; computed once if images are not augmented."""

        def look(part: Batch) -> Tensor:
            return embed(lambda images: concatenated(networks, images), part)

        return remembered(look, data) if self.context.augment == "none" else look

    def _head(self, task: TaskData, phase: str) -> Head:
        """Of the task's classes, for one network's features."""
        return uniform_head(len(task.columns), self.context.dim, task.generator(phase), self.context.device)

    @staticmethod
    def _group(network: nn.Module, heads: Sequence[Head], rate: float) -> Group:
        return Group([*network.parameters(), *(p for head in heads for p in head.parameters())], rate)

    # ------------------------------------------------------------------------------------------------ evaluating

    def head_scores(self, features: Tensor) -> Tensor:
        return self.head(features)

    def features(self, batch: Batch) -> Tensor:
        """Of the teacher: ``[n, d]`` after the first task, else ``[n, 2 d]``."""
        return embed(lambda images: concatenated(self.teacher, images), batch)

    def memory_footprint(self) -> Footprint:
        """All networks but one, which is the backbone, and the heads."""
        heads = self.head.bytes + (self.student_head.bytes if len(self.teacher) > 1 else 0)
        return self.footprint(heads + bytes_of(self._networks()[1:]))

    def _networks(self) -> list[nn.Module]:
        """All that are stored: the old one, the second, the student; of the first task its only one."""
        return [*self.teacher, self.student] if len(self.teacher) > 1 else self.teacher

    def state_dict(self) -> dict[str, Any]:
        state = super().state_dict() | frozen_state(self._networks()) | self.head.state("head.")
        return state | (self.student_head.state("student.") if len(self.teacher) > 1 else {})

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        super().load_state_dict(state)
        device = self.context.device
        self.teacher, self.head = (
            load_frozen(state, own_backbone(self.context), device),
            load_head(state, "head.", device),
        )
        self.student, self.student_head = self.teacher[-1], self.head
        if len(self.teacher) > 1:
            self.student, self.student_head = self.teacher.pop(), load_head(state, "student.", device)


def class_weights(targets: Tensor, classes: int, beta: float) -> Tensor:
    """Weights ``[classes]`` of a mean of 1, as ``(1 - beta) / (1 - beta^(n_c))``, n_c how often class c is among ``targets``."""
    counts = torch.bincount(targets, minlength=classes).clamp(min=1).double()
    weights = (1 - beta) / (1 - beta**counts)
    return (weights / weights.mean()).float()


def balanced_distillation(scores: Tensor, teacher: Tensor, weights: Tensor, temperature: float) -> Tensor:
    """`distillation` of ``scores`` ``[n, C]`` where the teacher's probabilities are multiplied by ``weights`` ``[C]``, and each
    image's brought back to a sum of 1."""
    target = weights * functional.softmax(teacher / temperature, dim=1)
    return functional.cross_entropy(scores / temperature, target / target.sum(1, keepdim=True))


build = Foster
