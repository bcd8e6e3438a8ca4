"""The settings that both sides of `benchmarks.parity.peers` get, and the answer that both give."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from seqsearch.methods.parts.training import cosine


@dataclass(frozen=True)
class Schedule:
    """Experience replay: stochastic gradient descent without momentum, rates along half a cosine in every task.

    ``batch`` new images a step, and as many from the ``buffer``: anew for each step here, there in shuffled passes, whose last
    step has less where ``batch`` does not divide ``buffer``.
    """

    epochs: int = 3
    batch: int = 20
    buffer: int = 80
    lr: float = 0.1
    backbone_lr: float = 0.005
    weight_decay: float = 5e-4

    def factor(self, images: int) -> Callable[[int], float]:
        """On rates, by number of the step, for tasks of so many images."""
        steps = self.epochs * math.ceil(images / self.batch)
        return lambda step: cosine(step / steps)

    def method(self) -> str:
        """The same for ``--methods``."""
        return (
            f"er:buffer=reservoir,buffer_size={self.buffer},epochs={self.epochs},batch_size={self.batch},lr={self.lr},"
            f"backbone_lr={self.backbone_lr},weight_decay={self.weight_decay},optimizer=sgd,momentum=0,scheduler=cosine"
        )


@dataclass(frozen=True)
class Outcome:
    """One training: accuracy on each task in the end, seconds of training and evaluating all tasks, wall and processor."""

    seed: int
    accuracies: tuple[float, ...]
    wall: float
    cpu: float

    @property
    def accuracy(self) -> float:
        """Mean over tasks."""
        return math.fsum(self.accuracies) / len(self.accuracies)
