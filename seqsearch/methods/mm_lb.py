"""LB, the lower bound of MCIL: fine-tune the whole network on one experience after the other.

"A Multimodal Class-Incremental Learning Benchmark for Classification Tasks" (MCIL), section 3.3.

The network f of pairs and a linear head descend ``-log softmax(W f(image, text) + b)[y]`` over the classes
seen so far, on the pairs of the new experience alone.

Trainable: everything. Stored: network and head.

Points that the paper leaves open, and the choice here:

- whether unseen classes take part in training. They have no rows here.
- whether old classes take part. With ``mask=seen``, the default, all classes seen compete, so that old rows
  learn low scores. With ``mask=own`` only the classes of the new experience compete.
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
