"""Scenarios define the experience that is learned at a time, and its evaluation. They are the part of training that
depends on the kind of continual learning.

A scenario is an item of its kind: a module in ``training/scenarios`` with ``build(world, source)``, or
``FILE.py:OBJECT``. The trainer keeps and restores states; only the scenario knows the contents of an experience.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray

from seqsearch.core.errors import AccessError
from seqsearch.core.outcomes import HEAD, REPRESENTATION_DRIFT, ClassifierCounts, Counts
from seqsearch.core.types import EvaluationSplit, StateKey
from seqsearch.methods.base import PASSES, FitReport, Footprint, Method
from seqsearch.methods.config import Config
from seqsearch.methods.data import Batch, TaskData
from seqsearch.states.blocks import State
from seqsearch.training.context import PoolSource, WorkerContext
from seqsearch.training.failures import Diverged, WrongAnswer
from seqsearch.training.representation_drift import MOST, representation_drift
from seqsearch.training.world import World

if TYPE_CHECKING:
    from seqsearch.pools.base import Rows

Notes = tuple[tuple[str, float], ...]
SourceOf = Callable[[str], PoolSource]
"""Images and features by backbone."""


@dataclass(frozen=True)
class Evaluation:
    """Result of `Scenario.evaluate`: images by group and class, and how many of them each classifier got right."""

    counts: Counts
    classifiers: tuple[ClassifierCounts, ...]


class Scenario(ABC):
    """Subclasses say what data an experience stands for, and evaluate.

    Attributes:
        stepwise: a state is learned from its parent, one experience at a time. Where it is not (a learner that is given the whole
            sequence at once), every state is learned from nothing, and `data` is that of the whole prefix.
    """

    stepwise: bool = True
    learns: ClassVar[Any] = Method
    """Base class of the learners that it trains (`seqsearch.core.registry`)."""

    def __init__(self, world: World, source: SourceOf) -> None:
        self.world, self.source = world, source

    def made(self, build: Any, context: WorkerContext, config: Config) -> Method:
        """A fresh method, or a learner of another kind as one, from its class."""
        method: Method = build(context, config)
        return method

    @abstractmethod
    def data(self, method: Method, key: StateKey) -> TaskData:
        """Return the data from which ``method``, in the state of ``key.parent``, learns the last experience."""

    @abstractmethod
    def evaluate(self, method: Method, key: StateKey, evaluated: EvaluationSplit) -> Evaluation:
        """How a method in the state of ``key`` does."""

    def some(self, key: StateKey, most: int) -> Rows:
        """At most ``most`` rows ``[n]`` that the last experience was learned from, the same each time; none unless overridden."""
        return np.empty(0, dtype=np.int64)

    def representation_drift(self, method: Method, key: StateKey) -> Notes:
        """How far it has moved the features of ``method``, which is in the state of ``key``, from the frozen ones, if that can be
        said (`seqsearch.training.representation_drift`)."""
        distance = representation_drift(method, self.source(key.method.backbone), self.some(key, MOST))
        return () if distance is None else ((REPRESENTATION_DRIFT, distance),)

    def learn(self, method: Method, key: StateKey, how: Callable[[TaskData], FitReport] | None = None) -> Notes:
        """Let a live method learn the last experience (by ``how``, its own `fit_task` if None); what it noted.

        Raises:
            Diverged: it says so. Whatever it raises itself is passed on.
        """
        data = self.data(method, key)
        report = (how or method.fit_task)(data)
        if getattr(report, "status", None) not in ("ok", "diverged"):
            raise WrongAnswer(method.fit_task, report, "a FitReport")
        if report.status == "diverged":
            raise Diverged("training diverged (non-finite loss)")
        if not hasattr(kept := method.exemplars(), "tolist"):
            raise WrongAnswer(method.exemplars, kept, "an array of rows")
        if strange := set(kept.tolist()) - data.readable:
            raise AccessError(f"exemplars() holds image {min(strange)}, which it never was given")
        method.n_seen, method.n_tasks = data.columns.stop, len(key.prefix)
        last = {"loss": report.losses[-1]} if report.losses else {}
        return tuple((str(k), float(v)) for k, v in {**last, **report.notes}.items())


COST = "_passes"
"""Name in a state: what its last training cost, for a run whose process died before the result was put down."""


def learned(method: Method, notes: Notes = ()) -> State:
    """All that a method has learned, how many classes and experiences that were, and what is noted of the last one's cost."""
    cost = dict(notes).get(PASSES)
    state = method.state_dict()
    if not isinstance(state, Mapping):
        raise WrongAnswer(method.state_dict, state, "a dict")
    found = {**state, "_n_seen": method.n_seen, "_n_tasks": method.n_tasks}
    return found if cost is None else {**found, COST: cost}


def cost_of(state: State) -> Notes:
    """The note of what the last training of a state cost."""
    return ((PASSES, float(state[COST])),) if COST in state else ()


def sizes_of(method: Method, backbone: int) -> tuple[tuple[str, int], ...]:
    """Bytes of the parameters of its ``backbone``, and those that a method says it needs beyond it, by name.

    Raises:
        WrongAnswer: it says something else.
    """
    said = method.memory_footprint()
    if not isinstance(said, Footprint):
        raise WrongAnswer(method.memory_footprint, said, "a Footprint")
    return ("backbone", backbone), *vars(said).items()


def scores_of(method: Method, batch: Batch) -> Mapping[str, torch.Tensor]:
    """Return the scores of each classifier of a method, by name.

    Raises:
        WrongAnswer: not a mapping of names, or the head is not among them.
    """
    found = method.classifiers(batch)
    if not isinstance(found, Mapping) or next(iter(found), None) != HEAD:
        raise WrongAnswer(
            method.classifiers, found, "{'head': self.predict(batch), ...}: scores by name, the head first"
        )
    return found


def checked_scores(method: Method, scores: Any, n: int, name: str = HEAD) -> torch.Tensor:
    """Scores ``[n, classes seen]`` on the CPU, of the classifier ``name`` of a method.

    Raises:
        WrongAnswer: they have another shape.
        Diverged: they are not finite.
    """
    own = array_of(scores) if isinstance(scores, torch.Tensor) else None
    if own is None or own.shape != (n, method.n_seen):
        function = method.predict if name == HEAD else method.classifiers
        must = f"a tensor of shape ({n}, {method.n_seen}): one column for each class seen, no other"
        raise WrongAnswer(function, scores, must if name == HEAD else f"{must}, by {name!r}")
    if not _FINITE(own).all():
        raise Diverged("scores are not finite")
    return torch.from_numpy(own)


def array_of(tensor: torch.Tensor) -> NDArray[Any]:
    """A copy on the CPU, of any subclass of tensors its own numbers; bfloat16 as float32.

    By functions of torch that were bound when this was imported, before any method is: a method that replaces one of them, or
    gives a tensor that answers otherwise, changes no score.
    """
    with _PLAIN():
        own = _CPU(_DETACH(tensor))
        return _COPY(_NUMPY(_FLOAT(own) if own.dtype == torch.bfloat16 else own))


_PLAIN: Any = torch._C.DisableTorchFunctionSubclass
_DETACH, _CPU, _FLOAT, _NUMPY = torch.Tensor.detach, torch.Tensor.cpu, torch.Tensor.float, torch.Tensor.numpy
_COPY, _FINITE = np.array, np.isfinite
