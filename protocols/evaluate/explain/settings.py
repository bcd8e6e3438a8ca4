"""Settings of ``seqsearch explain``. Light on purpose: ``seqsearch --help`` imports this and nothing heavy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from protocols.evaluate.parts.settings import EvaluateSettings
from seqsearch.core.settings import setting


@dataclass(frozen=True)
class ExplainSettings(EvaluateSettings):
    """Which run is explained, and with how many trainings."""

    protocol: ClassVar[str] = "explain"

    draws: int = setting(
        8,
        "Random regroupings, and as many random orders, of each found sequence.",
        minimum=3,
        maximum=1000,
        group="first",
    )
    bound: bool = setting(
        True, "Train joint models on the classes of each found and random sequence: upper bounds.", group="scoring"
    )
