"""Base of continual-learning methods, and the resources that they get.

A method is one file. It sees images and the names of classes, never test data, and knows classes as *columns*. A class's column
is its position in the order of arrival, so that labels, scores and exemplars of one prefix agree without any mapping.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol

import numpy as np

from seqsearch.core.registry import ItemKind
from seqsearch.methods.config import Config
from seqsearch.states.blocks import FROZEN as FROZEN

if TYPE_CHECKING:
    import torch

    from seqsearch.methods.data import Batch, TaskData
    from seqsearch.pools.base import Rows


@dataclass(frozen=True)
class Caps:
    """Capabilities and needs that a method declares to the engine.

    Attributes:
        input: ``labels`` if a learner of streams reads neither images nor features, ``frozen`` if only `Batch.frozen` is ever
            read (no image is then decoded), else ``images``.
        order_invariant_after: final scores do not depend on the order of the tasks after this many; None if they do.
        needs_exemplars: it stores rows of training images and replays them.
        needs_val: it uses `TaskData.val`, which is empty for all other methods: they learn from these images, too.
        capacity: number of tasks it was built for; None if there is no limit.
        trains_backbone: its feature space moves with training.
        backbones: ``vit`` if it injects something into a timm `VisionTransformer`, ``maps`` if it reads the feature maps of a
            network's stages, ``pairs`` if it needs a network of image-text pairs (`FlavaNetwork`), ``names`` if it needs a text
            tower that reads class names (`Context.text_features`), else ``any``.
        pairs: it learns from `Batch.inputs`, so that its backbone may read texts, too. Methods that read `Batch.frozen` need
            not declare it.
        augmentation: the recipe of its source (`seqsearch.methods.parts.augmentation`), which ``--augment`` turns on; empty
            if it learns from images as they are.
        most_classes: how many classes its memory has room for, one exemplar each; None if there is no limit.
        design: columns of CLDyB Table 3 that apply, of `DESIGN`.
        closed_form: it has a closed-form solution from `Batch.frozen`, without steps of gradient, so that joint training on
            all classes of a sequence is cheap: ``cldyb`` and ``score`` then do so by default.
    """

    input: Literal["labels", "frozen", "images"] = "images"
    order_invariant_after: int | None = None
    needs_exemplars: bool = False
    needs_val: bool = False
    capacity: int | None = None
    trains_backbone: bool = True
    backbones: Literal["any", "vit", "maps", "pairs", "names"] = "any"
    pairs: bool = False
    augmentation: str = ""
    most_classes: int | None = None
    design: tuple[str, ...] = ()
    closed_form: bool = False


DESIGN = (
    "exemplar", "statistic", "full", "parameter-efficient", "functional", "parameter", "orthogonality", "expansion",
    "ensemble",
)  # fmt: skip
"""Columns of CLDyB Table 3: replay of exemplars or statistics; full or parameter-efficient training; functional, parameter or
orthogonality regularization; isolation or expansion of the model, ensembles."""


PASSES = "passes"
"""The note that says how many images a training was stepped on, once for each time: what it costs, the same on every machine.

What learns from features alone costs little beside it and is not counted: alignments on draws, HiDe-Prompt's task inference."""


@dataclass(frozen=True)
class FitReport:
    """How a training went. Divergence is a result: return ``status="diverged"``, do not raise."""

    status: Literal["ok", "diverged"] = "ok"
    losses: tuple[float, ...] = ()
    """Mean training loss of each epoch."""
    notes: Mapping[str, float] = field(default_factory=dict)
    """Values that the method chose for itself, e.g. RanPAC's lambda."""


@dataclass(frozen=True)
class Footprint:
    """Bytes beyond the backbone, by the rules of CLDyB appendix B.3 (32-bit floats, 8-bit images)."""

    params: int = 0
    statistics: int = 0
    exemplar_images: int = 0
    exemplar_texts: int = 0  # of stored pairs, as UTF-8


_AnyConfig = Config  # inside `Method` the name Config means the class attribute


class Context(Protocol):
    """The resources that a worker gives to a method: the backbone, the device and seeds that do not depend on depth."""

    device: torch.device
    dim: int
    """Width of the backbone's features."""
    backbone_id: str
    """Identity of the frozen feature space."""
    image_bytes: int
    """Bytes of one stored 8-bit RGB image."""
    augment: str
    """Whether images are augmented in training: ``none``, ``published`` (as the method's source does), ``autoaugment``."""
    from_scratch: bool
    """Whether `fresh_backbone` is not pre-trained."""
    levels: tuple[torch.Tensor, torch.Tensor]
    """Preprocessed values of black and of white, each ``[3]`` on the CPU."""
    logit_scale: float
    """Factor of the cosine between image and text features; 1 without a text tower."""

    def fresh_backbone(self) -> torch.nn.Module:
        """An own trainable copy of the pre-trained network on ``device``: images ``[n, 3, s, s]`` -> ``[n, dim]``."""
        ...

    def frozen_backbone(self) -> torch.nn.Module:
        """The worker's one copy of the pre-trained network, without gradients, in eval mode: shared, never to be changed."""
        ...

    def text_features(self, texts: Sequence[str]) -> torch.Tensor:
        """Features ``[n, dim]`` float32 of texts on ``device``, in the space of the frozen image features, not normalised.

        They are computed together: pass the texts of one class, so that its features do not depend on other classes. For
        methods with ``Caps(backbones="names")``.

        Raises:
            UserError: the backbone has no text tower.
        """
        ...

    def generator(self, phase: str) -> torch.Generator:
        """A new CPU generator seeded by (study seed, replicate, phase) each time it is asked: not for the rounds of a loop."""
        ...


class Method(ABC):
    """Base class of methods. Contracts C1-C10 (``docs/method_contracts.md``) are tested for every one of them.

    A subclass sets ``Config`` and ``caps``, and implements `fit_task`, `predict`, `features`, `state_dict` and
    `load_state_dict`. It is built as ``cls(context, config)`` and must keep nothing outside `state_dict` that training needs.
    """

    kind: ClassVar[ItemKind] = "method"
    required: ClassVar[tuple[str, ...]] = (
        "fit_task", "predict", "features", "state_dict", "load_state_dict", "memory_footprint",
    )  # fmt: skip
    """Members that a subclass must define."""
    Config: ClassVar[type[Config]] = Config
    caps: Caps = Caps()
    variant: ClassVar[str] = ""
    """Text behind its name in tables, for a method that resembles the published one and is not the same."""

    def __init__(self, context: Context, config: _AnyConfig) -> None:
        self.caps = self.capabilities(config)
        self.context = context
        self.config = config
        self.n_seen = 0
        """Classes seen so far; the next task's first column. The engine sets it after each task and on load."""
        self.n_tasks = 0

    @classmethod
    def capabilities(cls, config: _AnyConfig) -> Caps:
        """Return the capabilities of an instance of this config: ``cls.caps`` unless a parameter decides them."""
        return cls.caps

    @abstractmethod
    def fit_task(self, task: TaskData) -> FitReport:
        """Learn one task. All randomness comes from ``task.generator(phase)`` or ``context.generator(phase)``."""

    @abstractmethod
    def predict(self, batch: Batch) -> torch.Tensor:
        """Scores ``[B, n_seen]``: one column per class seen, finite, each row a function of its own image alone."""

    def classifiers(self, batch: Batch) -> Mapping[str, torch.Tensor]:
        """Scores ``[B, n_seen]`` of each named classifier: ``head``, what `predict` says, and others that are to be reported
        beside it (``nme``: nearest mean of exemplars)."""
        return {"head": self.predict(batch)}

    def counters(self) -> Mapping[str, float]:
        """Further figures of the state, by name, to be journalled with the results."""
        return {}

    @abstractmethod
    def features(self, batch: Batch) -> torch.Tensor:
        """Features ``[B, d]`` before any random projection; side-effect free."""

    @abstractmethod
    def state_dict(self) -> dict[str, Any]:
        """The learned delta: tensors and plain scalars (str, int, float, bool). The frozen backbone is not part of it.

        A tensor whose name begins with `FROZEN` will never be changed again, by this method or one that loads it: it is
        stored once, and shared by all instances without copies.
        """

    @abstractmethod
    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restore into a fresh instance of the same config; the tensors given are its own (the engine copies), but for those that
        are `FROZEN`."""

    def feature_space(self) -> str | None:
        """Identity of the space of `features`; None if it changes with every training."""
        return None if self.caps.trains_backbone else self.context.backbone_id

    def exemplars(self) -> Rows:
        """Rows ``[n]`` of stored training images: they stay readable through `TaskData.replay`."""
        return np.empty(0, dtype=np.int64)

    @abstractmethod
    def memory_footprint(self) -> Footprint:
        """Bytes beyond the backbone by the rules of CLDyB B.3."""


class Additive(Method):
    """A method that learns a task by itself and then adds what it learned to what it knows.

    What it learns of a task, its *part*, depends on the first `anchor` tasks and on the task, not on those between. So the
    engine trains a part once and adds it wherever the task occurs: the order of the tasks costs nothing.
    A subclass implements `learn` and `absorb`, and `begin` if it has an anchor; `fit_task` is made of them.
    """

    @classmethod
    def anchor(cls, config: _AnyConfig) -> int:
        """Number of first tasks that parts depend on: 0, or 1 if the first task adapts the backbone."""
        return 0

    def begin(self, task: TaskData) -> FitReport:
        """Adapt to one of the first `anchor` tasks, which is also learned as any other."""
        return FitReport()

    @abstractmethod
    def learn(self, task: TaskData) -> tuple[dict[str, Any], FitReport]:
        """The part: tensors on the CPU and plain scalars, as in `state_dict`. It must not depend on ``task.depth``, on the
        numbers of ``task.columns`` or on what was absorbed: randomness comes from ``context.generator``, labels count from 0.
        It changes nothing in the method."""

    @abstractmethod
    def absorb(self, part: Mapping[str, Any], task: TaskData) -> FitReport:
        """Add the part of ``task``, whose classes are ``task.columns``, to what is known.

        What a task's images are to what was absorbed before, as their features by older adapters, is found here; nothing is
        drawn. The tensors of ``part`` may be shared: they are not to be changed."""

    def fit_task(self, task: TaskData) -> FitReport:
        report = self.begin(task) if task.depth < self.anchor(self.config) else FitReport()
        if report.status != "ok":
            return report
        part, learned = self.learn(task)
        if learned.status != "ok":
            return learned
        return joined(joined(report, learned), self.absorb(part, task))


def joined(first: FitReport, then: FitReport) -> FitReport:
    """Of a training in two stages: how the last ended, the losses of the first that has any, all notes; passes add up."""
    passes = [report.notes[PASSES] for report in (first, then) if PASSES in report.notes]
    notes = {**first.notes, **then.notes, **({PASSES: sum(passes)} if passes else {})}
    return FitReport(then.status, first.losses or then.losses, notes)
