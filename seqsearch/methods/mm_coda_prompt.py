"""CODA-Prompt on image-text pairs: prefixes in all three encoders that are weighted sums of components.

"CODA-Prompt: COntinual Decomposed Attention-based Prompting for Rehearsal-Free Continual Learning", on the
network of "A Multimodal Class-Incremental Learning Benchmark for Classification Tasks" (MCIL). The paper of MCIL
does not run it.

The layers 0 to 4 of the image, the text and the multimodal encoder (as far as an encoder has them) have
components P_m ``[length, D]`` with keys K_m and attention vectors A_m ``[d]``. Let q be a pair's query (the
multimodal class token of the frozen network), and * the elementwise product:

    w_m = cos(q * A_m, K_m),    prompt = sum_m w_m P_m,

The first half of the prompt are keys and the second half values. Every token of the layer attends to them, as to
the prefixes of `mm_dp`. The loss, over all components so far, is

    CE + mu * sum over layers and encoders of (O(K) + O(A) + O(P)),   O(M) = mean((M M^T - I)^2),

New components start orthonormal, and orthogonal to the old ones, in K, A and P. An experience trains its own
components alone. A pair gets all components, weighted, so there is no choice of an experience at prediction.

Trainable: the experience's components and new head rows. Stored: all components and the head.

Choices here:

- layers, sizes and starts are those of `coda_prompt`, with its departures from public code.
- a pair has one query. Each layer of each encoder has keys and attention vectors of its own for it.
- epochs, batch size, optimiser and learning rate are those of the prompts of MCIL (`mm_dp`).
- the cross-entropy runs among the new classes alone (``mask=own``), as in public code.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import torch
from torch import Tensor

from seqsearch.backbones.parts.flava_network import ENCODERS, Encoder, FlavaNetwork, Prefixes
from seqsearch.methods.base import Caps, Context, FitReport, Footprint
from seqsearch.methods.config import Config as BaseConfig
from seqsearch.methods.data import Batch, TaskData
from seqsearch.methods.parts.components import BLOCKS, Components, added, overlap, weights
from seqsearch.methods.parts.network import saved, saved_under
from seqsearch.methods.parts.pairs import PairMethod, pairs_of
from seqsearch.methods.parts.pairs_prefixes import FrozenTraining

Pool = Mapping[str, Tensor]
"""By ``k``, ``a`` or ``p`` and encoder, as ``k image``: ``[layers, components, d]``, or ``[.., .., length * D]`` of ``p``."""


class CodaPromptPairs(PairMethod):
    """Prefixes as weighted sums of components; see the module."""

    @dataclass(frozen=True)
    class Config(Components, FrozenTraining):
        """Components in frozen encoders."""

    config: Config
    caps = Caps(backbones="pairs", design=("parameter-efficient", "expansion"))

    def __init__(self, context: Context, config: BaseConfig) -> None:
        super().__init__(context, config)
        self.network = cast(FlavaNetwork, context.frozen_backbone())
        self.layers = {e: [n for n in BLOCKS if n < len(self.network.layers(e))] for e in ENCODERS}
        self.pool: Pool = {}
        """Components of all experiences; empty before the first."""

    def fit_task(self, task: TaskData) -> FitReport:
        own = {name: rows.requires_grad_(True) for name, rows in self._initial(task).items()}

        def features_of(part: Batch) -> tuple[Tensor, Tensor | float]:
            pool = self._joined(own)
            features = self.network.run(pairs_of(part), self._prefixes(part.frozen, pool))
            if self.config.mu == 0:
                return features, 0.0
            return features, self.config.mu * torch.stack([overlap(rows) for rows in pool.values()]).sum()

        task.train.loaded("frozen")
        report = self.descended(task, task.train, list(own.values()), features_of)
        self.pool = self._joined({name: rows.detach() for name, rows in own.items()})
        return report

    def look(self, part: Batch) -> Tensor:
        return self.network.run(pairs_of(part), self._prefixes(part.frozen, self.pool))

    def _prefixes(self, query: Tensor, pool: Pool) -> Prefixes:
        """Keys and values ``[n, 2, L, D]`` of each layer, for pairs with these queries ``[n, d]``."""
        found: dict[Encoder, dict[int, Tensor]] = {}
        for encoder, layers in self.layers.items():
            shape = len(query), 2, self.config.length // 2, self.network.width(encoder)
            of_layers = zip(layers, *(pool[f"{kind} {encoder}"] for kind in "kap"), strict=True)
            found[encoder] = {number: (weights(query, a, k) @ p).view(shape) for number, k, a, p in of_layers}
        return found

    def _initial(self, task: TaskData) -> dict[str, Tensor]:
        """New components at their first values."""
        found = {}
        for encoder, layers in self.layers.items():
            widths = {"k": self.context.dim, "a": self.context.dim}
            widths["p"] = self.config.length * self.network.width(encoder)
            for kind, width in widths.items():
                name = f"{kind} {encoder}"
                shape = len(layers), self.config.components, width
                draws = torch.randn(shape, generator=task.generator(name), dtype=torch.float64)
                found[name] = added(draws, self.pool.get(name)).to(self.context.device)
        return found

    def _joined(self, own: Pool) -> Pool:
        """Old components, then these."""
        return {name: torch.cat([self.pool[name], rows], dim=1) if self.pool else rows for name, rows in own.items()}

    def state_dict(self) -> dict[str, Any]:
        return super().state_dict() | saved(self.pool, "pool.")

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        super().load_state_dict(state)
        self.pool = {
            name: rows.to(self.context.device, copy=True) for name, rows in saved_under(state, "pool.").items()
        }

    def memory_footprint(self) -> Footprint:
        return Footprint(params=self.head.bytes + 4 * sum(rows.numel() for rows in self.pool.values()))


build = CodaPromptPairs
