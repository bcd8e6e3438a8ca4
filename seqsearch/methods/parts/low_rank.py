"""Low-rank changes of the attention in all blocks of a frozen vision transformer, one set a task, under one head.

A change of a projection in block l adds ``B_l A_l x`` to its output, A ``[L, r, D]``, B ``[L, D, r]``. The sets of past tasks
never change again, so they are stored once for all states that share a prefix of tasks (`seqsearch.methods.base.FROZEN`).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from seqsearch.backbones.inject import Injection, LowRank, Transformer
from seqsearch.methods.base import FROZEN, Context, FitReport, Footprint, Method
from seqsearch.methods.config import Config as BaseConfig
from seqsearch.methods.config import param
from seqsearch.methods.data import Batch, TaskData
from seqsearch.methods.parts.augmentation import learned, learned_tokens
from seqsearch.methods.parts.checkpoint import Live
from seqsearch.methods.parts.head import Head, empty_head, load_head, local_cross_entropy, new_head
from seqsearch.methods.parts.network import chunked, saved_under
from seqsearch.methods.parts.training import Descent, Group, Training, descend

Change = tuple[Tensor, Tensor]
"""A ``[L, r, D]`` and B ``[L, D, r]``."""
Changes = Mapping[str, Sequence[Change]]
"""Changes that add up, by the projection they change: ``q``, ``k``, ``v``."""


def injected(changes: Changes) -> dict[int, Injection]:
    """The changes as injections by block number."""
    known = {name: each for name, each in changes.items() if each}
    downs = {name: torch.cat([down for down, _ in each], dim=1) for name, each in known.items()}
    ups = {name: torch.cat([up for _, up in each], dim=2) for name, each in known.items()}
    blocks = range(min((len(down) for down in downs.values()), default=0))
    return {b: Injection(low_rank={name: LowRank(downs[name][b], ups[name][b]) for name in known}) for b in blocks}


@dataclass(frozen=True)
class LowRankTraining(Training):
    """Hyperparameters of a set of changes; methods name their own defaults by declaring a field again."""

    rank: int = param(
        10,
        "rank of a task's change of a projection",
        minimum=1,
        maximum=10_000,
        search=(5, 10, 20),
        embedded=4,
        embedded_search=(2, 4, 8, 16),
    )
    lr: float = param(5e-4, "learning rate", minimum=0.0, maximum=1e30)
    epochs: int = param(
        20,
        "passes over a task's images",
        minimum=1,
        maximum=10_000,
        search=(5, 10, 20, 50),
        embedded=5,
        embedded_search=(5, 10, 20),
    )
    batch_size: int = param(
        128,
        "images per step",
        minimum=1,
        maximum=100_000,
        search=(32, 64, 128),
        embedded=24,
        embedded_search=(16, 24, 32),
    )
    weight_decay: float = param(0.0, "L2 penalty (adamw: decoupled)", minimum=0.0, maximum=1e3)


class LowRankMethod(Method):
    """A set of changes for each task, and a linear head that grows. A subclass says what a set is and how sets add up."""

    config: LowRankTraining

    def __init__(self, context: Context, config: BaseConfig) -> None:
        super().__init__(context, config)
        self.vit = Transformer(context.frozen_backbone())
        self.sets: list[dict[str, Tensor]] = []
        """Tensors by name, of each task; never changed again."""
        self.head = empty_head(context.dim, context.device)

    @abstractmethod
    def changes(self) -> Changes:
        """All changes as they act now."""

    def descended(
        self, task: TaskData, changes: Callable[[], Changes], parameters: Sequence[Tensor]
    ) -> tuple[Head, FitReport]:
        """Train ``parameters``, which ``changes`` is made of, and rows for new classes, among these classes alone."""
        config, device = self.config, self.context.device
        block = new_head(len(task.columns), self.context.dim, task.generator("head"), device)
        images = learned(task.train, self.context, "pilot", task.generator("augment"))
        tokens = learned_tokens(self.vit, images, self.context)

        def loss_of(positions: Tensor) -> Tensor:
            features = self.vit.pool(self.vit.run(tokens(positions), injected(changes())))
            return local_cross_entropy(block(features), task.train.targets[positions.to(device)], task.columns)

        groups = [Group([*parameters, *block.parameters()], config.lr)]
        live = Live(generators=[images.generator], progress=task.progress)
        shuffle = task.generator("shuffle")
        return block, descend(groups, len(task.train), Descent.of(config), shuffle, loss_of, live=live)

    def keep(self, own: Mapping[str, Tensor], block: Head) -> None:
        """Take over the set of a task, and its rows of the head."""
        self.sets.append({name: tensor.detach().clone().contiguous() for name, tensor in own.items()})
        self.head = self.head.grown(block)

    def predict(self, batch: Batch) -> Tensor:
        return self.head(self.features(batch))

    def features(self, batch: Batch) -> Tensor:
        blocks = injected(self.changes())
        return chunked(lambda part: self.vit(part.images, blocks), batch)

    def state_dict(self) -> dict[str, Any]:
        sets = {f"{FROZEN}{t}.{name}": x.to("cpu") for t, own in enumerate(self.sets) for name, x in own.items()}
        return sets | self.head.state("head.")

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        self.sets = []
        while own := saved_under(state, f"{FROZEN}{len(self.sets)}."):
            self.sets.append({name: tensor.to(self.context.device) for name, tensor in own.items()})
        self.head = load_head(state, "head.", self.context.device)

    def memory_footprint(self) -> Footprint:
        changes = 4 * sum(tensor.numel() for own in self.sets for tensor in own.values())
        return Footprint(params=changes + self.head.bytes)


def zeros(vit: Transformer, rank: int, device: torch.device) -> Tensor:
    """B of a change that changes nothing yet, which takes gradients."""
    return torch.zeros(vit.depth, vit.width, rank, device=device, requires_grad=True)
