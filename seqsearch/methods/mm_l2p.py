"""L2P on image-text pairs: a pool of prompts; each pair picks the few whose keys are nearest to its query.

"A Multimodal Class-Incremental Learning Benchmark for Classification Tasks" (MCIL), section 3.3, after
"Learning to Prompt for Continual Learning".

Let q be a pair's query (the multimodal class token of the frozen network), k_m ``[d]`` the keys and P_m
``[length, D]`` the prompts of a pool of ``size``. The ``top_k`` keys nearest to q by cosine are chosen. Their
prompts stand as further tokens behind the class token of an encoder. The head reads the multimodal class
token. The loss of a pair is

    CE + pull * mean over its chosen keys of (1 - cos(q, k_m)).

Trainable: prompts, keys and head rows. Stored: the same. The pool does not grow: all experiences share it.

Points that the paper leaves open, and the choice here:

- which encoder has the prompts ("before passing to the encoder"): the multimodal one, where both modalities
  are. ``mounts`` names other encoders. Prompts of a unimodal encoder are removed before the multimodal one.
  One key picks from the pools of several encoders.
- the paper gives no sizes. Here there are 10 prompts of 5 tokens, 5 picked, and ``pull`` 0.1, as in public
  code. Prompts and keys begin uniform in (-1, 1).
- each pair picks for itself. Public code lets a test batch pick by majority, and its accuracy then depends on
  the batch.
- the cross-entropy runs among the new classes alone (``mask=own``), as in public code.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import torch
from torch import Tensor

from seqsearch.backbones.parts.flava_network import Encoder, FlavaNetwork
from seqsearch.methods.base import Caps, Context, FitReport, Footprint
from seqsearch.methods.config import Config as BaseConfig
from seqsearch.methods.config import Conflict, param
from seqsearch.methods.data import Batch, TaskData
from seqsearch.methods.parts.network import saved, saved_under
from seqsearch.methods.parts.pairs import PairMethod, pairs_of
from seqsearch.methods.parts.pairs_prefixes import FrozenTraining
from seqsearch.methods.parts.prompts import cosines, nearest

MOUNTS = (
    "multimodal", "image", "text", "image+text", "image+multimodal", "text+multimodal", "image+text+multimodal",
)  # fmt: skip


class PoolOfPrompts(PairMethod):
    """Prompts as tokens, chosen from a pool; see the module."""

    @dataclass(frozen=True)
    class Config(FrozenTraining):
        size: int = param(10, "prompts in the pool", minimum=1, maximum=10_000, search=(10, 20, 30))
        length: int = param(5, "tokens of a prompt", minimum=1, maximum=10_000, search=(1, 5, 10))
        top_k: int = param(5, "prompts of a pair", minimum=1, maximum=10_000, search=(1, 3, 5))
        pull: float = param(
            0.1, "weight of 1 - cosine of query and keys", minimum=0.0, maximum=1e6, search=(0.1, 0.5, 1.0)
        )
        init: float = param(1.0, "keys and prompts start uniform in (-init, init)", minimum=1e-6, maximum=1e6)
        mounts: str = param("multimodal", "encoders that have prompts", choices=MOUNTS)

        def check(self) -> None:
            if self.top_k > self.size:
                raise Conflict(
                    f"top_k={self.top_k}: must be at most size={self.size}; lower the one or raise the other"
                )

    config: Config
    caps = Caps(backbones="pairs", design=("parameter-efficient",))

    def __init__(self, context: Context, config: BaseConfig) -> None:
        super().__init__(context, config)
        self.network = cast(FlavaNetwork, context.frozen_backbone())
        self.mounts = cast(list[Encoder], self.config.mounts.split("+"))
        self.pool = self._drawn()
        """``keys`` ``[size, d]``, and by encoder prompts ``[size, length, D]``."""

    def fit_task(self, task: TaskData) -> FitReport:
        pool = {name: tensor.clone().requires_grad_(True) for name, tensor in self.pool.items()}

        def features_of(part: Batch) -> tuple[Tensor, Tensor]:
            similarity = cosines(part.frozen, pool["keys"])
            chosen = nearest(similarity, self.config.top_k)
            away = self.config.pull * (1 - similarity.gather(1, chosen)).mean()
            return self._run(part, pool, chosen), away

        task.train.loaded("frozen")
        report = self.descended(task, task.train, list(pool.values()), features_of)
        self.pool = {name: tensor.detach() for name, tensor in pool.items()}
        return report

    def look(self, part: Batch) -> Tensor:
        return self._run(part, self.pool, nearest(cosines(part.frozen, self.pool["keys"]), self.config.top_k))

    def _run(self, part: Batch, pool: Mapping[str, Tensor], chosen: Tensor) -> Tensor:
        """Features of pairs with the ``chosen`` prompts ``[n, k]``."""
        prompts = {encoder: pool[encoder][chosen].flatten(1, 2) for encoder in self.mounts}
        return self.network.run(pairs_of(part), prompts=prompts)

    def _drawn(self) -> dict[str, Tensor]:
        """An untrained pool."""
        config, found = self.config, {}
        shapes: dict[str, tuple[int, ...]] = {"keys": (config.size, self.context.dim)}
        shapes.update({e: (config.size, config.length, self.network.width(e)) for e in self.mounts})
        for name, shape in shapes.items():
            drawn = torch.rand(shape, generator=self.context.generator(name))
            found[name] = (config.init * (2 * drawn - 1)).to(self.context.device)
        return found

    def state_dict(self) -> dict[str, Any]:
        return super().state_dict() | saved(self.pool, "pool.")

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        super().load_state_dict(state)
        self.pool = {name: t.to(self.context.device, copy=True) for name, t in saved_under(state, "pool.").items()}

    def memory_footprint(self) -> Footprint:
        return Footprint(params=self.head.bytes + 4 * sum(tensor.numel() for tensor in self.pool.values()))


build = PoolOfPrompts
