"""ER (replay only): cross-entropy on batches drawn from all that was revealed.

"Rapid Adaptation in Online Continual Learning: Are We Evaluating It Right?", section 4: the whole network is trained; nothing
but the sampled batch is trained on, be it of the batch just revealed or older. What a batch holds, what an update costs, rates:
`seqsearch.learners.parts.gradient`.

Departures from the public code, and why:

- the head is linear; there it has a hidden layer of 512 with batch normalisation, of which the paper says nothing.
- a pre-trained network stays in eval mode: batch statistics as they are. One from scratch learns them.
- images are augmented with ``--augment`` alone.
- the rate on `scratch:tiny` is another: the published one learns next to nothing there in a short stream. On `glyph_vit` it
  learns.
"""

from __future__ import annotations

from dataclasses import dataclass

from seqsearch.learners.parts.gradient import GradientLearner, Updates
from seqsearch.methods.config import LogUniform, param


class ReplayOnly(GradientLearner):
    """See the module."""

    @dataclass(frozen=True)
    class Config(Updates):
        lr: float = param(
            0.005, "learning rate", minimum=0.0, maximum=1e30, search=LogUniform(5e-4, 0.05), embedded=0.005, tiny=0.02
        )

    config: Config


build = ReplayOnly
