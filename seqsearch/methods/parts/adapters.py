"""Adapters beside the MLPs of a frozen vision transformer: `Adapters` is a set, one for each block, `train_adapters` trains it on
one task, and `Adapted` computes features with it.

Block l becomes ``x + MLP(norm(x)) + s (B_l relu(A_l x + a_l) + b_l)`` (x: what the attention left), A ``[r, D]``, B
``[D, r]``, as in AdaptFormer. A starts uniform within 1 / sqrt(D) and the rest at zero, so that a new set changes
nothing; it is trained with a cosine classifier (`descend_cosine`) among the classes of one task.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from seqsearch.backbones.inject import Adapter, Injection, Transformer
from seqsearch.core.digests import digest_of
from seqsearch.methods.base import Context, FitReport
from seqsearch.methods.config import param
from seqsearch.methods.parts import gtep
from seqsearch.methods.parts.augmentation import learned, learned_tokens
from seqsearch.methods.parts.cosine import CosineTraining, Draws, descend_cosine
from seqsearch.methods.parts.network import embed, saved, saved_under
from seqsearch.methods.parts.training import Group

if TYPE_CHECKING:
    from seqsearch.methods.data import Batch, TaskData

SCALE = 0.1
"""The factor s on what adapters add."""


@dataclass(frozen=True)
class AdapterTraining(CosineTraining):
    """Hyperparameters of a set of adapters; methods name their own defaults by declaring a field again."""

    ffn_num: int = param(64, "width of an adapter's bottleneck", minimum=1, maximum=100_000, search=gtep.FFN_NUM)
    epochs: int = param(10, "passes over a task's images", minimum=1, maximum=10_000, search=gtep.ADAPTER_EPOCHS)
    lr: float = param(0.05, "learning rate", minimum=0.0, maximum=1e30, search=gtep.ADAPTER_LR)
    batch_size: int = param(16, "images per step", minimum=1, maximum=100_000, search=gtep.BATCH_SIZE)
    weight_decay: float = param(
        5e-3, "L2 penalty (adamw: decoupled)", minimum=0.0, maximum=1e3, search=gtep.ADAPTER_WEIGHT_DECAY
    )
    optimizer: str = param("sgd", "how a step is made", choices=("sgd", "adam", "adamw"), search=gtep.OPTIMIZER)
    scheduler: str = param(
        "constant", "how the learning rate falls", choices=("cosine", "steplr", "constant"), search=gtep.SCHEDULER
    )
    milestones: int = param(
        3,
        "drops n of scheduler=steplr, after 2i/(2n+1) of the steps, i = 1..n",
        minimum=1,
        maximum=10_000,
        search=gtep.MILESTONES,
    )
    lr_decay: float = param(
        0.1, "factor of each drop of scheduler=steplr", minimum=0.0, maximum=1.0, search=gtep.LR_DECAY
    )


@dataclass(frozen=True, eq=False)
class Adapters:
    """A set: one adapter (`seqsearch.backbones.inject.Adapter`) for each of L blocks.

    ``down`` ``[L, r, D]``, ``down_bias`` ``[L, r]``, ``up`` ``[L, D, r]``, ``up_bias`` ``[L, D]``.
    """

    down: Tensor
    down_bias: Tensor
    up: Tensor
    up_bias: Tensor

    def parameters(self) -> list[Tensor]:
        return [self.down, self.down_bias, self.up, self.up_bias]

    def blocks(self) -> dict[int, Injection]:
        """The set as injections by block number, which the transformer takes as its second argument."""
        each = zip(*(p.unbind() for p in self.parameters()), strict=True)
        return {
            number: Injection(adapter=Adapter(down, down_bias, up, up_bias, SCALE))
            for number, (down, down_bias, up, up_bias) in enumerate(each)
        }

    def trainable(self) -> Adapters:
        """An own copy that takes gradients."""
        return Adapters(*(p.detach().clone().requires_grad_(True) for p in self.parameters()))

    def detached(self) -> Adapters:
        """The same values without gradients."""
        return Adapters(*(p.detach() for p in self.parameters()))

    def state(self, prefix: str) -> dict[str, Any]:
        return saved(vars(self), prefix)

    @property
    def bytes(self) -> int:
        """Size as 32-bit floats."""
        return 4 * sum(p.numel() for p in self.parameters())


def new_adapters(vit: Transformer, width: int, generator: torch.Generator, device: torch.device) -> Adapters:
    """A set that changes nothing yet."""
    down = (2 * torch.rand(vit.depth, width, vit.width, generator=generator) - 1) / vit.width**0.5
    zeros = torch.zeros(vit.depth, width), torch.zeros(vit.depth, vit.width, width), torch.zeros(vit.depth, vit.width)
    return Adapters(*(tensor.to(device) for tensor in (down, *zeros)))


def load_adapters(state: Mapping[str, Any], prefix: str, device: torch.device) -> Adapters:
    """The set that `Adapters.state` saved under ``prefix``."""
    return Adapters(**{name: tensor.to(device, copy=True) for name, tensor in saved_under(state, prefix).items()})


@dataclass(frozen=True, eq=False)
class Adapted:
    """Features by a frozen transformer with a trained set of adapters, which does not change any more."""

    vit: Transformer
    adapters: Adapters
    backbone_id: str

    @cached_property
    def space(self) -> str:
        """Identity of the features."""
        weights = {name: tensor.cpu().numpy() for name, tensor in vars(self.adapters).items()}
        return digest_of("adapters", self.backbone_id, SCALE, weights)

    def __call__(self, batch: Batch) -> Tensor:
        """Features ``[n, d]``, computed once per image."""
        return batch.through(self.space, self._look)

    def _look(self, batch: Batch) -> Tensor:
        blocks = self.adapters.blocks()
        return embed(lambda images: self.vit(images, blocks), batch)

    def state(self, prefix: str) -> dict[str, Any]:
        return self.adapters.state(prefix)

    @property
    def bytes(self) -> int:
        """Size of what was added to the backbone, as 32-bit floats."""
        return self.adapters.bytes


def train_adapters(
    vit: Transformer, task: TaskData, config: AdapterTraining, context: Context, draws: Draws
) -> tuple[Adapted, FitReport]:
    """A fresh set, trained on one task; ``draws`` gives its start (``adapters``) beside what `descend_cosine` draws."""
    adapters = new_adapters(vit, config.ffn_num, draws("adapters"), context.device).trainable()
    augmented = learned(task.train, context, "pilot", draws("augment"))
    tokens = learned_tokens(vit, augmented, context)

    def features_of(positions: Tensor) -> Tensor:
        return vit.pool(vit.run(tokens(positions), adapters.blocks()))

    labels = task.train.targets - task.columns.start
    shape = len(task.columns), context.dim
    report = descend_cosine(features_of, [Group(adapters.parameters(), config.lr)], labels, shape, config, draws)
    return Adapted(vit, adapters.detached(), context.backbone_id), report
