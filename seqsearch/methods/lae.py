"""LAE: small modules that learn fast, and their slow moving average; the more confident of the two predicts.

"A Unified Continual Learning Framework with General Parameter-Efficient Tuning" (Learning - Accumulation -
Ensemble).

Online modules P (`Modules`: prefixes, adapters or low-rank changes in the first blocks of the frozen
transformer) and the head rows of new classes learn by cross-entropy among the new classes. From the second
task on, the first ``freeze_epochs`` epochs train the head alone, so that new random rows do not spoil P.
After each step the offline modules follow, ``P' <- d P' + (1 - d) P``. P' begins as a copy of P after the
first task. One head serves both. Class c of an image gets the score
``max(softmax(h(f_P(x)))_c, softmax(h(f_P'(x)))_c)``, so scores are probabilities (their sum may exceed 1).

Trainable: P and new head rows. Stored: P, P' and the head. ``features`` are those by P.

Departures from the public codes, and why (effects are not measured unless given):

- P' is made after the first task, as in the authors' own code. In a toolbox's port it is an average that
  starts at random and barely moves at d = 0.9999. Also as in the authors' code, P is trained in the first
  task.
- the optimiser is fresh in every task, as in that code, and so is the schedule.
- ``module=adapter`` reads the input of the attention's normalisation, with relu. The authors' adapters read
  its output, with gelu. Their modules also learn one more factor each, on top of weights that are learned
  already.
- the last batch of an epoch is used though it is smaller. There is no augmentation.
- on the embedded backbone d is 0.99, because 0.9999 would not move in the 35 steps of a task.
- on the embedded backbone the optimiser is SGD. Adam moves modules as fast as head rows. In the first task
  they move so far that its classes keep the largest scores ever after (glyphs: 0.795 against 0.812).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from seqsearch.backbones.inject import Transformer
from seqsearch.methods.base import Caps, Context, FitReport, Footprint, Method
from seqsearch.methods.config import Config as BaseConfig
from seqsearch.methods.config import Conflict, LogUniform, param
from seqsearch.methods.data import Batch, TaskData
from seqsearch.methods.parts.augmentation import learned, learned_tokens
from seqsearch.methods.parts.head import empty_head, load_head, local_cross_entropy, new_head
from seqsearch.methods.parts.modules import KINDS, Modules, load_modules, new_modules
from seqsearch.methods.parts.network import chunked
from seqsearch.methods.parts.training import Descent, Group, Hooks, Training, descend


class LAE(Method):
    """Online and offline modules; see the module."""

    @dataclass(frozen=True)
    class Config(Training):
        module: str = param("prefix", "what is trained in the blocks", choices=KINDS, search=KINDS)
        blocks: int = param(5, "first blocks that get a module (at most all there are)", minimum=1, maximum=10_000)
        length: int = param(10, "keys and values of a prefix", minimum=1, maximum=10_000, search=(5, 10, 20))
        rank: int = param(
            5, "width of an adapter, rank of a low-rank change", minimum=1, maximum=10_000, search=(5, 10, 20)
        )
        ema_decay: float = param(
            0.9999,
            "what offline modules keep of themselves in a step",
            minimum=0.0,
            maximum=1.0,
            embedded=0.99,
            search=(0.99, 0.999, 0.9999),
        )
        freeze_epochs: int = param(
            3, "first epochs that train the head alone, from the second task on", minimum=0, maximum=10_000
        )
        epochs: int = param(5, "passes over a task's images", minimum=1, maximum=10_000, search=(5, 10, 20))
        lr: float = param(
            0.0028125,
            "learning rate",
            minimum=0.0,
            maximum=1e30,
            search=LogUniform(5e-4, 2e-2),
            embedded=0.005,
            embedded_search=LogUniform(1e-3, 5e-2),
        )
        batch_size: int = param(24, "images per step", minimum=1, maximum=100_000)
        weight_decay: float = param(0.0, "L2 penalty (adamw: decoupled)", minimum=0.0, maximum=1e3)
        optimizer: str = param("adam", "how a step is made", choices=("sgd", "adam", "adamw"), embedded="sgd")
        scheduler: str = param("constant", "how the learning rate falls", choices=("cosine", "steplr", "constant"))

        def check(self) -> None:
            if self.freeze_epochs >= self.epochs:
                raise Conflict(
                    f"freeze_epochs={self.freeze_epochs}: must be less than epochs={self.epochs}, or modules never learn again"
                )

    config: Config
    caps = Caps(backbones="vit", augmentation="pilot", design=("parameter-efficient", "ensemble"))

    def __init__(self, context: Context, config: BaseConfig) -> None:
        super().__init__(context, config)
        self.vit = Transformer(context.frozen_backbone())
        self.online: Modules | None = None
        """P: None before the first task."""
        self.offline: Modules | None = None
        """P': None before the second."""
        self.head = empty_head(context.dim, context.device)

    def fit_task(self, task: TaskData) -> FitReport:
        config, device = self.config, self.context.device
        if self.online is None:
            size = config.length if config.module == "prefix" else config.rank
            start = new_modules(config.module, self.vit, config.blocks, size, task.generator("modules"), device)
            offline, freeze = None, 0
        else:
            start, freeze = self.online, config.freeze_epochs
            offline = (self.offline or start).frozen()
        online = start.trainable()
        block = new_head(len(task.columns), self.context.dim, task.generator("head"), device)
        images = learned(task.train, self.context, "pilot", task.generator("augment"))
        tokens, held = learned_tokens(self.vit, images, self.context), None
        if freeze and images.augment is None:
            held = chunked(lambda part: self._features(start, part), task.train)
        frozen = False

        def before_epoch(epoch: int) -> None:
            nonlocal frozen
            frozen = epoch < freeze

        def loss_of(positions: Tensor) -> Tensor:
            if frozen and held is not None:
                features = held[positions.to(device)]
            else:
                features = self.vit.pool(self.vit.run(tokens(positions), online.blocks()))
            return local_cross_entropy(block(features), task.train.targets[positions.to(device)], task.columns)

        def after_step() -> None:
            if offline is not None:
                offline.follow(online, config.ema_decay)

        groups = [Group(online.parameters(), config.lr), Group(block.parameters(), config.lr)]
        hooks = Hooks(before_epoch, after_step=after_step)
        report = descend(groups, len(task.train), Descent.of(config), task.generator("shuffle"), loss_of, hooks)
        self.online, self.offline, self.head = online.frozen(), offline, self.head.grown(block)
        return report

    def predict(self, batch: Batch) -> Tensor:
        return chunked(self._scores, batch)

    def _scores(self, batch: Batch) -> Tensor:
        tokens = self.vit.tokens(batch.images)
        by_each = [
            torch.softmax(self.head(self.vit.pool(self.vit.run(tokens, modules.blocks()))), dim=1)
            for modules in (self.online, self.offline)
            if modules is not None
        ]
        return torch.stack(by_each).amax(0)

    def features(self, batch: Batch) -> Tensor:
        online = self.online
        assert online is not None
        return chunked(lambda part: self._features(online, part), batch)

    def _features(self, modules: Modules, batch: Batch) -> Tensor:
        return self.vit(batch.images, modules.blocks())

    def state_dict(self) -> dict[str, Any]:
        online = {} if self.online is None else self.online.state("online.")
        offline = {} if self.offline is None else self.offline.state("offline.")
        return online | offline | self.head.state("head.")

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        device = self.context.device
        self.online = load_modules(self.config.module, state, "online.", device)
        self.offline = load_modules(self.config.module, state, "offline.", device)
        self.head = load_head(state, "head.", device)

    def memory_footprint(self) -> Footprint:
        modules = sum(m.bytes for m in (self.online, self.offline) if m is not None)
        return Footprint(params=modules + self.head.bytes)


build = LAE
