"""A learner of streams as the trainer knows methods: it learns a segment of the stream, and is evaluated on the way.

The engine keeps, restores and passes on states of methods; this is the way from there to `seqsearch.learners.base.Learner`.
What was evaluated on the way is a part of the state, so that it can be reported again should the result be lost.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray

from seqsearch.core.digests import depth_seed, seed_of
from seqsearch.core.errors import AccessError
from seqsearch.learners.base import Learner, LearnerContext
from seqsearch.methods.base import Caps, FitReport, Footprint, Method
from seqsearch.methods.data import Batch, TaskData
from seqsearch.streams.playing import Played, Positions
from seqsearch.training.failures import WrongAnswer
from seqsearch.training.scenario import array_of

if TYPE_CHECKING:
    from seqsearch.training.context import PoolSource

OWN = "learner."
"""Prefix of the names in a learner's own state."""
RIGHT = "right."
"""Name, in a state, of the flags of what was evaluated in the last segment; followed by the number of the view."""


@dataclass
class Credit:
    """Credit for updates: each step adds ``budget``. Unused credit is kept, up to the larger of the budget and one
    update.

    A cost of 1 is a forward and backward pass of the whole network over one batch of the stream. The forward pass is a
    third of it, the backward pass two thirds. Evaluation is free. So a method whose update costs 2 learns at every
    second step of a stream that grants 1 ("Real-Time Evaluation in Online Continual Learning: A New Hope"). The paper
    of this protocol grants 10, 5 and 1 updates a step.
    """

    budget: float
    left: float = 0.0
    updates: int = 0
    spent: float = 0.0
    refused: float = 0.0
    """Cost of the dearest update that could not be paid for in this step."""

    def grant(self) -> None:
        """A step begins."""
        self.left = min(self.left, max(self.budget, self.refused)) + self.budget
        self.refused = 0.0

    def afford(self, cost: float) -> bool:
        """Whether an update of this cost may be made; it is paid for then."""
        if not cost > 0:
            raise ValueError(f"an update of cost {cost}: must be positive")
        if cost > self.left + 1e-9:
            self.refused = max(self.refused, cost)
            return False
        self.left, self.updates, self.spent = self.left - cost, self.updates + 1, self.spent + cost
        return True


class StreamStep:
    """A step (`seqsearch.learners.base.Step`)."""

    def __init__(self, data: SegmentData, number: int, credit: Credit) -> None:
        self._data, self.number = data, number
        size, n = data.played.playing.batch, len(data.played.main)
        self.first, self.revealed = number * size, min((number + 1) * size, n)
        self.afford = credit.afford
        self.unlabelled = data.batch(np.arange(self.first, self.revealed))
        """The batch without labels, evaluated before it is revealed. Data read for the evaluation are not read
        again."""
        self._generators: dict[str, torch.Generator] = {}
        self._draws: dict[str, np.random.Generator] = {}

    @cached_property
    def batch(self) -> Batch:
        """The batch just revealed, with labels."""
        labels = torch.from_numpy(self._data.labels(np.arange(self.first, self.revealed))).to(self._data.source.device)
        found = replace(self.unlabelled, labels=labels)
        found.__dict__.update(
            {n: v for n, v in self.unlabelled.__dict__.items() if n in ("images", "inputs", "frozen")}
        )
        return found

    def samples(self, positions: NDArray[np.int64]) -> Batch:
        self._check(positions)
        return self._data.batch(positions, labelled=True)

    def labels(self, positions: NDArray[np.int64]) -> NDArray[np.int64]:
        self._check(positions)
        return self._data.labels(positions)

    def generator(self, phase: str) -> torch.Generator:
        if phase not in self._generators:
            seed = depth_seed(self._data.seed, self._data.replicate, self.number, phase)
            self._generators[phase] = torch.Generator().manual_seed(seed)
        return self._generators[phase]

    def draws(self, phase: str) -> np.random.Generator:
        if phase not in self._draws:
            seed = seed_of("step", self._data.seed, self._data.replicate, self.number, phase)
            self._draws[phase] = np.random.Generator(np.random.Philox(seed))
        return self._draws[phase]

    def _check(self, positions: NDArray[np.int64]) -> None:
        if len(positions) and not (positions.min() >= 0 and positions.max() < self.revealed):
            raise AccessError(
                f"sample {int(positions.max())} is asked for at step {self.number}, when {self.revealed} are revealed"
            )


@dataclass(frozen=True, eq=False)
class SegmentData:
    """Steps ``begin .. end-1`` of a stream played in the order of ``window``."""

    played: Played
    source: PoolSource
    window: int
    begin: int
    end: int
    seed: int
    replicate: int

    def batch(self, places: Positions, labelled: bool = False) -> Batch:
        """Samples by their places in the order that is played."""
        return self.at(self.played.played_at(self.window, places), labelled)

    def at(self, positions: Positions, labelled: bool = False) -> Batch:
        """Samples by their positions in the main part."""
        labels = None
        if labelled:
            labels = torch.from_numpy(self.played.labels[positions].astype(np.int64)).to(self.source.device)
        return Batch(self.played.rows(self.played.main[positions]), self.source, labels)

    def labels(self, places: Positions) -> NDArray[np.int64]:
        """By places in the order that is played."""
        found: NDArray[np.int64] = self.played.labels[self.played.played_at(self.window, places)].astype(np.int64)
        return found


class StreamedLearner(Method):
    """A learner of streams as a method; what it learns of is a `SegmentData`."""

    def __init__(self, learner: Learner, context: LearnerContext) -> None:
        super().__init__(context, learner.config)
        self.learner = learner
        self.caps: Caps = learner.caps
        self.credit = Credit(float(getattr(learner.config, "budget", 1.0)))
        self.right: dict[int, NDArray[np.bool_]] = {}
        """By number of the view, which of the samples evaluated in the last segment were right."""
        self.seconds = {"learning": 0.0, "judging": 0.0}

    def learn_segment(self, data: SegmentData) -> FitReport:
        """Evaluate, reveal, learn; step by step."""
        views = data.played.playing.views(data.window)
        right: dict[int, list[NDArray[np.bool_]]] = {i: [] for i in range(len(views))}
        begun = time.perf_counter()
        for number in range(data.begin, data.end):
            start = time.perf_counter()
            step = StreamStep(data, number, self.credit)
            for i, view in enumerate(views):
                coming = step.unlabelled if i == 0 else None
                right[i].append(self.evaluate(data, data.played.evaluated(data.window, view, number), coming))
            evaluated = time.perf_counter()
            self.credit.grant()
            self.learner.learn(step)
            self.seconds["judging"] += evaluated - start
        self.seconds["learning"] += time.perf_counter() - begun - self.seconds["judging"]
        self.right = {i: np.concatenate(flags) for i, flags in right.items()}
        return FitReport(notes={f"{name}_seconds": s for name, s in self.seconds.items()})

    def evaluate(self, data: SegmentData, positions: Positions, batch: Batch | None = None) -> NDArray[np.bool_]:
        """Which samples ``[n]`` of the main part are classified right; ``batch``: these samples, if they are at hand."""
        if not len(positions):
            return np.zeros(0, dtype=np.bool_)
        said = checked_classes(
            self.learner.predict, self.predict(batch or data.at(positions)), len(positions), data.played.stream_classes
        )
        found: NDArray[np.bool_] = said == data.played.labels[positions]
        return found

    def predict(self, batch: Batch) -> torch.Tensor:
        with torch.no_grad():
            return self.learner.predict(batch)

    def fit_task(self, task: TaskData) -> FitReport:
        raise TypeError("a learner of streams learns segments")

    def features(self, batch: Batch) -> torch.Tensor:
        raise TypeError("a learner of streams shows no features")

    def counters(self) -> Mapping[str, float]:
        return {**self.learner.counters(), "updates": float(self.credit.updates), "spent": self.credit.spent}

    def state_dict(self) -> dict[str, Any]:
        own = {OWN + name: value for name, value in self.learner.state_dict().items()}
        right = {f"{RIGHT}{i}": torch.from_numpy(flags) for i, flags in self.right.items()}
        c = self.credit
        return {
            **own,
            **right,
            "credit.left": c.left,
            "credit.updates": c.updates,
            "credit.spent": c.spent,
            "credit.refused": c.refused,
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        self.learner.load_state_dict({n.removeprefix(OWN): v for n, v in state.items() if n.startswith(OWN)})
        self.right = {int(n.removeprefix(RIGHT)): v.numpy() for n, v in state.items() if n.startswith(RIGHT)}
        self.credit.left, self.credit.updates = float(state["credit.left"]), int(state["credit.updates"])
        self.credit.spent, self.credit.refused = float(state["credit.spent"]), float(state["credit.refused"])

    def memory_footprint(self) -> Footprint:
        tensors = [v for v in self.learner.state_dict().values() if isinstance(v, torch.Tensor)]
        return Footprint(params=sum(t.nbytes for t in tensors))


def checked_classes(predict: Callable[..., Any], said: Any, n: int, classes: int) -> NDArray[np.int64]:
    """Classes ``[n]`` on the CPU, each one of ``classes``, or -1, that ``predict`` of a learner returned.

    Raises:
        WrongAnswer: they have another shape or kind, or there is no such class.
    """
    if not isinstance(said, torch.Tensor) or tuple(said.shape) != (n,) or said.dtype != torch.int64:
        must = f"a tensor of int64 and shape ({n},): the class of each image, -1 for none"
        raise WrongAnswer(predict, said, must, dtype=getattr(said, "dtype", None) != torch.int64)
    found: NDArray[np.int64] = array_of(said)
    if n and not (found.min() >= -1 and found.max() < classes):
        strange = int(found[(found < -1) | (found >= classes)][0])
        raise WrongAnswer(predict, said, f"classes from -1 to {classes - 1}: it says {strange}")
    return found
