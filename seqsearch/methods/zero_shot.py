"""Zero-shot classification: images are compared with the names of classes.

"Learning Transferable Visual Models From Natural Language Supervision".

Idea: a network that was trained on images with texts needs no images of a class. With ``f`` the image features, ``g`` the
text features, both of length 1, and prompts ``p_1 .. p_k`` that hold the name of class c, the class has the feature
``w_c = mean of g(p_i(c)) over i``, of length 1 again. The scores of an image are ``s cos(f(x), w_c)``; the factor ``s`` comes
with the weights.

Trainable: nothing. Stored: one feature per class. No image is learned from, and the final scores do not depend on the order
of the tasks.

Departures from the published method: the default is one prompt, while the paper uses 80 for ImageNet. Names are those of the
pool, while the paper edits the names of ImageNet by hand. Underscores in names are read as blanks, because folders of images
are often named so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from seqsearch.methods.base import Additive, Caps, Context, FitReport, Footprint
from seqsearch.methods.config import Config, Conflict, param
from seqsearch.methods.data import Batch, TaskData
from seqsearch.methods.parts.cosine import cosines
from seqsearch.methods.parts.network import saved

NAME = "{}"
"""Place of the name in a prompt."""
MOST = 1000
"""Prompts, at most."""


@dataclass(frozen=True)
class ZeroShotConfig(Config):
    """Hyperparameters; see the module."""

    prompts: str = param("a photo of a {}.", "sentences with {} in place of the class name, separated by semicolons")

    def check(self) -> None:
        if len(self.all) > MOST or not all(prompt.count(NAME) == 1 for prompt in self.all):
            raise Conflict(f"prompts={self.prompts[:60]!r}: must be 1 to {MOST} sentences, each with {NAME} in it once")

    @property
    def all(self) -> list[str]:
        """Return the prompts."""
        return [prompt.strip() for prompt in self.prompts.split(";")]


class ZeroShot(Additive):
    """Cosine to features of class names; see the module."""

    Config = ZeroShotConfig
    caps = Caps(input="frozen", order_invariant_after=0, trains_backbone=False, backbones="names", closed_form=True)
    config: ZeroShotConfig

    def __init__(self, context: Context, config: ZeroShotConfig) -> None:
        super().__init__(context, config)
        self.weights = torch.zeros(0, context.dim, device=context.device)
        """``[C, d]``, of length 1."""

    def learn(self, task: TaskData) -> tuple[dict[str, Any], FitReport]:
        weights = torch.stack([self._of(name) for name in task.names])
        return saved({"weights": weights}), FitReport("ok" if bool(torch.isfinite(weights).all()) else "diverged")

    def _of(self, name: str) -> Tensor:
        """The feature of a class ``[d]``."""
        said = " ".join(name.replace("_", " ").split())
        texts = [prompt.replace(NAME, said) for prompt in self.config.all]
        features = functional.normalize(self.context.text_features(texts))
        return functional.normalize(features.mean(0), dim=0)

    def absorb(self, part: Mapping[str, Any], task: TaskData) -> FitReport:
        self.weights = torch.cat([self.weights, part["weights"].to(self.context.device)])
        return FitReport()

    def predict(self, batch: Batch) -> Tensor:
        return self.context.logit_scale * cosines(batch.frozen, self.weights)

    def features(self, batch: Batch) -> Tensor:
        return batch.frozen

    def state_dict(self) -> dict[str, Any]:
        return saved({"weights": self.weights})

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        self.weights = state["weights"].to(self.context.device, copy=True)

    def memory_footprint(self) -> Footprint:
        return Footprint(statistics=4 * self.weights.numel())


build = ZeroShot
