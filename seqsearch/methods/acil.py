"""ACIL, analytic class-incremental learning: the first task trains the network, and ridge regression learns all tasks.

"ACIL: Analytic Class-Incremental Learning with Absolute Memorization and Privacy Protection".

The first task trains the network under a linear head, which is then discarded. Afterwards the network is frozen. With f
its features ``[d]``, W a fixed random matrix ``[d, M]`` and ``h = relu(f W)``, all images seen so far give one ridge
regression onto one-hot labels:

    V = (H^T H + gamma I)^-1 H^T Y.

The scores of an image are ``h V``. The paper updates V and the inverse task by task, which gives the same V. So the
scores do not depend on the order of the tasks after the first. ``ranpac`` has the same regression, other features and
a penalty chosen on validation images.

Trainable: on the first task the network, then V in closed form. Stored: the network, V and the sums H^T H and H^T Y.
While there are fewer images than M, their features are stored in place of the sums.

On pre-trained backbones ``epochs`` is 0: the network stays as it is, and no order of tasks matters.

Departures from the public code (PyCIL), and why (effects are not measured unless given):

- V is solved from sums instead of updated. Both are in double precision.
- the rate of the first task falls by the step, not by the epoch.
- the paper trains networks from scratch. On pre-trained backbones rates are usual ones of fine-tuning.

It has nothing to validate, so it learns from all images of a task but test images.

On the embedded backbones gamma is 100: the best of 0.1, 10 and 100 on reward images of three glyph sequences.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from seqsearch.methods.base import Caps, FitReport
from seqsearch.methods.config import Config as BaseConfig
from seqsearch.methods.config import LogUniform, param
from seqsearch.methods.parts.projected import Projected
from seqsearch.methods.parts.training import Rate, steps
from seqsearch.methods.parts.whole import NetworkTraining, train_network

if TYPE_CHECKING:
    from seqsearch.methods.data import TaskData


class ACIL(Projected):
    """Ridge on ``relu(f W)``, f of the network that the first task trained; see the module."""

    @dataclass(frozen=True)
    class Config(NetworkTraining):
        M: int = param(
            8192,
            "width of the random projection",
            minimum=1,
            maximum=100_000,
            search=(2048, 4096, 8192),
            embedded=2000,
            embedded_search=(500, 1000, 2000),
            tiny=500,
            tiny_search=(100, 500, 1000),
        )
        ridge: float = param(
            0.1,
            "gamma: penalty of the regression",
            minimum=1e-12,
            maximum=1e12,
            search=LogUniform(1e-3, 1e3),
            embedded=100.0,
            tiny=0.1,
        )
        epochs: int = param(
            0,
            "passes over the first task's images, which train the network; 0: it stays as it is",
            minimum=0,
            maximum=10_000,
            embedded=0,
            embedded_search=(0, 3, 5),
            scratch=160,
            tiny=15,
            tiny_search=(5, 10, 15, 20),
        )
        scheduler: str = param(
            "cosine",
            "how the learning rate falls",
            choices=("cosine", "steplr", "constant"),
            scratch="steplr",
            tiny="cosine",
        )
        milestones: int = param(
            0,
            "drops n of scheduler=steplr, after 2i/(2n+1) of the steps, i = 1..n; 0: as published",
            minimum=0,
            maximum=10_000,
        )

        def rate(self) -> Rate:
            published = self.scheduler == "steplr" and not self.milestones
            return steps((120 / 160, 140 / 160), self.lr_decay) if published else super().rate()

    config: Config

    @classmethod
    def capabilities(cls, config: BaseConfig) -> Caps:
        trains = bool(cls.anchor(config))
        return Caps(
            input="images" if trains else "frozen",
            order_invariant_after=cls.anchor(config),
            trains_backbone=trains,
            augmentation="pycil",
            design=("statistic", "full") if trains else ("statistic",),
            closed_form=not trains,
        )

    @classmethod
    def anchor(cls, config: BaseConfig) -> int:
        return int(getattr(config, "epochs", 0) > 0)

    def drawn_projection(self, generator: torch.Generator) -> Tensor:
        """W ``[d, M]`` on the CPU: uniform within ``+- 1 / sqrt(d)``."""
        drawn = 2 * torch.rand(self.context.dim, self.config.M, generator=generator) - 1
        return drawn / math.sqrt(self.context.dim)

    def begin(self, task: TaskData) -> FitReport:
        self.adapted, _, report = train_network(task, self.config, self.context, biased=False)
        return report


build = ACIL
