"""DualPrompt on a network of image-text pairs: general and expert prefixes in each of its encoders.

Source: "A Multimodal Class-Incremental Learning Benchmark for Classification Tasks" (MCIL), section 3.3; "DualPrompt:
Complementary Prompting for Rehearsal-free Continual Learning" for what it does not say.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import torch
from torch import Tensor

from seqsearch.backbones.parts.flava_network import ENCODERS, Encoder, FlavaNetwork, Prefixes
from seqsearch.methods.base import Caps, Context, FitReport, Footprint
from seqsearch.methods.config import Config as BaseConfig
from seqsearch.methods.config import LogUniform, param
from seqsearch.methods.data import Batch, TaskData
from seqsearch.methods.parts.network import saved, saved_under
from seqsearch.methods.parts.pairs import PairMethod, PairTraining, mask_of, pairs_of
from seqsearch.methods.parts.prompts import blocks_of, cosines, nearest

LENGTH = 5
"""Keys, and values, of a prefix in a layer."""


@dataclass(frozen=True)
class FrozenTraining(PairTraining):
    """Section 4.1 where the network is frozen: AdamW at .005."""

    lr: float = param(
        0.005, "learning rate of prompts, keys and head", minimum=0.0, maximum=1e30, search=LogUniform(5e-4, 5e-2)
    )
    mask: str = mask_of("own")


@dataclass(frozen=True)
class PrefixTraining(FrozenTraining):
    """Lengths and starts of prefixes."""

    g_length: int = param(
        LENGTH, "keys (and values) of the G-prompt in a layer", minimum=1, maximum=10_000, search=(5, 10, 20)
    )
    length: int = param(
        LENGTH, "keys (and values) of an E-prompt in a layer", minimum=1, maximum=10_000, search=(5, 10, 20)
    )
    init: float = param(1.0, "prompts start uniform in (-init, init)", minimum=1e-6, maximum=1e6, embedded=0.1)
    copy_prompt: bool = param(False, "a new E-prompt starts as a copy of the one before", later=True)


def layers_of(network: FlavaNetwork) -> dict[Encoder, tuple[list[int], list[int]]]:
    """Layers of each encoder that have the G-prompt, and those that have the E-prompt."""
    return {encoder: blocks_of(len(network.layers(encoder))) for encoder in ENCODERS}


def prefix_bytes(network: FlavaNetwork, dim: int, experiences: int, length: int = LENGTH) -> int:
    """Bytes of the prompts and keys of so many experiences, as 32-bit floats."""
    values = 0
    for encoder, (general, expert) in layers_of(network).items():
        of_layer = 2 * length * network.width(encoder)
        values += len(general) * of_layer + experiences * len(expert) * of_layer
    return 4 * (values + experiences * dim)


class PairPrefixed(PairMethod):
    """A frozen network with general and expert prefixes. A subclass says where the keys come from.

    ``general[encoder]`` is ``[G, 2, L, D]`` by layer, keys and values, ``expert[encoder]`` ``[T, E, 2, L, D]``, and ``keys``
    are ``[T, d]``, of the experiences so far.
    """

    Config = PrefixTraining
    config: PrefixTraining
    caps = Caps(backbones="pairs", design=("parameter-efficient", "expansion"))

    def __init__(self, context: Context, config: BaseConfig) -> None:
        super().__init__(context, config)
        self.network = cast(FlavaNetwork, context.frozen_backbone())
        self.layers = layers_of(self.network)
        self.general: dict[str, Tensor] = {}
        self.expert: dict[str, Tensor] = {}
        self.keys = torch.zeros(0, context.dim, device=context.device)

    @abstractmethod
    def initial_key(self, task: TaskData) -> Tensor:
        """The key ``[d]`` of a new experience; a leaf with gradient if it is to be trained by `pulled`."""

    def pulled(self, query: Tensor, key: Tensor) -> Tensor | float:
        """Return the term that is added to the loss of pairs with these queries ``[n, d]``; 0 by default."""
        return 0.0

    def fit_task(self, task: TaskData) -> FitReport:
        general = {e: p.clone().requires_grad_(True) for e, p in (self.general or self._drawn("g", task)).items()}
        own = self._drawn("e", task)
        if self.config.copy_prompt and self.expert:
            own = {encoder: of_all[-1].clone() for encoder, of_all in self.expert.items()}
        own = {encoder: prompt.requires_grad_(True) for encoder, prompt in own.items()}
        key = self.initial_key(task)

        def features_of(part: Batch) -> tuple[Tensor, Tensor | float]:
            return self.network.run(pairs_of(part), self._prefixes(general, own)), self.pulled(part.frozen, key)

        task.train.loaded("frozen")
        learned = [*general.values(), *own.values(), *([key] if key.requires_grad else [])]
        report = self.descended(task, task.train, learned, features_of)
        self.general = {encoder: p.detach() for encoder, p in general.items()}
        before = self.expert or {encoder: p.detach()[:0] for encoder, p in own.items()}
        self.expert = {
            encoder: torch.cat([before[encoder].reshape(-1, *p.shape), p.detach()[None]]) for encoder, p in own.items()
        }
        self.keys = torch.cat([self.keys, key.detach()[None]])
        return report

    def look(self, part: Batch) -> Tensor:
        """Each pair with the E-prompt of the key that is nearest to its own query, whatever the others are."""
        experience = nearest(cosines(part.frozen, self.keys), 1)[:, 0]
        own = {encoder: of_all[experience] for encoder, of_all in self.expert.items()}
        return self.network.run(pairs_of(part), self._prefixes(self.general, own))

    def _prefixes(self, general: Mapping[str, Tensor], own: Mapping[str, Tensor]) -> Prefixes:
        """Return the prefixes of the layers' keys and values: ``own[encoder]`` is ``[E, 2, L, D]``, or ``[n, E, 2, L,
        D]``."""
        found: dict[Encoder, dict[int, Tensor]] = {}
        for encoder, (g_layers, e_layers) in self.layers.items():
            found[encoder] = dict(zip(g_layers, general[encoder], strict=True))
            found[encoder] |= dict(zip(e_layers, own[encoder].unbind(-4), strict=True))
        return found

    def _drawn(self, kind: str, task: TaskData) -> dict[str, Tensor]:
        """Untrained G-prompts (``g``) or E-prompts (``e``)."""
        length = self.config.g_length if kind == "g" else self.config.length
        found: dict[str, Tensor] = {}
        for encoder, layers in self.layers.items():
            shape = len(layers[kind == "e"]), 2, length, self.network.width(encoder)
            drawn = torch.rand(shape, generator=task.generator(f"{kind} {encoder}"))
            found[encoder] = (self.config.init * (2 * drawn - 1)).to(self.context.device)
        return found

    def state_dict(self) -> dict[str, Any]:
        prompts = saved(self.general, "general.") | saved(self.expert, "expert.") | saved({"keys": self.keys})
        return super().state_dict() | prompts

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        super().load_state_dict(state)
        device = self.context.device
        self.general = {name: p.to(device, copy=True) for name, p in saved_under(state, "general.").items()}
        self.expert = {name: p.to(device, copy=True) for name, p in saved_under(state, "expert.").items()}
        self.keys = state["keys"].to(device, copy=True)

    def memory_footprint(self) -> Footprint:
        prompts = sum(p.numel() for p in (*self.general.values(), *self.expert.values(), self.keys))
        return Footprint(params=self.head.bytes + 4 * prompts)
