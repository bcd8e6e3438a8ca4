"""BiC, bias correction: distil the old classes' scores, then correct the scores of each task by a scale and a shift.

"Large Scale Incremental Learning".

New classes have more images, so their scores are too large. From the second task on, some images of every
class are put aside, equally many of each: ``split_ratio`` of the images that the memory held of an old class.
Stage 1 learns from all other images. Let z be the scores of the network being trained, and o the scores of
the network before the task for the old classes. In both, the alpha and beta of the earlier tasks correct old
classes. Let k be the share of old classes among all. The loss is

    (1 - k) CE(z, y) + k KD(z_old, o),    KD(z, o) = - sum_c softmax(o / T)_c log softmax(z / T)_c.

Stage 2 keeps the network fixed and learns two numbers of the new task from the images put aside. Scores of
the task's classes become ``alpha z + beta``, by cross-entropy among all classes. The scores of the first task
are never corrected. With ``lamb`` 0 the two losses of stage 1 have the weights above. With any other value
the loss is that of GTEP: ``CE + lambda KD``.

If the memory is too small to put an image of each class aside, there is no stage 2: alpha stays 1 and beta 0.
The notes of a training have the number of images of a class that were put aside (``validation``).

Trainable: the whole network and all head rows; alpha and beta of the task. Stored: network (batch statistics
too), head, alpha and beta of each task, exemplars as pool rows, and the means of their features for the
second classifier, ``nme``. The old network is not stored: it is the state before the task.

Departures from the public code (PyCIL), and why (effects are not measured unless given):

- the first task has GTEP's schedule (200 epochs, decay 5e-4). In PyCIL it has that of the later tasks.
- with ``form=paper`` (the default) stage 2 takes the cross-entropy of the scores. The network is in eval
  mode, and images are not augmented.
- with ``form=published`` stage 2 is as in PyCIL. It takes the softmax of the scores as scores, and the
  gradient of that cross-entropy vanishes where a class is certain. The network is in train mode, so its batch
  statistics continue to change, and images are augmented. On ``scratch:tiny`` that is 2.5 pp worse (30 draws,
  [1.1, 3.8]; docs/method_measurements.md).
- every class leaves at least one image for stage 1, so fewer images may be put aside. In PyCIL it is an error
  if a class has too few images, or if none is put aside.
- ``correction_epochs`` gives stage 2 its own number of epochs, because with few images the epochs of stage 1
  are few steps. 0 is as in PyCIL.
- rates fall by the step. Weights of the first task are drawn from its seed. New head rows start with equal
  values in all continuations of one state.

On ``scratch:tiny`` lambda is 1 and the split ratio 0.2. The images put aside are few and used often. A ratio
of 0.3, tried on three draws of classes, did not differ from it. docs/method_measurements.md has the
accuracies.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from seqsearch.methods.base import Context, FitReport, Footprint, joined
from seqsearch.methods.config import Config as BaseConfig
from seqsearch.methods.config import param
from seqsearch.methods.data import Batch, TaskData
from seqsearch.methods.parts import gtep
from seqsearch.methods.parts.checkpoint import Live
from seqsearch.methods.parts.head import Head, distillation, weighed
from seqsearch.methods.parts.network import saved
from seqsearch.methods.parts.single import DISTILLED, Single, WeighedDistillation
from seqsearch.methods.parts.training import Group, descend


class BiC(Single):
    """Distillation, and a scale and a shift of each task's scores; see the module."""

    @dataclass(frozen=True)
    class Config(WeighedDistillation):
        split_ratio: float = param(
            0.1,
            "images of a class put aside, as a part of what the memory holds of an old one",
            minimum=0.0,
            maximum=0.9,
            search=gtep.SPLIT_RATIO,
            tiny=0.2,
            later=True,
        )
        form: str = param(
            "paper", "stage 2 as in the paper, or as in the public code", choices=("paper", "published"), later=True
        )
        correction_epochs: int = param(
            0,
            "passes over the images put aside; 0: as many as over the others",
            minimum=0,
            maximum=10_000,
            tiny=100,
            later=True,
        )

        def aside(self, old: int) -> int:
            """Images of each class to be put aside when there are ``old`` classes, if there are enough."""
            return int(self.split_ratio * (self.memory / old if self.memory_of == "all" else self.memory)) if old else 0

    config: Config
    caps = DISTILLED

    def __init__(self, context: Context, config: BaseConfig) -> None:
        super().__init__(context, config)
        self.corrections = torch.zeros(0, 2, device=context.device)
        """Alpha and beta of each class ``[C, 2]``: those of its task."""

    # ------------------------------------------------------------------------------------------------ training

    def fit_task(self, task: TaskData) -> FitReport:
        data, head, old = self.with_exemplars(task), self.grown_head(task), task.columns.start
        count = min(self.config.aside(old), int(torch.bincount(data.targets.cpu()).min()) - 1)
        aside = drawn(data.targets.cpu(), count, task.generator("validation"))
        kept = torch.ones(len(data), dtype=torch.bool)
        kept[aside] = False
        known = torch.cat([self.corrections, neutral(len(task.columns), self.corrections)])
        report = self.train(
            task,
            data.select(torch.nonzero(kept).flatten()),
            self.groups(task, head),
            [self.backbone],
            self._loss(head, known, old),
        )
        report = replace(report, notes={**report.notes, "validation": float(max(count, 0))})
        if report.status == "ok" and len(aside):
            report = joined(report, self._correct(task, head, known, data.select(aside)))
        self.corrections = known
        return self.finish(task, head, report)

    def _loss(self, head: Head, known: Tensor, old: int) -> Callable[[Batch], Tensor]:
        """The loss of stage 1; ``known`` ``[C, 2]`` are the corrections of all classes, neutral for those of the task."""
        config, old_scores, before = self.config, self.answers(), self.corrections
        share = old / len(known)

        def loss_of(part: Batch) -> Tensor:
            scores = corrected(head(self.backbone(part.images)), known)
            loss = functional.cross_entropy(scores, part.targets)
            if not old:
                return loss
            kd = distillation(scores[:, :old], corrected(old_scores(part.images), before), config.temperature)
            return weighed(loss, kd, config.lamb, share)

        return loss_of

    def _correct(self, task: TaskData, head: Head, known: Tensor, aside: Batch) -> FitReport:
        """Stage 2: put alpha and beta of the task into ``known`` ``[C, 2]``."""
        config, old, phase = self.config, task.columns.start, "correction"
        found = torch.tensor([1.0, 0.0], device=self.context.device, requires_grad=True)
        groups = [Group([found], config.lr)]
        descent = replace(config.later(), epochs=config.correction_epochs or config.epochs)

        def with_found(scores: Tensor) -> Tensor:
            return corrected(scores, torch.cat([known[:old], found.expand(len(task.columns), 2)]))

        if config.form == "published":

            def loss_of_part(part: Batch) -> Tensor:
                with torch.no_grad():
                    scores = head(self.backbone(part.images))
                return functional.cross_entropy(with_found(scores).softmax(1), part.targets)

            report = self.train(task, aside, groups, [self.backbone], loss_of_part, phase=phase, descent=descent)
        else:
            with torch.no_grad():
                scores = head(self.features(aside))

            def loss_of(positions: Tensor) -> Tensor:
                at = positions.to(scores.device)
                return functional.cross_entropy(with_found(scores[at]), aside.targets[at])

            live, shuffle = Live(progress=task.progress, phase=phase), task.generator(f"shuffle {phase}")
            report = descend(groups, len(aside), descent, shuffle, loss_of, live=live)
        known[old:] = found.detach()
        return report

    # ------------------------------------------------------------------------------------------------ evaluating

    def head_scores(self, features: Tensor) -> Tensor:
        return corrected(self.head(features), self.corrections)

    def counters(self) -> Mapping[str, float]:
        """Alpha and beta of the last task."""
        return dict(zip(("alpha", "beta"), self.corrections[-1].tolist(), strict=True)) if len(self.corrections) else {}

    def state_dict(self) -> dict[str, Any]:
        return super().state_dict() | saved({"corrections": self.corrections})

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        super().load_state_dict(state)
        self.corrections = state["corrections"].to(self.context.device, copy=True)

    def memory_footprint(self) -> Footprint:
        return self.footprint(self.head.bytes + 8 * self.n_tasks)  # alpha and beta of each task: two floats of 4 bytes


def corrected(scores: Tensor, corrections: Tensor) -> Tensor:
    """``alpha z + beta`` of ``scores`` ``[n, C]``, by the alpha and the beta of each class ``[C, 2]``."""
    return scores * corrections[:, 0] + corrections[:, 1]


def neutral(classes: int, like: Tensor) -> Tensor:
    """Corrections ``[classes, 2]`` that change nothing."""
    return like.new_tensor([[1.0, 0.0]]).repeat(classes, 1)


def drawn(targets: Tensor, count: int, generator: torch.Generator) -> Tensor:
    """Positions of ``count`` images of every class, drawn, in ``targets`` ``[n]``; none if ``count`` is 0 or less."""
    found = [torch.empty(0, dtype=torch.int64)]
    for column in sorted(set(targets.tolist())) if count > 0 else ():
        places = torch.nonzero(targets == column).flatten()
        found.append(places[torch.randperm(len(places), generator=generator)[:count]])
    return torch.cat(found)


build = BiC
