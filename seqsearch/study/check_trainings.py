"""How many trainings ``seqsearch check`` makes of a method, counted as they are done, and how long those that follow may take."""

from __future__ import annotations

import dataclasses
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from seqsearch.methods.base import Caps, FitReport

if TYPE_CHECKING:
    from seqsearch.methods.config import Config

RATE = 1e30
"""A learning rate that no training survives."""
BESIDE = 2
"""Trainings of the method for its accuracy, which is told beside that of others, when all contracts are kept."""


@dataclass(eq=False)
class Trainings:
    """Those of one check.

    Attributes:
        told: given the seconds that the second training took, and how many follow, once it is done: any of a range. The first
            warms up: it computes frozen features, too.
        done: how many were done.
        seconds: that the last took.
        drew: global generators that one drew from, in words; empty if none did.
    """

    report: Callable[[float, range], None] = lambda seconds, more: None
    done: int = 0
    seconds: float = 0.0
    drew: dict[str, None] = field(default_factory=dict)

    def watched(self, fit: Callable[[], FitReport]) -> FitReport:
        """What a training reports; whatever it raises is passed on, and it is not counted then."""
        before, began = global_generators(), time.perf_counter()
        report = fit()
        self.seconds = time.perf_counter() - began
        self.done += 1
        after = global_generators()
        self.drew.update(dict.fromkeys(name for name, state in after.items() if state != before[name]))
        return report


def global_generators() -> dict[str, Any]:
    """The state of each, to be compared."""
    numbers: Any = np.random.get_state()
    return {
        "torch": torch.get_rng_state().numpy().tobytes(),
        "numpy": (numbers[1].tobytes(), *numbers[2:]),
        "random": random.getstate(),
    }


def planned(config: Config, caps: Caps, checkpoints: bool) -> range:
    """How many trainings a check makes of a method that keeps its contracts, with its accuracy, which needs two more.

    Args:
        config: of the method: each learning rate is tried with one more training, a second one where the first survives it and
            the network is trained; all parameters that act later with one.
        caps: of the method: how many tasks it is built for, and whether their order matters.
        checkpoints: its trainings leave some, so that each task is learned once more with interruptions.
    """
    learned_twice, seeded, gone_on, children, spoilt = 4, 2, 1, 2, 1
    tasks = 3 if has_third(caps.capacity) else 2
    third = 2 * (tasks - 2)
    sizes = 3 if caps.capacity is None else min(3, caps.capacity)
    first = caps.order_invariant_after
    ordered = tasks - 2 + tasks if first is not None and tasks - first >= 2 else 0
    kept = learned_twice + seeded + gone_on + third + sizes + children + spoilt + ordered + BESIDE
    rates = len(rates_of(config))
    least = kept + bool(later_of(config)) + rates + 2 * checkpoints
    return range(least, least + 1 + rates * caps.trains_backbone)


def has_third(capacity: int | None) -> bool:
    """Whether a method can learn a third task."""
    return capacity is None or capacity > 2


def later_of(config: Config) -> list[dataclasses.Field[Any]]:
    """Parameters that say that they act later."""
    return [f for f in dataclasses.fields(config) if f.metadata.get("later")]


def rates_of(config: Config) -> list[str]:
    """Names of learning rates that may be as high as `RATE` and have an effect."""
    high = {f.name: f.metadata.get("maximum") for f in dataclasses.fields(config) if f.name.endswith("lr")}
    idle = config.without_effect()
    return [name for name, most in high.items() if name not in idle and (most is None or most >= RATE)]
