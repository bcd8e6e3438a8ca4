"""How is a method under test watched while it trains? The rows it reads, its draws, and the number of its trainings.

- `Recorder`: the rows that were read. `Phases`: the checkpoints. `drawing`: the lines that begin a generator anew.
- `Trainings`: the trainings of a check, counted as they end. `planned`: their number, and so the time that the rest may take.
"""

from __future__ import annotations

import dataclasses
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from seqsearch.core.identity import PACKAGE
from seqsearch.core.installation import ROOT
from seqsearch.methods.base import Caps, FitReport
from seqsearch.methods.data import Batch, TaskData
from seqsearch.training.context import PoolSource, WorkerContext

if TYPE_CHECKING:
    from seqsearch.methods.config import Config
    from seqsearch.pools.base import Rows


class Recorder:
    """A source that notes which rows were read, and can spoil what it gives (`seqsearch.methods.data.ImageSource`)."""

    def __init__(self, inner: PoolSource) -> None:
        self.inner, self.device = inner, inner.device
        self.decoded: set[int] = set()
        self.read: set[int] = set()
        self.spoil = False
        """Whether all that it gives is NaN."""
        self.spoilt = False
        """Whether it has given NaN."""

    def images(self, rows: Rows) -> torch.Tensor:
        self.decoded.update(rows.tolist())
        return self._spoilt(self.inner.images(rows))

    def texts(self, rows: Rows) -> list[str]:
        self.read.update(rows.tolist())
        return self.inner.texts(rows)

    def tokens(self, rows: Rows, generator: torch.Generator | None = None) -> dict[str, torch.Tensor]:
        self.read.update(rows.tolist())
        return self.inner.tokens(rows, generator)

    def frozen(self, rows: Rows) -> torch.Tensor:
        self.read.update(rows.tolist())
        return self._spoilt(self.inner.frozen(rows))

    def remembered(self, space: str, rows: Rows, look: Callable[[Batch], torch.Tensor]) -> torch.Tensor:
        self.read.update(rows.tolist())
        return look(Batch(rows, self)) if self.spoil else self.inner.remembered(space, rows, look)

    def forget(self) -> None:
        """Forget the rows that were read so far."""
        self.decoded.clear()
        self.read.clear()

    def _spoilt(self, values: torch.Tensor) -> torch.Tensor:
        self.spoilt |= self.spoil
        return torch.full_like(values, torch.nan) if self.spoil else values


@dataclass(eq=False)
class Phases:
    """Notes the phase of each checkpoint that a training leaves; none is kept (`seqsearch.methods.data.Progress`)."""

    names: list[str] = field(default_factory=list)

    def found(self, phase: str) -> dict[str, Any] | None:
        """Nothing."""
        return None

    def leave(self, phase: str, state: Callable[[], dict[str, Any]], last: bool = False) -> None:
        """See `seqsearch.methods.data.Progress`."""
        self.names.append(phase)


Place = tuple[tuple[str, int], ...]
"""File and line of a call in own code, and of the own code that it was called from."""


@dataclass(eq=False)
class Draws:
    """The draws of a training.

    Attributes:
        phases: of the task's and the context's generators.
        anew: how often a generator was begun anew by the same line with the same seed, by that line and what it says.
    """

    phases: set[str] = field(default_factory=set)
    anew: Counter[tuple[Place, str]] = field(default_factory=Counter)

    def again(self) -> str:
        """A generator that a loop begins anew in each round, in words; empty if there is none."""
        for (place, said), count in self.anew.items():
            if count > 1:
                file, line = place[0]
                return (
                    f"{said} was asked for {count} times by {Path(file).name}:{line} in one training and begins anew each time, "
                    "so that each round of a loop draws the same numbers: take task.generator(...), which goes on, or ask once "
                    "before it"
                )
        return ""

    def each_time(self, other: Draws, looked: Draws) -> str:
        """A generator that ``other``, the training of the next task, began anew with the same seed, in words; else empty.

        Draws for predictions (``looked``) are left out: they must be the same.
        """
        fixed = {said for _, said in looked.anew}
        for place, said in self.anew:
            if (place, said) in other.anew and said not in fixed:
                file, line = place[0]
                return (
                    f"{said} begins anew in each task, by {Path(file).name}:{line}, so that each task draws the same numbers: "
                    "take task.generator(...), or draw once in __init__ what is to be the same"
                )
        return ""


@contextmanager
def drawing() -> Iterator[Draws]:
    """The block in which a method is trained, watched by the interpreter (`sys.setprofile`): it takes longer."""
    found = Draws()
    asked: dict[CodeType, bool] = {TaskData.generator.__code__: False, WorkerContext.generator.__code__: True}

    def watch(frame: FrameType, event: str, argument: Any) -> None:
        if event == "call" and frame.f_code in asked:
            phase = str(frame.f_locals["phase"])
            found.phases.add(phase)
            if asked[frame.f_code] and frame.f_back is not None and (place := _place(frame.f_back)):
                found.anew[place, f"context.generator({phase!r})"] += 1
        elif event == "c_return" and getattr(argument, "__name__", "") == "manual_seed":
            generator = argument.__self__
            if generator is torch.default_generator:
                frame = _caller(frame)
            if isinstance(generator, torch.Generator) and (place := _place(frame)):
                found.anew[place, f"manual_seed({generator.initial_seed()})"] += 1

    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        yield found
    finally:
        sys.setprofile(before)


def _caller(frame: FrameType) -> FrameType:
    """Of a function of torch."""
    library = str(Path(torch.__file__).parent)
    while frame.f_code.co_filename.startswith(library) and frame.f_back is not None:
        frame = frame.f_back
    return frame


def _place(frame: FrameType) -> Place:
    """Empty if the call is none of own code: of this package, or of a library."""
    here, found = str(ROOT / PACKAGE), []
    walked: FrameType | None = frame
    while walked is not None and not walked.f_code.co_filename.startswith(here):
        found.append((walked.f_code.co_filename, walked.f_lineno))
        walked = walked.f_back
    return () if not found or {"site-packages", "dist-packages"} & set(Path(found[0][0]).parts) else tuple(found)


RATE = 1e30
"""A learning rate that no training survives."""
COMPARED = 2
"""Trainings of the method for its accuracy, which is compared with baselines when all contracts are kept."""


@dataclass(eq=False)
class Trainings:
    """The trainings of one check.

    Attributes:
        report: is called after the second training, with its seconds and how many trainings follow: any of a range. The first
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
        """The report of a training; errors are passed on, and such a training is not counted."""
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
    kept = learned_twice + seeded + gone_on + third + sizes + children + spoilt + ordered + COMPARED
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
