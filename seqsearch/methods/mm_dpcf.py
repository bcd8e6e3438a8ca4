"""DPcf, Dual Prompt closed-form: `mm_dp` whose keys are computed.

"A Multimodal Class-Incremental Learning Benchmark for Classification Tasks" (MCIL), section 3.3 and appendix
A.

The key of an experience should be near all queries of its pairs. ``sum_i cos(q_i, k)`` is greatest over unit
vectors k at

    k = Q / ||Q||,   Q = sum_i q_i / ||q_i||                                                                    (eqs. 4 to 7)

(Cauchy-Schwarz). So the key is computed before the experience is learned, and the loss is the cross-entropy
alone.

Trainable: G-prompt, the experience's E-prompt, and head rows. Stored: the same, of all experiences, and the
keys.

Points that the paper leaves open, and the choice here:

- the paper has "Q needs to be a unit vector" where k is meant.
- sums run over integers (`parts/query_sum.py`). The key is the same whatever the order, the batches and the
  parts.
- queries that cancel each other have no nearest key, so one is drawn.
- all else: see `mm_dp`.
"""

from __future__ import annotations

from torch import Tensor

from seqsearch.methods.data import TaskData
from seqsearch.methods.parts.pairs_prefixes import PairPrefixed
from seqsearch.methods.parts.query_sum import query_sum


class ClosedFormKeys(PairPrefixed):
    """Prefixes with computed keys; see the module."""

    def initial_key(self, task: TaskData) -> Tensor:
        return query_sum(task.train.frozen).key(task.generator("key")).to(self.context.device)


build = ClosedFormKeys
