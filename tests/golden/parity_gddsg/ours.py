"""Common features, projection and settings of the comparison of ``gddsg`` with its public code, and our side of it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from seqsearch.core.digests import digest_of, seeded_numpy
from seqsearch.methods.gddsg import GDDSG

DIM, M, SIZE, RIDGE, IMAGES, TEST = 8, 60, 4, 10.0, 12, 5
TASKS = ((0, 1, 2, 3, 4), (5, 6, 7), (8, 9, 10, 11), (12, 13))
"""Classes of each task."""
CENTRES = (0, 1, 0, 2, 3, 0, 4, 1, 5, 2, 5, 5, 6, 3)
"""Classes with the same number lie close together, so that they conflict."""


def common() -> dict[str, Tensor]:
    """Features of training and test images ``[classes, images, DIM]`` and the projection ``[DIM, M]``, in single precision."""
    rng = seeded_numpy("parity gddsg")
    centres = 1 + rng.normal(size=(max(CENTRES) + 1, DIM))
    means = centres[list(CENTRES)] + 0.15 * rng.normal(size=(len(CENTRES), DIM))
    images = means[:, None] + 0.4 * rng.normal(size=(len(CENTRES), IMAGES + TEST, DIM))
    drawn = {"train": images[:, :IMAGES], "test": images[:, IMAGES:], "projection": rng.normal(size=(DIM, M))}
    return {name: torch.from_numpy(values.astype(np.float32)) for name, values in drawn.items()}


def digest(shared: dict[str, Tensor]) -> str:
    """Identity of the common numbers."""
    return digest_of("parity gddsg", sorted((name, values.numpy()) for name, values in shared.items()))


class Part(SimpleNamespace):
    """Images of a task."""

    def __len__(self) -> int:
        return len(self.frozen)


class Ours:
    """The method of this package on the common features, task by task."""

    def __init__(self, **params: Any) -> None:
        self.shared, self.task = common(), 0
        context: Any = SimpleNamespace(
            dim=DIM, device=torch.device("cpu"), generator=lambda _: torch.Generator().manual_seed(0)
        )
        config = GDDSG.Config(**{"M": M, "group_size": SIZE, "ridge": RIDGE, "infer": "mean", **params})
        self.method = GDDSG(context, config)
        self.method.projection = self.shared["projection"]

    def learn(self) -> None:
        """The next task."""
        classes = list(TASKS[self.task])
        none = Part(frozen=torch.zeros(0, DIM), targets=torch.zeros(0, dtype=torch.int64))
        images = self.shared["train"][classes].reshape(-1, DIM)
        train = Part(frozen=images, targets=torch.tensor(classes).repeat_interleave(IMAGES))
        task: Any = SimpleNamespace(train=train, val=none, columns=range(classes[0], classes[-1] + 1))
        assert self.method.fit_task(task).status == "ok"
        self.task += 1

    def scores(self, chosen: Tensor) -> Tensor:
        """Of the test images of all classes seen, if their groups are ``chosen``."""
        method, seen = self.method, len(self.method.groups)
        h = torch.relu(self.shared["test"][:seen].reshape(-1, DIM) @ method.projection)
        return h @ method.readout * (1 + method.config.boost * (method.groups == chosen[:, None]))
