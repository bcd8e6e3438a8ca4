"""DP, Dual Prompt on image-text pairs: general and expert prefixes in all three encoders, keys learned by gradient.

"A Multimodal Class-Incremental Learning Benchmark for Classification Tasks" (MCIL), section 3.3, after
"DualPrompt: Complementary Prompting for Rehearsal-free Continual Learning".

In a layer with a prompt (p_K, p_V), ``[L, D]`` each, attention is
``softmax(Q [p_K; K]^T / sqrt(d_head)) [p_V; V]`` in every head. The prompts are used as keys and values
without a projection. The image, the text and the multimodal encoder have the same layout. The G-prompt is in
layers 0 and 1 and learns with every experience. Experience t has an E-prompt in layers 2, 3 and 4, and one
key k_t. A pair's query q is the multimodal class token of the frozen network. The loss of a pair of
experience t is

    CE + pull (1 - cos(q, k_t)),

At prediction a pair gets the E-prompts of the nearest key, argmax_t cos(q, k_t). The choice does not depend
on the batch.

Trainable: G-prompt, the experience's E-prompt and key, and head rows. Stored: the same, of all experiences.

Points that the paper leaves open, and the choice here:

- the paper gives no sizes. Those of public code are taken: G-prompts of 5 in layers 0 and 1, E-prompts of 5
  in layers 2 to 4. At the published width (768) that is 737,280 values in prompts and 7,680 in keys after ten
  experiences.
- an encoder with fewer layers has the E-prompt in those of the layers that it has, at least in its last. The
  G-prompt is in the layers before.
- the paper's text says that E-prompts are invariant and G-prompts specific, then the reverse. The second is
  DualPrompt, and right.
- the query is read from the store of frozen features. It is computed once for each pair, so it costs no
  second forward pass.
- the cross-entropy runs among the new classes alone (``mask=own``), as in public code.
- keys begin uniform in (-1, 1), and ``pull`` is 1. AdamW moves a key by about its rate at each step, whatever
  ``pull`` is. So in a small experience the key stops on the way to the key that `mm_dpcf` computes.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from seqsearch.methods.config import param
from seqsearch.methods.data import TaskData
from seqsearch.methods.parts.pairs_prefixes import PairPrefixed, PrefixTraining
from seqsearch.methods.parts.prompts import cosines


class DualPromptPairs(PairPrefixed):
    """Prefixes with learned keys; see the module."""

    @dataclass(frozen=True)
    class Config(PrefixTraining):
        pull: float = param(
            1.0, "weight of 1 - cosine of query and key", minimum=0.0, maximum=1e6, search=(0.1, 0.5, 1.0)
        )

    config: Config

    def initial_key(self, task: TaskData) -> Tensor:
        drawn = 2 * torch.rand(self.context.dim, generator=task.generator("key")) - 1
        return drawn.to(self.context.device).requires_grad_(True)

    def pulled(self, query: Tensor, key: Tensor) -> Tensor | float:
        return self.config.pull * (1 - cosines(query, key[None])).mean()


build = DualPromptPairs
