"""CODA-Prompt: prefixes that are weighted sums of components; each task adds components and trains those alone.

"CODA-Prompt: COntinual Decomposed Attention-based Prompting for Rehearsal-Free Continual Learning".

Each of the blocks 0 to 4 (as far as the network has them) has components P_m ``[length, D]`` with keys K_m
and attention vectors A_m ``[d]``. Let q be the image's query (its feature by the frozen network), and * the
elementwise product:

    w_m = cos(q * A_m, K_m),    prompt = sum_m w_m P_m,

The first half of the prompt are keys and the second half values, which every query of the block's attention
also attends to. The loss, over all components so far, is

    CE among the new classes + mu * sum over blocks of (O(K) + O(A) + O(P)),   O(M) = mean((M M^T - I)^2),

New components start orthonormal, and orthogonal to the old ones, in K, A and P.

Trainable: the task's components and new head rows. Stored: all components and the head. On a network without
class token the query, like the feature, is the mean of the tokens.

A task adds ``components`` of them, and the number of tasks has no limit. Public code divides a pool of 100
among the tasks, so it must know their number: 10 each for ten tasks, the default here. After D /
``components`` tasks in K and A, and later in P, no further component can be orthogonal to the old ones. New
components are then orthonormal among themselves only.

Departures from the public code, and why (effects are not measured unless given):

- the optimiser holds the new components only. In public code it holds the pool, so weight decay shrinks old
  components.
- new components are made orthogonal to the span of the old ones, by QR. Public code subtracts projections on
  old components one by one, as if these were still orthogonal to each other. Training has changed that.
- mu acts as in PILOT. The authors' code has a further factor of 1e-6. PILOT's term fails on a GPU (its
  identity is on the CPU).
- the last, smaller batch of an epoch counts. Public code drops it, and does not train a task smaller than a
  batch at all.
- the schedule is a cosine from 1 to 0 by step, half a period. That of public code falls by epoch along a
  quarter of a period, cos(0.495 pi e / (epochs - 1)), from 1 to 0.016. Its mean is 0.64 of the rate, here
  0.50. With one epoch it divides by zero.
- new head rows start at N(0, 0.01^2). There is no augmentation.

On the glyphs it is no better than its head on frozen features without any prompt (0.797): see `dualprompt`.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import torch
from torch import Tensor

from seqsearch.methods.base import Caps, Context
from seqsearch.methods.config import Config as BaseConfig
from seqsearch.methods.config import param
from seqsearch.methods.data import TaskData
from seqsearch.methods.parts import gtep
from seqsearch.methods.parts.components import BLOCKS, Components, added, overlap, weights
from seqsearch.methods.parts.prompts import Prompted, Prompts, PromptTraining, prefix


class CodaPrompt(Prompted):
    """Prefixes as weighted sums of components; see the module."""

    @dataclass(frozen=True)
    class Config(Components, PromptTraining):
        epochs: int = param(
            50, "passes over a task's images", minimum=1, maximum=10_000, search=gtep.PROMPT_EPOCHS, embedded=8
        )
        batch_size: int = param(128, "images per step", minimum=1, maximum=100_000, search=gtep.BATCH_SIZE, embedded=24)
        scheduler: str = param(
            "cosine", "how the learning rate falls", choices=("cosine", "steplr", "constant"), search=gtep.SCHEDULER
        )

    config: Config

    @classmethod
    def capabilities(cls, config: BaseConfig) -> Caps:
        orthogonal = isinstance(config, CodaPrompt.Config) and config.mu > 0
        design = ("parameter-efficient", *(("orthogonality",) if orthogonal else ()), "expansion")
        return dataclasses.replace(cls.caps, design=design)

    def __init__(self, context: Context, config: BaseConfig) -> None:
        super().__init__(context, config)
        self.blocks = [number for number in BLOCKS if number < self.vit.depth]

    def initial_prompts(self, task: TaskData) -> Prompts:
        """By block: ``k`` and ``a`` ``[B, m, d]``, ``p`` ``[B, m, length * D]``."""
        count, d, device = self.config.components, self.context.dim, self.context.device
        widths = {"k": d, "a": d, "p": self.config.length * self.vit.width}
        fresh: Prompts = {}
        for name, width in widths.items():
            draws = torch.randn(len(self.blocks), count, width, generator=task.generator(name), dtype=torch.float64)
            fresh[name] = added(draws, self.prompts.get(name)).to(device)
        return fresh

    def finalize(self, own: Prompts) -> Prompts:
        return {name: torch.cat([self.prompts[name], p], dim=1) if self.prompts else p for name, p in own.items()}

    def inject(self, tokens: Tensor, query: Tensor, own: Prompts | None) -> tuple[Tensor, Tensor]:
        pool = self.prompts if own is None else self.finalize(own)
        blocks = {}
        for at, number in enumerate(self.blocks):
            k, a, p = (pool[name][at] for name in "kap")
            prompts = (weights(query, a, k) @ p).view(len(query), 2, self.config.length // 2, self.vit.width)
            blocks[number] = prefix(prompts)
        features = self.vit.pool(self.vit.run(tokens, blocks))
        if own is None or self.config.mu == 0:
            return features, query.new_zeros(())
        return features, self.config.mu * torch.stack([overlap(rows) for rows in pool.values()]).sum()


build = CodaPrompt
