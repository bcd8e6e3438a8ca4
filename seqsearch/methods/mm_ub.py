"""UB, the upper bound of MCIL: fine-tune the whole network on the pairs of all experiences so far.

"A Multimodal Class-Incremental Learning Benchmark for Classification Tasks" (MCIL), section 3.3.

With every experience the network and a head descend the cross-entropy of `mm_lb` over the pairs of ALL
experiences up to it.

Trainable: everything. Stored: network, head, and the rows of all pairs. Its cost grows with the square of the
experiences.

Points that the paper leaves open, and the choice here:

- the start of an experience. The paper says "the pretrained Flava model is fine-tuned on all the training
  sets". With ``restart=true``, the default, each experience starts from the pre-trained weights, so the last
  one is joint training. With ``restart=false`` it continues from the experience before.
- ``mask``: see `mm_lb`. With ``own`` each pair competes within its own experience, and the result is no upper
  bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from seqsearch.methods.base import FitReport
from seqsearch.methods.config import param
from seqsearch.methods.data import TaskData
from seqsearch.methods.parts.head import new_head
from seqsearch.methods.parts.network import own_backbone
from seqsearch.methods.parts.pairs_stored import PairsKept, of_task
from seqsearch.methods.parts.pairs_tuned import WholeTraining

if TYPE_CHECKING:
    pass


class UpperBound(PairsKept):
    """All experiences so far; see the module."""

    @dataclass(frozen=True)
    class Config(WholeTraining):
        restart: bool = param(
            True, "every experience starts from the pre-trained weights, and from a new head", later=True
        )

    config: Config

    def fit_task(self, task: TaskData) -> FitReport:
        pairs = self.stored.with_new(task)
        if self.config.restart and len(self.stored):
            self.network = own_backbone(self.context)
            draw, device = task.generator("old head"), self.context.device
            self.head = new_head(task.columns.start, self.context.dim, draw, device).detached()
        self.stored = self.stored.joined(of_task(task))
        return self.tuned(task, pairs)


build = UpperBound
