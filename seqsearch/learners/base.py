"""Base of learners of streams, and the data that they get.

A learner is one file. At each step it has been evaluated on samples that it has not seen, a batch of the stream is
revealed with its labels, and it learns. It may ask again for all samples revealed so far, because storage is free and
compute is not. The source is "Rapid Adaptation in Online Continual Learning: Are We Evaluating It Right?", section 2.
Classes are columns ``0 .. n_classes-1``, all known from the start.

The learned state is a pure function of (config, seed, replicate, samples revealed). All of it is in `state_dict`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from seqsearch.core.registry import ItemKind
from seqsearch.methods.base import Caps, Context
from seqsearch.methods.config import Config

if TYPE_CHECKING:
    import numpy as np
    import torch
    from numpy.typing import NDArray

    from seqsearch.methods.data import Batch

HOOKS = ("predict", "learn", "state_dict", "load_state_dict")
"""Members that a learner must define."""

_AnyConfig = Config  # inside `Learner` the name Config means the class attribute


class Step(Protocol):
    """A step of the stream: a batch was revealed.

    Attributes:
        number: of the step, from 0.
        revealed: samples revealed so far, this batch included: positions ``0 .. revealed-1`` may be asked for.
        batch: the batch just revealed, with labels: positions ``first .. revealed-1``.
        first: position of its first sample.
    """

    number: int
    revealed: int
    first: int

    @property
    def batch(self) -> Batch: ...

    def samples(self, positions: NDArray[np.int64]) -> Batch:
        """Revealed samples by position ``[m]``, with labels.

        Raises:
            AccessError: one is not revealed yet.
        """
        ...

    def labels(self, positions: NDArray[np.int64]) -> NDArray[np.int64]:
        """Labels of revealed samples ``[m]``; no image is read.

        Raises:
            AccessError: one is not revealed yet.
        """
        ...

    def afford(self, cost: float) -> bool:
        """Whether an update of this cost may be made; if so, it is paid for. 1 is forward and backward pass of the whole network
        over one batch of the stream (`seqsearch.training.streaming.Credit`)."""
        ...

    def generator(self, phase: str) -> torch.Generator:
        """The CPU generator of one phase of this step, e.g. ``augment``: it goes on however often it is asked for."""
        ...

    def draws(self, phase: str) -> np.random.Generator:
        """The numpy generator of one phase of this step, e.g. ``sample``: it goes on as well."""
        ...


class LearnerContext(Context, Protocol):
    """The resources that a worker gives to a learner: those of methods, and the number of classes."""

    n_classes: int


class Learner(ABC):
    """Base class of learners. It is built as ``cls(context, config)``.

    ``predict`` reads no more than ``caps.input`` says: ``labels`` neither image nor features, ``frozen`` features alone.
    """

    kind: ClassVar[ItemKind] = "learner"
    required: ClassVar[tuple[str, ...]] = HOOKS
    Config: ClassVar[type[Config]] = Config
    caps: Caps = Caps(input="frozen", trains_backbone=False)

    def __init__(self, context: LearnerContext, config: _AnyConfig) -> None:
        self.caps = self.capabilities(config)
        self.context, self.config = context, config

    @classmethod
    def capabilities(cls, config: _AnyConfig) -> Caps:
        """Return the capabilities of an instance of this config: ``cls.caps`` unless a parameter decides them."""
        return cls.caps

    @classmethod
    def seeded(cls, config: _AnyConfig) -> bool:
        """Whether it draws anything: one that does not is run once, whatever the number of training seeds."""
        return True

    @abstractmethod
    def predict(self, batch: Batch) -> torch.Tensor:
        """The class ``[n]`` (int64) of each image, a function of that image alone; -1 where it has none to say."""

    @abstractmethod
    def learn(self, step: Step) -> None:
        """Learn from what was revealed. All randomness comes from ``step`` or ``context``.

        Raises:
            Diverged: the training diverged, which is a result.
        """

    @abstractmethod
    def state_dict(self) -> dict[str, Any]:
        """All that it has learned: tensors on the CPU and plain scalars (str, int, float, bool)."""

    @abstractmethod
    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restore into a fresh instance of the same config; the tensors given are its own."""

    def counters(self) -> Mapping[str, float]:
        """Further figures of the state, by name, to be put down with the results."""
        return {}
