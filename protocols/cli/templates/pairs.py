"""A linear head on the class token of image-text pairs: ``--methods pairs.py:TokenHead --backbone glyph_flava``."""

from dataclasses import dataclass

import torch
from torch.nn import functional

from seqsearch.methods import base, config
from seqsearch.methods.parts.head import empty_head, load_head, new_head
from seqsearch.methods.parts.training import Descent, Group, Live, Training, descend


class TokenHead(base.Method):
    @dataclass(frozen=True)
    class Config(Training):  # epochs, batch_size, lr, ... as all that descend have them
        epochs: int = config.param(5, "passes over a task's pairs", minimum=1, maximum=1000, search=(3, 5, 10))
        lr: float = config.param(0.01, "learning rate", minimum=0.0, maximum=1e3, search=config.LogUniform(1e-3, 0.1))
        optimizer: str = config.param("adamw", "how a step is made", choices=("sgd", "adam", "adamw"))

    caps = base.Caps(backbones="pairs", trains_backbone=False, design=("parameter-efficient",))

    def __init__(self, context, settings):
        super().__init__(context, settings)
        self.head = empty_head(context.dim, context.device)  # [classes seen, d], and a bias each

    def fit_task(self, task):
        words = task.generator("texts")
        block = new_head(len(task.columns), self.context.dim, task.generator("head"), self.context.device)
        head = self.head.grown(block).trainable()

        def loss_of(positions):  # of the pairs of one step
            pairs = task.train.select(positions).with_drawn_texts(words)  # captions=random: another text each time
            with torch.no_grad():
                # inputs: {"images": [n, 3, s, s], "input_ids": [n, L], "attention_mask": [n, L]}; token [n, d]
                token = self.context.frozen_backbone()(pairs.inputs)
            return functional.cross_entropy(head(token), pairs.targets)

        groups, live = [Group(head.parameters(), self.config.lr)], Live(generators=[words], progress=task.progress)
        shuffle, descent = task.generator("shuffle"), Descent.of(self.config)
        report = descend(groups, len(task.train), descent, shuffle, loss_of, live=live)
        self.head = head.detached()
        return report

    def features(self, batch):
        return batch.frozen  # the token of each image with its first text, stored

    def predict(self, batch):
        return self.head(self.features(batch))  # [n, classes seen]

    def state_dict(self):
        return self.head.state("head.")

    def load_state_dict(self, state):
        self.head = load_head(state, "head.", self.context.device)

    def memory_footprint(self):
        return base.Footprint(params=self.head.bytes)
