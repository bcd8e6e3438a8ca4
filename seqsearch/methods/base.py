"""What a continual-learning method is, and what it is given.

A method is one file. It sees images, never class names or test data, and knows classes as *columns*: a class's column is its
position in the order of arrival, so that labels, scores and exemplars of one prefix all agree without any mapping.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol

import numpy as np

from seqsearch.errors import UserError

if TYPE_CHECKING:
    import torch

    from seqsearch.methods.data import Batch, TaskData
    from seqsearch.pools.base import Rows


@dataclass(frozen=True)
class Caps:
    """What the engine may assume of a method.

    Attributes:
        input: ``frozen`` if only `Batch.frozen` is ever read (no image is then decoded), else ``images``.
        order_invariant_after: final scores do not depend on the order of the tasks after this many; None if they do.
        needs_exemplars: it stores rows of training images and replays them.
        needs_val: it uses `TaskData.val`.
        capacity: number of tasks it was built for; None if there is no limit.
        trains_backbone: its feature space moves with training.
        design: columns of CLDyB Table 3 that apply (``exemplar``, ``statistic``, ``full``, ``parameter-efficient``, ...).
    """

    input: Literal["frozen", "images"] = "images"
    order_invariant_after: int | None = None
    needs_exemplars: bool = False
    needs_val: bool = False
    capacity: int | None = None
    trains_backbone: bool = True
    design: tuple[str, ...] = ()


@dataclass(frozen=True)
class FitReport:
    """How a training went. Divergence is a result: return ``status="diverged"``, do not raise."""

    status: Literal["ok", "diverged"] = "ok"
    losses: tuple[float, ...] = ()
    """Mean training loss of each epoch."""
    notes: Mapping[str, float] = field(default_factory=dict)
    """What the method chose for itself, e.g. RanPAC's lambda."""


@dataclass(frozen=True)
class Footprint:
    """Bytes beyond the backbone, by the rules of CLDyB appendix B.3 (32-bit floats, 8-bit images)."""

    params: int = 0
    statistics: int = 0
    exemplar_images: int = 0


@dataclass(frozen=True)
class LogUniform:
    """Values between two positive bounds whose logarithms are equally likely."""

    low: float
    high: float


def param(
    default: Any,
    help: str,
    *,
    minimum: float | None = None,
    maximum: float | None = None,
    choices: tuple[Any, ...] | None = None,
    search: LogUniform | tuple[Any, ...] | None = None,
) -> Any:
    """A hyperparameter of a `Config`: its default, one line of help, its bounds (both inclusive), and where to tune it.

    ``search`` is what ``--tune-tasks`` draws from: a range, or a list of values; without it the parameter is not tuned.
    """
    known = {"help": help, "minimum": minimum, "maximum": maximum, "choices": choices, "search": search}
    return field(default=default, metadata=known)


@dataclass(frozen=True)
class Config:
    """Base of every method's hyperparameters. Values are checked against their bounds when it is made.

    Raises:
        UserError: a value is out of bounds or not among its choices.
    """

    def __post_init__(self) -> None:
        for f in dataclasses.fields(self):
            value, meta = getattr(self, f.name), f.metadata
            low, high, choices = meta.get("minimum"), meta.get("maximum"), meta.get("choices")
            if isinstance(value, float) and not np.isfinite(value):
                raise UserError(f"{f.name}={value}: must be finite")
            if low is not None and value < low:
                raise UserError(f"{f.name}={value}: must be at least {low}")
            if high is not None and value > high:
                raise UserError(f"{f.name}={value}: must be at most {high}")
            if choices is not None and value not in choices:
                raise UserError(f"{f.name}={value}: must be one of {', '.join(map(str, choices))}")


_AnyConfig = Config  # inside `Method` the name Config means the class attribute


class Context(Protocol):
    """What a worker lends a method: the backbone, the device and seeds that do not depend on depth."""

    device: torch.device
    dim: int
    """Width of the backbone's features."""
    backbone_id: str
    """Identity of the frozen feature space."""
    image_bytes: int
    """Bytes of one stored 8-bit RGB image."""

    def fresh_backbone(self) -> torch.nn.Module:
        """An own trainable copy of the pre-trained network on ``device``: images ``[n, 3, s, s]`` -> ``[n, dim]``."""
        ...

    def generator(self, phase: str) -> torch.Generator:
        """A CPU generator seeded by (study seed, replicate, phase): for what does not depend on order."""
        ...


class Method(ABC):
    """Base class of methods. Contracts C1-C9 (``docs/methods.md``) are tested for every one of them.

    A subclass sets ``Config`` and ``caps``, and implements `fit_task`, `predict`, `features`, `state_dict` and
    `load_state_dict`. It is built as ``cls(context, config)`` and must keep nothing outside `state_dict` that training needs.
    """

    Config: ClassVar[type[Config]] = Config
    caps: Caps = Caps()

    def __init__(self, context: Context, config: _AnyConfig) -> None:
        self.caps = self.capabilities(config)
        self.context = context
        self.config = config
        self.n_seen = 0
        """Classes seen so far; the next task's first column. The engine sets it after each task and on load."""
        self.n_tasks = 0

    @classmethod
    def capabilities(cls, config: _AnyConfig) -> Caps:
        """What an instance of this config can do; ``cls.caps`` unless a parameter decides it."""
        return cls.caps

    @abstractmethod
    def fit_task(self, task: TaskData) -> FitReport:
        """Learn one task. All randomness comes from ``task.generator(phase)`` or ``context.generator(phase)``."""

    @abstractmethod
    def predict(self, batch: Batch) -> torch.Tensor:
        """Scores ``[B, n_seen]``: one column per class seen, finite, each row a function of its own image alone."""

    @abstractmethod
    def features(self, batch: Batch) -> torch.Tensor:
        """Features ``[B, d]`` before any random projection; side-effect free."""

    @abstractmethod
    def state_dict(self) -> dict[str, Any]:
        """The learned delta: tensors and plain scalars (str, int, float, bool). The frozen backbone is not part of it."""

    @abstractmethod
    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restore into a fresh instance of the same config; the tensors given are its own (the engine copies)."""

    def feature_space(self) -> str | None:
        """Identity of the space of `features`; None if it changes with every training."""
        return None if self.caps.trains_backbone else self.context.backbone_id

    def exemplars(self) -> Rows:
        """Rows ``[n]`` of stored training images: they stay readable through `TaskData.replay`."""
        return np.empty(0, dtype=np.int64)

    @abstractmethod
    def memory_footprint(self) -> Footprint:
        """Bytes beyond the backbone by the rules of CLDyB B.3."""


def build_config(kind: type[Method], params: Mapping[str, str | int | float | bool]) -> Config:
    """Make ``kind.Config`` from named values, converting strings to each field's type.

    Raises:
        UserError: unknown name, value of the wrong type or out of bounds.
    """
    fields = {f.name: f for f in dataclasses.fields(kind.Config)}
    values: dict[str, Any] = {}
    for name, raw in params.items():
        if name not in fields:
            known = ", ".join(fields) or "none"
            raise UserError(f"method {kind.__name__} has no parameter {name!r}; it has: {known}")
        values[name] = _convert(name, raw, fields[name].default)
    return kind.Config(**values)


def _convert(name: str, raw: Any, default: Any) -> Any:
    try:
        if isinstance(default, bool):
            if str(raw).lower() in ("true", "yes", "1", "false", "no", "0"):
                return str(raw).lower() in ("true", "yes", "1")
            raise ValueError
        if isinstance(default, int):
            number = float(raw)
            if number != int(number):
                raise ValueError
            return int(number)
        return float(raw) if isinstance(default, float) else str(raw)
    except (ValueError, OverflowError):
        raise UserError(f"{name}={raw}: must be of type {type(default).__name__}") from None
