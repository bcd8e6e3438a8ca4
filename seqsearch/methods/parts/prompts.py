"""Common parts of methods that prompt a frozen vision transformer: prompt pools with cosine queries, prefixes, training
and prediction.

The query of an image is its feature by the network as pre-trained (`Batch.frozen`): the class token where the network pools
by one, else the mean of its tokens. It is stored once per image; no second network is run for it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from seqsearch.backbones.inject import Injection, Prefix, Transformer
from seqsearch.methods.base import Caps, Context, FitReport, Footprint, Method, joined
from seqsearch.methods.config import Config as BaseConfig
from seqsearch.methods.config import LogUniform, param
from seqsearch.methods.data import Batch, TaskData
from seqsearch.methods.parts import gtep
from seqsearch.methods.parts.augmentation import learned, learned_tokens
from seqsearch.methods.parts.head import empty_head, load_head, local_cross_entropy, new_head
from seqsearch.methods.parts.network import CHUNK, cut, saved, saved_under
from seqsearch.methods.parts.training import Descent, Group, Hooks, Training, descend

G_BLOCKS, E_BLOCKS = (0, 1), (2, 3, 4)
"""Where DualPrompt has general and expert prompts."""
EMBEDDED_LR = LogUniform(0.001, 0.03)
"""With 16 images per class there are few steps, and the published rates move nothing."""


@dataclass(frozen=True)
class PromptTraining(Training):
    """How prompt methods train: Adam, without decay; methods name their own defaults by declaring a field again."""

    epochs: int = param(
        10, "passes over a task's images", minimum=1, maximum=10_000, search=gtep.PROMPT_EPOCHS, embedded=8
    )
    batch_size: int = param(32, "images per step", minimum=1, maximum=100_000, search=gtep.BATCH_SIZE)
    lr: float = param(
        0.001,
        "learning rate of prompts and head",
        minimum=0.0,
        maximum=1e30,
        search=gtep.PROMPT_LR,
        embedded=0.003,
        embedded_search=EMBEDDED_LR,
    )
    weight_decay: float = param(
        0.0,
        "L2 penalty on what is trained (adamw: decoupled)",
        minimum=0.0,
        maximum=1e3,
        search=gtep.PROMPT_WEIGHT_DECAY,
    )
    optimizer: str = param("adam", "how a step is made", choices=("sgd", "adam", "adamw"), search=gtep.OPTIMIZER)
    scheduler: str = param(
        "constant",
        "how the learning rate falls",
        choices=("cosine", "steplr", "constant"),
        search=gtep.SCHEDULER,
        embedded="cosine",
    )
    milestones: int = param(
        2,
        "drops n of scheduler=steplr, after 2i/(2n+1) of the steps, i = 1..n",
        minimum=1,
        maximum=10_000,
        search=gtep.MILESTONES,
    )
    lr_decay: float = param(
        0.1, "factor of each drop of scheduler=steplr", minimum=0.0, maximum=1.0, search=gtep.LR_DECAY
    )


Prompts = dict[str, Tensor]
"""Prompts, keys and the like by name: leaf tensors while they are trained."""


class Prompted(Method):
    """Base of prompt methods: a frozen transformer, named prompts, and a head that learns by local cross-entropy.

    A subclass implements `initial_prompts`, `inject` and `finalize`, and sets ``caps``. All prompts are saved and counted here.
    """

    Config = PromptTraining
    config: PromptTraining
    caps = Caps(backbones="vit", augmentation="pilot", design=("parameter-efficient",))

    def __init__(self, context: Context, config: BaseConfig) -> None:
        super().__init__(context, config)
        self.vit = Transformer(context.frozen_backbone())
        self.head = empty_head(context.dim, context.device)
        self.prompts: Prompts = {}
        """Learned prompts; empty before the first task."""

    @abstractmethod
    def initial_prompts(self, task: TaskData) -> Prompts:
        """Return the prompts that this task trains, at their first values. `fit_task` makes leaves of copies of
        them."""

    @abstractmethod
    def inject(self, tokens: Tensor, query: Tensor, own: Prompts | None) -> tuple[Tensor, Tensor]:
        """Features of prompted images, and what is added to the loss.

        Args:
            tokens: what the first block reads, ``[n, N, D]``.
            query: frozen features of the same images, ``[n, d]``.
            own: what is being trained; None: the images are to be predicted, by what is in `prompts`.

        Returns:
            ``[n, d]`` and a scalar.
        """

    @abstractmethod
    def finalize(self, own: Prompts) -> Prompts:
        """`prompts` after the task that trained ``own``."""

    def descent(self) -> Descent:
        return Descent.of(self.config)

    def hooks(self, own: Prompts) -> Hooks:
        return Hooks()

    def after_task(self, task: TaskData) -> FitReport:
        """Finish the task when its prompts are in place. The status and the notes of the report count."""
        return FitReport()

    def fit_task(self, task: TaskData) -> FitReport:
        config, device, train = self.config, self.context.device, task.train
        own = {name: p.detach().clone().requires_grad_(True) for name, p in self.initial_prompts(task).items()}
        block = new_head(len(task.columns), self.context.dim, task.generator("head"), device)
        images = learned(train, self.context, "pilot", task.generator("augment"))
        tokens, query, targets = learned_tokens(self.vit, images, self.context), train.frozen, train.targets

        def loss_of(positions: Tensor) -> Tensor:
            here = positions.to(device)
            features, extra = self.inject(tokens(positions), query[here], own)
            return local_cross_entropy(block(features), targets[here], task.columns) + extra

        groups = [Group([*own.values(), *block.parameters()], config.lr)]
        report = descend(groups, len(train), self.descent(), task.generator("shuffle"), loss_of, self.hooks(own))
        if report.status != "ok":
            return report
        self.head = self.head.grown(block)
        self.prompts = self.finalize({name: p.detach() for name, p in own.items()})
        return joined(report, self.after_task(task))

    def evaluation_batch(self) -> int:
        """Number of images that are predicted at once; nothing else may depend on it, unless to be like public code."""
        return CHUNK

    def predict(self, batch: Batch) -> Tensor:
        return self.head(self.features(batch))

    @torch.no_grad()
    def features(self, batch: Batch) -> Tensor:
        parts = [batch.select(positions) for positions in cut(torch.arange(len(batch)), self.evaluation_batch())]
        return torch.cat([self.inject(self.vit.tokens(p.images), p.frozen, None)[0] for p in parts])

    def state_dict(self) -> dict[str, Any]:
        return saved(self.prompts, "prompts.") | self.head.state("head.")

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        device = self.context.device
        self.prompts = {name: p.to(device, copy=True) for name, p in saved_under(state, "prompts.").items()}
        self.head = load_head(state, "head.", device)

    def memory_footprint(self) -> Footprint:
        return Footprint(params=self.head.bytes + 4 * sum(p.numel() for p in self.prompts.values()))

    def uniform(self, spread: float, shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
        """``shape`` values from (-spread, spread)."""
        drawn = spread * (2 * torch.rand(*shape, generator=generator) - 1)
        return drawn.to(self.context.device)


def cosines(query: Tensor, keys: Tensor) -> Tensor:
    """Cosines ``[n, K]`` of queries ``[n, d]`` with keys ``[K, d]``."""
    return functional.linear(functional.normalize(query), functional.normalize(keys))


def nearest(similarity: Tensor, k: int) -> Tensor:
    """The ``k`` nearest keys of each image ``[n, k]`` int64, by similarities ``[n, K]`` of its own."""
    return similarity.topk(k, dim=1).indices


def majority(similarity: Tensor, k: int) -> Tensor:
    """The ``k`` keys that are most often among the ``k`` nearest in the whole batch, for every image of it ``[n, k]``.

    What public code does (``batchwise_prompt``). Equally frequent keys: those of lower number.
    """
    votes = torch.bincount(nearest(similarity, k).flatten(), minlength=similarity.shape[1])
    return votes.argsort(descending=True, stable=True)[:k].expand(len(similarity), -1)


def blocks_of(depth: int) -> tuple[list[int], list[int]]:
    """Blocks of a network of ``depth`` with DualPrompt's G-prompt, and those with its E-prompt: at least one of these."""
    e_blocks = [number for number in E_BLOCKS if number < depth] or [depth - 1]
    return [number for number in G_BLOCKS if number < e_blocks[0]], e_blocks


def prefix(prompt: Tensor) -> Injection:
    """``[2, L, D]`` (keys, values), or ``[n, 2, L, D]`` with one for each image, as what goes into a block."""
    keys, values = prompt.unbind(-3)
    return Injection(prefix=Prefix(keys, values))


def untransposed(prompts: Tensor) -> Tensor:
    """``[n, 2, L, D]`` as public code hands it on: laid out as ``[2, n, L, D]`` and read as ``[n, 2, L, D]``.

    Image b gets rows 2b and 2b + 1 of the list of all images' keys followed by all images' values: the first half of the
    batch gets keys of two images as its keys and values, the second half values of two images.
    """
    return prompts.transpose(0, 1).reshape(prompts.shape)
