"""Execution options of a run, and its output; none of them is a setting of the study itself."""

from __future__ import annotations

from dataclasses import dataclass, field

from actors.options import EngineOptions
from seqsearch.core.deadline import Deadline


@dataclass(frozen=True)
class Runtime:
    """Where and how to run, and what is shown of it. At the ``deadline`` it stops, resumable. With ``traceback`` all that led to
    an error in a method is shown, also where nothing else is. With ``progress`` progress is shown beside ``json``."""

    engine: EngineOptions = field(default_factory=EngineOptions)
    quiet: bool = False
    json: bool = False
    deadline: Deadline = field(default_factory=Deadline)
    traceback: bool = False
    progress: bool = False

    @property
    def silent(self) -> bool:
        """No progress is shown."""
        return self.quiet or (self.json and not self.progress)
