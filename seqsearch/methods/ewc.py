"""EWC, elastic weight consolidation: a penalty holds the parameters that mattered for old tasks.

"Overcoming catastrophic forgetting in neural networks".

After each task the diagonal F of the Fisher information measures how much each parameter mattered. The next
task descends

    CE(z_new, y) + lambda / 2 sum_j F_j (theta_j - theta*_j)^2

with theta* the parameters it started from. F is one running mean over tasks, weighted by their classes. With
n_old classes before the task and n_all after it, ``F <- (n_old F + (n_all - n_old) F_task) / n_all``. Head
rows of the new classes had no F, so they take F_task. ``F_task`` is the mean over the task's images of the
squared gradient of the same cross-entropy, of each image by itself (`diagonal_fisher`).

Cross-entropy is among the new classes only (``classes=new``), as in PyCIL. Old head rows then get no
gradient, and the penalty holds them against weight decay alone. With ``classes=all`` new classes push old
rows down, and only the penalty holds them.

Trainable: the whole backbone (at ``backbone_lr``) and all head rows (at ``lr``). Stored: backbone, head, F of
both (theta* is the state itself).

Departures from the public code, and why (effects are not measured unless given):

- gradients are of single images, not of batches of 128 in train mode. Squared batch means are about 128 times
  smaller and vary with the batch size. PyCIL's lambda 1000 corresponds to about 8 here, which is the default.
- ``lambda F_j`` is cut at one over the learning rate, where a step already undoes itself. Beyond twice that
  value, steps overshoot and training diverges (`stiffness`). Nothing else is clipped. PyCIL cuts F itself at
  1e-4, so with its lambda no entry weighs more than 0.1.
- the loss of F is the training loss, not always the loss over all classes.
- F is computed on images without augmentation, in eval mode. PyCIL uses train mode, which changes the batch
  statistics once more.
- on a pre-trained network epochs and rates are PILOT's for fine-tuning a transformer, and the network stays
  in eval mode (`own_backbone`).
- the rate falls by the step, not by the epoch.

From scratch the schedules are PyCIL's: 200 epochs for the first task, then 180 with drops after 70, 120 and
150.

On the glyphs a large penalty helps if the backbone learns fast (one sequence at rate 0.005: 0.796 against
0.780). A slow backbone is better, and then the penalty changes nothing (0.815 with and without, three
sequences). The loss there comes from the balance between heads that were never trained together. No penalty
on old weights restores that balance.

On ``scratch:tiny`` lambda is 1e4. The published lambda has no effect in so few steps, and ten times more
prevents the learning of new classes (six draws of classes, docs/method_measurements.md, with weight decay
`SHORT_DECAY`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from seqsearch.methods.base import Caps, Context, FitReport, Footprint
from seqsearch.methods.config import Config as BaseConfig
from seqsearch.methods.config import LogUniform, param
from seqsearch.methods.data import TaskData
from seqsearch.methods.parts.fisher import (
    LEAST_RATE,
    Parameters,
    blended,
    diagonal_fisher,
    named,
    quadratic_penalty,
    run_with,
    stiffness,
)
from seqsearch.methods.parts.head import Head
from seqsearch.methods.parts.network import saved, saved_under
from seqsearch.methods.parts.tuned import Tuned, TunedTraining, backbone_rate, epochs_of, head_rate, light_decay


class EWC(Tuned):
    """Quadratic penalty weighted by the Fisher information; see the module."""

    @dataclass(frozen=True)
    class Config(TunedTraining):
        epochs: int = epochs_of(180)
        lr: float = head_rate(embedded=0.02)
        backbone_lr: float = backbone_rate(embedded=0.001)
        weight_decay: float = light_decay()
        lamb: float = param(
            8.0,
            "lambda: weight of the penalty",
            minimum=0.0,
            maximum=1e12,
            search=LogUniform(0.1, 1e4),
            embedded=3e4,
            embedded_search=LogUniform(100.0, 1e6),
            tiny=1e4,
            tiny_search=LogUniform(100.0, 1e6),
            later=True,
        )
        classes: str = param("new", "classes that the cross-entropy is among", choices=("new", "all"))

        def drops(self) -> Sequence[float]:
            return 70 / 180, 120 / 180, 150 / 180

    config: Config
    caps = Caps(augmentation="pycil", design=("full", "parameter"))

    def __init__(self, context: Context, config: BaseConfig) -> None:
        super().__init__(context, config)
        self.fisher: dict[str, Tensor] = {}
        """By the names of `_parameters`; empty before the first task."""

    def fit_task(self, task: TaskData) -> FitReport:
        config, (train, head) = self.config, self.begun(task)
        anchor = {name: p.detach().clone() for name, p in self._parameters(self.head).items()}
        moving, stiff = self._parameters(head), self._stiffness()
        first = task.columns.start if config.classes == "new" else 0

        def loss_with(parameters: Parameters, images: Tensor, targets: Tensor) -> Tensor:
            features = run_with(self.backbone, parameters, "backbone.", images)
            scores = functional.linear(features, parameters["head.weight"], parameters["head.bias"])
            return functional.cross_entropy(scores[:, first:], targets - first)

        def loss_of(positions: Tensor) -> Tensor:
            part = train.select(positions)
            loss = functional.cross_entropy(head(self.backbone(part.images))[:, first:], part.targets - first)
            return loss + quadratic_penalty(moving, anchor, stiff) if stiff else loss

        report = self.descend(task, train, head.parameters(), loss_of)
        self.head = head.detached()
        if report.status == "ok":
            new = diagonal_fisher(self.backbone, moving, loss_with, train.batch)
            self.fisher = blended(self.fisher, new, task.columns.start / task.columns.stop)
        finite = all(bool(torch.isfinite(f).all()) for f in self.fisher.values())
        return report if finite else FitReport("diverged", report.losses)

    def _stiffness(self) -> dict[str, Tensor]:
        """lambda F, never beyond what steps of each rate can bear; empty before the second task."""
        head = {name: f for name, f in self.fisher.items() if name.startswith("head.")}
        backbone = {name: f for name, f in self.fisher.items() if name not in head}
        config = self.config
        return {
            **stiffness(backbone, config.lamb, 1 / max(config.backbone_lr, LEAST_RATE)),
            **stiffness(head, config.lamb, 1 / max(config.lr, LEAST_RATE)),
        }

    def _parameters(self, head: Head) -> dict[str, Tensor]:
        """All that the penalty may hold, by name."""
        return named(self.backbone, "backbone.") | {"head.weight": head.weight, "head.bias": head.bias}

    def state_dict(self) -> dict[str, Any]:
        return super().state_dict() | saved(self.fisher, "fisher.")

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        super().load_state_dict(state)
        self.fisher = {n: f.to(self.context.device, copy=True) for n, f in saved_under(state, "fisher.").items()}

    def memory_footprint(self) -> Footprint:
        return Footprint(params=self.head.bytes, statistics=4 * sum(f.numel() for f in self.fisher.values()))


build = EWC
