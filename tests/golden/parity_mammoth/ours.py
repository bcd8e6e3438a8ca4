"""Methods that replay images from a reservoir, from the starts that networks from scratch have (`parity_scratch`).

Draws of stored images and the places of the reservoir are common numbers, too.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from tests.golden.parity.cases import Case
from tests.golden.parity.ours import Tape
from tests.golden.parity.starts import EVEN, order_of, uniform
from tests.golden.parity_scratch import ours
from tests.golden.parity_scratch.starts import TASKS

RATE, DECAY, MOMENTUM, EPOCHS, BATCH, MEMORY = 0.02, 2e-3, 0.9, 4, 28, 28
_PARAMS: dict[str, Any] = {
    "epochs": EPOCHS,
    "lr": RATE,
    "backbone_lr": RATE,
    "batch_size": BATCH,
    "weight_decay": DECAY,
    "momentum": MOMENTUM,
    "scheduler": "constant",
    "first_epochs": 0,
    "buffer_size": MEMORY,
}
CASES: dict[str, Case] = {
    "derpp": Case("derpp", "derpp", {"alpha": 0.3, "beta": 0.5}, {**_PARAMS, "alpha": 0.3, "beta": 0.5}, TASKS),
    "er_ace": Case("er_ace", "er_ace", {"task_free": False}, _PARAMS, TASKS),
}
_REHEARSED = {name: _PARAMS[name] for name in ("epochs", "lr", "batch_size", "weight_decay", "momentum", "scheduler")}
CASES |= {
    name: Case(
        "lucir",
        "lucir",
        {"lamda_base": 5.0, "lamda_mr": 1.0, "k_mr": 2, "mr_margin": 0.5, "imprint_weights": imprint},
        {
            **_REHEARSED,
            "first_epochs": EPOCHS,
            "first_lr": RATE,
            "first_weight_decay": DECAY,
            "memory": MEMORY,
            "tuning_epochs": 0,
            "imprint": imprint,
        },
        EVEN,
    )
    for name, imprint in (("lucir", True), ("lucir, random rows", False))
}
OTHER: dict[str, dict[str, Any]] = {
    "derpp": {"alpha": 0.2},
    "er_ace": {"lr": 0.019},
    "lucir": {"lamb": 4.0},
    "lucir, random rows": {"margin": 0.4},
}
"""For each case, a parameter with another value."""


class Replays(Tape):
    """Gives the common draws of stored images, one after the other in each task."""

    def __init__(self, task: int) -> None:
        super().__init__(torch.zeros(0))
        self.task = task

    def order(self, n: int) -> torch.Tensor:
        self.at += 1
        return torch.from_numpy(order_of(f"replay {self.task} {self.at} {n}", n))


def places(task: int, n: int) -> Tape:
    """What the reservoir draws for n images that are offered."""
    return Tape(torch.from_numpy(np.asarray(uniform(f"reservoir {task}", n))), even=lambda u: (u + 1) / 2)


class SharedResources(ours.SharedResources):
    """With draws among stored images."""

    def __init__(self, source: ours.Source, case: Case) -> None:
        super().__init__(source, case)
        self._replays: dict[int, Replays] = {}

    def generator(self, phase: str) -> torch.Generator:
        if phase == "replay":
            return self._replays.setdefault(self.task, Replays(self.task))
        return places(self.task, 100) if phase == "reservoir" else super().generator(phase)


class Bench(ours.Bench):
    """Trains a case from the common starts."""

    shared = SharedResources
