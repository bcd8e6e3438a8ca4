"""Settings of ``seqsearch explain``. Light on purpose: ``seqsearch --help`` imports this and nothing heavy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from protocols.evaluate.common.settings import EvaluateSettings
from seqsearch.core.settings import setting


@dataclass(frozen=True)
class ExplainSettings(EvaluateSettings):
    """Which run is explained, and with how many trainings."""

    protocol: ClassVar[str] = "explain"
    before: ClassVar[Mapping[str, Any]] = {"bound_kind": "full"}

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
    bound_kind: Literal["auto", "frozen", "full"] = setting(
        "auto",
        "Upper bounds on frozen features, or full ones that fine-tune as well; auto: full where a method trains its network.",
        group="scoring",
    )
