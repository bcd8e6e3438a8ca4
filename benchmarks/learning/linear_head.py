"""A prompt method without prompts, for `benchmarks.learning.adapting`.

    --methods benchmarks/learning/linear_head.py:LinearHead

The head reads frozen features and learns as those of prompt methods do: local cross-entropy, the same optimiser and schedule.
What a prompt method has above it, it has of its prompts.
"""

from __future__ import annotations

import torch
from torch import Tensor

from seqsearch.methods.base import Caps
from seqsearch.methods.data import Batch, TaskData
from seqsearch.methods.parts.prompts import Prompted, Prompts


class LinearHead(Prompted):
    """Linear on frozen features."""

    caps = Caps(input="frozen", trains_backbone=False)

    def initial_prompts(self, task: TaskData) -> Prompts:
        return {}

    def inject(self, tokens: Tensor, query: Tensor, own: Prompts | None) -> tuple[Tensor, Tensor]:
        return query, torch.zeros((), device=query.device)

    def finalize(self, own: Prompts) -> Prompts:
        return own

    def features(self, batch: Batch) -> Tensor:
        return batch.frozen
