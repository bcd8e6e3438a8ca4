"""Settings of ``seqsearch score``. Light on purpose: ``seqsearch --help`` imports this and nothing heavy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from protocols.cldyb.settings import JOINT
from protocols.evaluate.common.settings import EvaluateSettings
from seqsearch.core.settings import setting


@dataclass(frozen=True)
class ScoreSettings(EvaluateSettings):
    """Methods, on sequences that are there, and on random ones of a pool that no search saw."""

    protocol: ClassVar[str] = "score"
    before: ClassVar[Mapping[str, Any]] = {"joint": False}

    heldout_pool: str = setting(
        "",
        "POOL that no search saw: all methods are scored on random sequences of it, too, and ranks compared.",
        names="pools",
        group="first",
    )
    heldout_sequences: int = setting(
        5, "Random sequences of --heldout-pool.", minimum=2, maximum=10_000, group="scoring"
    )
    references: bool = setting(
        False,
        "Train references: joint training (upper bound) and the nearest class mean of frozen features.",
        group="first",
    )
    joint: bool | None = setting(None, JOINT, group="scoring", off="--no-bound")

    def further_pools(self) -> str:
        return self.heldout_pool
