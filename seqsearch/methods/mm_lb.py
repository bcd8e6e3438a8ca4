"""LB, the lower bound of MCIL: fine-tune the whole network on one experience after the other.

"A Multimodal Class-Incremental Learning Benchmark for Classification Tasks" (MCIL), section 3.3.

The network f of pairs and a linear head descend ``-log softmax(W f(image, text) + b)[y]`` over the classes seen so far, on
the pairs of the new experience alone.

Trainable: everything. Stored: network and head.

What the paper leaves open, and what is done here:
- whether unseen classes take part in training (they have no rows here), and whether old ones do: ``mask=seen``, the
  default, lets all classes seen compete, so that old rows learn to be silent, ``mask=own`` those of the new experience alone.
- weight decay, schedule, augmentation: see `parts/pairs.py`.
"""

from __future__ import annotations

from seqsearch.methods.base import FitReport
from seqsearch.methods.data import TaskData
from seqsearch.methods.parts.pairs_tuned import PairTuned


class LowerBound(PairTuned):
    """One experience after the other; see the module."""

    def fit_task(self, task: TaskData) -> FitReport:
        return self.tuned(task, task.train)


build = LowerBound
