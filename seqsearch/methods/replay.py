"""Replay: learn new images and herded exemplars of old classes together, by cross-entropy among all classes seen.

This is the baseline of "Hyperparameters in Continual Learning: A Reality Check" (GTEP) and of the PyCIL
toolbox. `er` is another method, which draws as many stored images as new ones for each step and keeps a
uniform sample.

Trainable: the whole network and all head rows. Stored: network (batch statistics too), head, exemplars as
pool rows, and the means of their features for the second classifier, ``nme``.

Departures from the public code (PyCIL), and why (effects are not measured unless given):

- if the memory cannot be divided equally, the first classes keep an image more. In PyCIL the rest stays
  empty.
- rates fall by the step. Weights of the first task are drawn from its seed. New head rows start with equal
  values in all continuations of one state.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor
from torch.nn import functional

from seqsearch.methods.base import FitReport
from seqsearch.methods.config import param
from seqsearch.methods.data import Batch, TaskData
from seqsearch.methods.parts import gtep
from seqsearch.methods.parts.rehearsal import REHEARSAL, RehearsalTraining
from seqsearch.methods.parts.single import Single


class Replay(Single):
    """Cross-entropy on new images and exemplars; see the module."""

    @dataclass(frozen=True)
    class Config(RehearsalTraining):
        epochs: int = param(
            70,
            "passes over the images of a later task",
            minimum=1,
            maximum=10_000,
            search=gtep.EPOCHS,
            tiny=15,
            tiny_search=(5, 10, 15, 20),
            later=True,
        )

        def drops(self) -> Sequence[float]:
            return 30 / 70, 50 / 70

    config: Config
    caps = REHEARSAL

    def fit_task(self, task: TaskData) -> FitReport:
        head = self.grown_head(task)

        def loss_of(part: Batch) -> Tensor:
            return functional.cross_entropy(head(self.backbone(part.images)), part.targets)

        report = self.train(task, self.with_exemplars(task), self.groups(task, head), [self.backbone], loss_of)
        return self.finish(task, head, report)


build = Replay
