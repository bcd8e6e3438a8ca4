"""Steps over features in memory, for learners that read no images."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from seqsearch.core.registry import load
from seqsearch.learners.base import Learner
from seqsearch.methods.config import build_config
from seqsearch.methods.data import Batch
from seqsearch.training.streaming import Credit


class Features:
    """Rows of a matrix in memory."""

    def __init__(self, values: Tensor) -> None:
        self.values = values

    def frozen(self, rows: Any) -> Tensor:
        return self.values[torch.from_numpy(rows)]


class MemoryStep:
    """A step; see `seqsearch.learners.base.Step`."""

    def __init__(self, x: Tensor, y: Tensor, number: int, size: int, credit: Credit) -> None:
        self.x, self.y, self.number = x, y, number
        self.first, self.revealed = number * size, min((number + 1) * size, len(y))
        self.afford = credit.afford
        self.batch = self.samples(np.arange(self.first, self.revealed))

    def samples(self, positions: Any) -> Batch:
        return Batch(positions, Features(self.x), self.y[torch.from_numpy(positions)])

    def labels(self, positions: Any) -> Any:
        return self.y.numpy()[positions]

    def generator(self, phase: str) -> torch.Generator:
        return torch.Generator().manual_seed(self.number)

    def draws(self, phase: str) -> np.random.Generator:
        return np.random.Generator(np.random.Philox([self.number, len(phase)]))


def made(name: str, classes: int, dim: int, **params: Any) -> Learner:
    """A learner of frozen features."""
    context = SimpleNamespace(
        n_classes=classes,
        dim=dim,
        device=torch.device("cpu"),
        generator=lambda phase: torch.Generator().manual_seed(7),
        augment="none",
        from_scratch=False,
        image_bytes=3 * 16 * 16,
    )
    kind = load("learner", name)
    learner: Learner = kind(context, build_config(kind, params))
    return learner


def taught(learner: Learner, x: Tensor, y: Tensor, size: int) -> Learner:
    """After all of ``x`` ``[n, d]`` in batches of ``size``."""
    credit = Credit(float(getattr(learner.config, "budget", 1.0)))
    for number in range(-(-len(y) // size)):
        credit.grant()
        learner.learn(MemoryStep(x, y, number, size, credit))
    return learner


def asked(x: Tensor) -> Batch:
    return Batch(np.arange(len(x)), Features(x))
