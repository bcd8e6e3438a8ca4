"""Common parts of class-incremental methods that learn from scratch and keep exemplars: herded exemplars, classification by the
nearest mean, schedules of the first and of later tasks, and training on new images and exemplars together.

Sources: "iCaRL: Incremental Classifier and Representation Learning"; "Hyperparameters in Continual Learning: A Reality
Check" (GTEP), Tables 3 and 4; the settings of the PyCIL toolbox.

All these methods have in common:
- new images and exemplars form one set, and batches are drawn from it without balancing, as in PyCIL. Exemplars are chosen by
  eval-mode features of images that are not augmented.
- the first task has a schedule of its own (GTEP Table 3). Settings that differ only in later tasks share its training.
- the learning rate falls by the step, not by the epoch (both are equal at the beginning of every epoch).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from seqsearch.methods.base import Caps, Context, FitReport, Footprint, Method
from seqsearch.methods.config import Config as BaseConfig
from seqsearch.methods.config import param
from seqsearch.methods.data import Batch, Policy, TaskData
from seqsearch.methods.parts import gtep
from seqsearch.methods.parts.augmentation import Learned, policy
from seqsearch.methods.parts.checkpoint import Live
from seqsearch.methods.parts.cosine import class_means, cosines
from seqsearch.methods.parts.herding import Herded, none_herded
from seqsearch.methods.parts.network import held, saved
from seqsearch.methods.parts.training import SHORT_DECAY, Descent, FirstApart, Group, Hooks, descend

if TYPE_CHECKING:
    from seqsearch.pools.base import Rows


def decay(published: float) -> Any:
    """A parameter: weight decay in later tasks, with the ``published`` value as its default."""
    return param(
        published,
        "L2 penalty on what is trained, in later tasks",
        minimum=0.0,
        maximum=1e3,
        search=gtep.WEIGHT_DECAY,
        embedded=published,
        embedded_search=gtep.WEIGHT_DECAY,
        tiny=SHORT_DECAY,
        tiny_search=(1e-3, 5e-3, 1e-2, 2e-2),
        later=True,
    )


@dataclass(frozen=True)
class RehearsalTraining(FirstApart):
    """PyCIL's settings for networks from scratch, and GTEP's search spaces (Table 4)."""

    epochs: int = param(
        170,
        "passes over the images of a later task",
        minimum=1,
        maximum=10_000,
        search=gtep.EPOCHS,
        tiny=15,
        embedded=6,
        tiny_search=(5, 10, 15, 20),
        later=True,
    )
    lr: float = param(
        0.1,
        "learning rate of later tasks",
        minimum=0.0,
        maximum=1e30,
        search=gtep.LR,
        tiny=0.05,
        embedded=0.005,
        embedded_search=(0.001, 0.005, 0.02),
        tiny_search=(0.01, 0.02, 0.05),
        later=True,
    )
    batch_size: int = param(
        128,
        "images per step",
        minimum=1,
        maximum=100_000,
        search=gtep.SCRATCH_BATCH_SIZE,
        tiny=16,
        tiny_search=(8, 16, 32),
    )
    weight_decay: float = decay(2e-4)
    scheduler: str = param(
        "steplr",
        "how the learning rate falls",
        choices=("cosine", "steplr", "constant"),
        search=gtep.SCRATCH_SCHEDULER,
        tiny="cosine",
    )
    milestones: int = param(
        0,
        "drops n of scheduler=steplr in later tasks, after 2i/(2n+1) of the steps, i = 1..n; 0: as published",
        minimum=0,
        maximum=10_000,
        search=gtep.MILESTONES,
        later=True,
    )
    lr_decay: float = param(
        0.1,
        "factor of each drop of scheduler=steplr in later tasks",
        minimum=0.0,
        maximum=1.0,
        search=gtep.LR_DECAY,
        later=True,
    )
    first_epochs: int = param(
        200, "passes over the images of the first task", minimum=1, maximum=10_000, tiny=15, embedded=6
    )
    first_lr: float = param(
        0.1, "learning rate of the first task", minimum=0.0, maximum=1e30, tiny=0.05, embedded=0.005
    )
    first_weight_decay: float = param(
        5e-4, "L2 penalty in the first task", minimum=0.0, maximum=1e3, embedded=5e-4, tiny=SHORT_DECAY
    )
    memory: int = param(
        2000,
        "stored images: of all classes together, or of each (memory_of)",
        minimum=1,
        maximum=10_000_000,
        tiny=48,
        embedded=500,
    )
    memory_of: str = param("all", "what memory counts", choices=("all", "class"))
    """Whether ``memory`` is the number of exemplars in total (``all``) or per class (``class``)."""

    def drops(self) -> Sequence[float]:
        """The learning rate of later tasks falls after epochs 80, 120 and 150 of 170."""
        return 80 / 170, 120 / 170, 150 / 170


class Rehearsal(Method):
    """Keeps exemplars, and evaluates by a head and by the nearest mean of exemplars. A subclass says what it trains.

    It sets ``caps`` to `REHEARSAL` or what is made of it, implements `fit_task`, `predict` and `features`, and adds its
    networks to `state_dict` and `load_state_dict`. At the end of `fit_task` it calls `store`.
    """

    config: RehearsalTraining
    recipe: ClassVar[str] = "pycil"

    @classmethod
    def capabilities(cls, config: BaseConfig) -> Caps:
        memory, of = getattr(config, "memory", None), getattr(config, "memory_of", "all")
        most_classes = memory if of == "all" else None  # a memory in total must hold at least one exemplar a class
        return replace(cls.caps, augmentation=cls.recipe, most_classes=most_classes)

    def __init__(self, context: Context, config: BaseConfig) -> None:
        super().__init__(context, config)
        self.stored: Herded = none_herded(self.config.memory, self.config.memory_of == "class")
        """The exemplars, as pool rows and columns; `store` chooses them at the end of a task."""
        self.means = torch.zeros(0, 0, device=context.device)
        """Mean ``[C, d]`` of the normalised features of each class's exemplars."""
        self.text_bytes = 0
        """Size of the exemplars' texts, if the backbone reads texts."""

    # ------------------------------------------------------------------------------------------------ training

    def with_exemplars(self, task: TaskData) -> Batch:
        """New images and exemplars as one batch, decoded now if it is small enough."""
        rows = np.concatenate([task.train.indices, self.stored.rows.numpy()])
        columns = torch.cat([task.train.targets.cpu(), self.stored.columns])
        return held(task.replay(rows, columns.to(self.context.device)), self.context)

    def rates(self, task: TaskData) -> float:
        """The learning rate of the task: one number, for all parameter groups."""
        return self.config.lr if task.depth else self.config.first_lr

    def augmentation(self) -> Policy | None:
        """Augmentation of the images in `train`: the recipe of the method's source if the run has ``--augment``, else None."""
        return policy(self.context, self.recipe)

    def train(
        self,
        task: TaskData,
        data: Batch,
        groups: Sequence[Group],
        networks: Sequence[nn.Module],
        loss_of: Callable[[Batch], Tensor],
        *,
        phase: str = "train",
        descent: Descent | None = None,
        hooks: Hooks | None = None,
        generators: Sequence[torch.Generator] = (),
    ) -> FitReport:
        """Minimise ``loss_of`` over batches of ``data``, which are augmented if the run asks for it.

        Args:
            task: gives the random numbers, by phase, and the place of checkpoints.
            data: the images that are learned from.
            groups: parameters and their rates.
            networks: trained in train mode; all others stay in eval mode.
            loss_of: a part of ``data`` -> mean loss.
            phase: a name of its own for each descent of a task.
            descent: epochs, batch size and schedule; None: those of the config, for a first or a later task.
            hooks: see `descend`; they must be stateless between epochs, since checkpoints do not hold their state.
            generators: the generators that ``loss_of`` draws from.
        """
        images = Learned(held(data, self.context), self.augmentation(), task.generator(f"augment {phase}"))
        live = Live(networks, [images.generator, *generators], task.progress, phase)

        def loss_at(positions: Tensor) -> Tensor:
            return loss_of(images.select(positions))

        shuffle = task.generator(f"shuffle {phase}")
        return descend(
            groups, len(data), descent or self.config.schedule(task.depth), shuffle, loss_at, hooks or Hooks(), live
        )

    def store(self, task: TaskData) -> None:
        """Choose the exemplars of the task by the present features, and recompute the means of all classes' exemplars."""
        train = task.train
        rows, columns = torch.from_numpy(train.indices), train.targets.cpu()
        self.stored = self.stored.offer(rows, columns, self.features(train), task.columns)
        exemplars = task.replay(self.stored.rows.numpy(), self.stored.columns)
        self.text_bytes = exemplars.text_bytes if self.caps.pairs else 0
        features = functional.normalize(self.features(exemplars))
        self.means = class_means(features, self.stored.columns.to(features.device), task.columns.stop)

    # ------------------------------------------------------------------------------------------------ evaluating

    @abstractmethod
    def head_scores(self, features: Tensor) -> Tensor:
        """Scores ``[n, C]`` of the trained classifier for `features` ``[n, d]``."""

    def predict(self, batch: Batch) -> Tensor:
        return self.classifiers(batch)["head"]

    def classifiers(self, batch: Batch) -> Mapping[str, Tensor]:
        features = self.features(batch)
        with torch.no_grad():
            return {"head": self.head_scores(features), "nme": cosines(features, self.means)}

    def exemplars(self) -> Rows:
        return self.stored.rows.numpy()

    def state_dict(self) -> dict[str, Any]:
        tensors = {"rows": self.stored.rows, "columns": self.stored.columns, "means": self.means}
        return saved(tensors, "memory.") | ({"memory.text_bytes": self.text_bytes} if self.caps.pairs else {})

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        self.stored = replace(self.stored, rows=state["memory.rows"].clone(), columns=state["memory.columns"].clone())
        self.means = state["memory.means"].to(self.context.device, copy=True)
        self.text_bytes = int(state.get("memory.text_bytes", 0))

    def footprint(self, params: int) -> Footprint:
        """Memory beyond the backbone, with ``params`` bytes of parameters."""
        images = len(self.stored) * self.context.image_bytes
        statistics = 4 * self.means.numel()
        return Footprint(params=params, statistics=statistics, exemplar_images=images, exemplar_texts=self.text_bytes)


REHEARSAL = Caps(needs_exemplars=True, design=("exemplar", "full"))
