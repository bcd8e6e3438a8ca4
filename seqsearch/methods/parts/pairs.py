"""Common parts of methods of image-text pairs: a growing head on the multimodal class token, the classes that compete
in training, and the training itself.

Source: "A Multimodal Class-Incremental Learning Benchmark for Classification Tasks" (MCIL), sections 3.2 to 4.1. The
paper leaves some settings open, which are chosen here. Weight decay is AdamW's usual .01, rates are constant, and every
experience has an optimiser of its own. Images are learned from as they are, and new head rows start at N(0, 0.01^2).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import torch
from torch import Tensor
from torch.nn import functional

from seqsearch.backbones.parts.flava_network import Inputs
from seqsearch.methods.base import Caps, Context, FitReport, Footprint, Method
from seqsearch.methods.config import Config as BaseConfig
from seqsearch.methods.config import LogUniform, param
from seqsearch.methods.data import Batch, TaskData
from seqsearch.methods.parts.checkpoint import Live
from seqsearch.methods.parts.head import checked_finite, empty_head, load_head, new_head
from seqsearch.methods.parts.network import CHUNK, held, saved
from seqsearch.methods.parts.training import Descent, Group, Training, descend


def mask_of(published: str) -> Any:
    """A parameter: which classes compete in training, with a method's default."""
    return param(
        published,
        "classes among which a pair's cross-entropy runs: all seen, or those of its own experience",
        choices=("seen", "own"),
        later=True,
    )


@dataclass(frozen=True)
class PairTraining(Training):
    """Section 4.1; methods name their own rate."""

    epochs: int = param(5, "passes over an experience's pairs", minimum=1, maximum=10_000, search=(3, 5, 10))
    batch_size: int = param(16, "pairs per step", minimum=1, maximum=100_000, search=(16, 32, 64))
    lr: float = param(1e-5, "learning rate", minimum=0.0, maximum=1e30, search=LogUniform(1e-6, 1e-3))
    weight_decay: float = param(0.01, "penalty on what is trained (adamw: decoupled)", minimum=0.0, maximum=1e3)
    optimizer: str = param("adamw", "how a step is made", choices=("sgd", "adam", "adamw"))
    scheduler: str = param("constant", "how the learning rate falls", choices=("cosine", "steplr", "constant"))
    mask: str = mask_of("seen")

    def rate_of_head(self) -> float:
        """Learning rate of the head."""
        return self.lr


FeaturesOf = Callable[[Batch], tuple[Tensor, Tensor | float]]
"""Pairs -> the features that the head reads ``[n, d]``, and what is added to the loss."""


def pairs_of(part: Batch) -> Inputs:
    """Return the inputs of a network of pairs."""
    return cast(Inputs, part.inputs)


class Batches:
    """Batches of an epoch that is not one pass over all of the data.

    Args:
        count: positions that an epoch shuffles and cuts into batches of ``size``.
        places: positions ``[b]`` -> places ``[m]`` in the data, perhaps drawn by ``generators``.
    """

    def __init__(
        self,
        count: int,
        size: int,
        places: Callable[[Tensor], Tensor] = lambda positions: positions,
        *generators: torch.Generator,
    ) -> None:
        self.count, self.size, self.places, self.generators = count, size, places, generators


class PairMethod(Method):
    """Base of methods of image-text pairs. A subclass says what is trained beside the head, and what a pair's features are."""

    Config = PairTraining
    config: PairTraining
    caps = Caps(backbones="pairs")

    def __init__(self, context: Context, config: BaseConfig) -> None:
        super().__init__(context, config)
        self.head = empty_head(context.dim, context.device)
        self.experience = torch.empty(0, dtype=torch.int64, device=context.device)
        """Number of the experience that each class ``[C]`` came with."""

    @abstractmethod
    def look(self, part: Batch) -> Tensor:
        """Features ``[n, d]`` of some pairs to be predicted."""

    def descended(
        self,
        task: TaskData,
        data: Batch,
        parameters: Sequence[Tensor],
        features_of: FeaturesOf,
        batches: Batches | None = None,
    ) -> FitReport:
        """Train ``parameters`` and the head on ``data``, pairs of the task and perhaps stored ones; the head is then taken over.

        With ``mask=own`` and pairs of the task alone only its own head rows are trained; else all are.
        """
        block = new_head(len(task.columns), self.context.dim, task.generator("head"), self.context.device)
        of_class = torch.cat([self.experience, torch.full_like(block.bias, task.depth, dtype=torch.int64).detach()])
        whole = self.config.mask == "seen" or bool((data.targets < task.columns.start).any())
        head = self.head.grown(block).trainable() if whole else block
        first, masked = 0 if whole else task.columns.start, self.config.mask == "own" and whole
        batches = batches or Batches(len(data), self.config.batch_size)
        draw, pairs = task.generator("texts"), held(data, self.context)

        def loss_of(positions: Tensor) -> Tensor:
            part = pairs.select(batches.places(positions)).with_drawn_texts(draw)
            features, extra = features_of(part)
            scores, targets = head(features), part.targets - first
            if masked:
                scores = scores.masked_fill(of_class != of_class[targets][:, None], -torch.inf)
            return functional.cross_entropy(scores, targets) + extra

        groups = [Group(parameters, self.config.lr), Group(head.parameters(), self.config.rate_of_head())]
        live = Live(generators=[draw, *batches.generators], progress=task.progress)
        descent = replace(Descent.of(self.config), batch_size=batches.size)
        report = descend(groups, batches.count, descent, task.generator("shuffle"), loss_of, live=live)
        self.head = head.detached() if whole else self.head.grown(block)
        self.experience = of_class
        return checked_finite(self.head.parameters(), report)

    def predict(self, batch: Batch) -> Tensor:
        return self.head(self.features(batch))

    @torch.no_grad()
    def features(self, batch: Batch) -> Tensor:
        return torch.cat([self.look(part) for part in batch.decoded(CHUNK)])

    def state_dict(self) -> dict[str, Any]:
        return saved({"experience": self.experience}) | self.head.state("head.")

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        self.experience = state["experience"].to(self.context.device, copy=True)
        self.head = load_head(state, "head.", self.context.device)

    def memory_footprint(self) -> Footprint:
        return Footprint(params=self.head.bytes)
