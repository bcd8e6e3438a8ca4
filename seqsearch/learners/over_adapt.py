"""OverAdapt: FC-only on the latest samples alone.

"Rapid Adaptation in Online Continual Learning: Are We Evaluating It Right?", section 3.3: `fc_only` with ``sampler=fifo``. It
is made to be good in online accuracy by way of correlated labels, and to forget.
"""

from __future__ import annotations

from dataclasses import dataclass

from seqsearch.learners.fc_only import LastLayer
from seqsearch.learners.parts.samplers import SAMPLERS
from seqsearch.methods.config import param


class OverAdapt(LastLayer):
    """See the module."""

    @dataclass(frozen=True)
    class Config(LastLayer.Config):
        sampler: str = param("fifo", "which revealed samples a training batch holds", choices=SAMPLERS)

    config: Config


build = OverAdapt
