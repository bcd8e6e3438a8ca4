"""Settings of commands that evaluate existing sequences, of a run or of a file.

Light on purpose: ``seqsearch --help`` imports this and nothing heavy.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from seqsearch.core.errors import UserError
from seqsearch.core.settings import MOST_TASKS, StudySettings, growth_of, setting

_HIDDEN: dict[str, Any] = {"minimum": None, "maximum": None, "hidden": True}


@dataclass(frozen=True)
class EvaluateSettings(StudySettings):
    """Sequences, and the methods that are evaluated on them. What a run was made with is filled in by `common.source.filled`."""

    source: str = field(default="", metadata={**_HIDDEN, "names": "run", "argument": "RUN|SEQUENCES"})
    """The run folder or file that the sequences are of."""
    grow: tuple[str, ...] = field(default=(), metadata=_HIDDEN)
    """Of the run."""
    which: Literal["all", "found", "random"] = setting(
        "all", "Sequences of the RUN: all, the found or the random ones.", group="what"
    )
    score_seeds: int = setting(
        0, "Training seeds of each sequence; 0: those that the RUN has, or 3.", minimum=0, maximum=1000, group="first"
    )
    by_name: bool = setting(
        False, "Take classes by their names: the pool's images may be others than those of the RUN.", group="what"
    )

    def check(self) -> None:
        super().check()
        if not self.source:
            raise UserError("name a RUN, or a file of sequences (.parquet, .json, .csv)")
        self.growth()

    def further_pools(self) -> str:
        """Pools beside that of the sequences; held-out sequences of a run are left out unless they are of one of these."""
        return ""

    def growth(self) -> list[tuple[int, str]]:
        """See `growth_of`."""
        return growth_of(self.grow, MOST_TASKS)
