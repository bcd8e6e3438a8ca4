"""Execution options of a run, and its output; none of them is a setting of the study itself."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from actors.options import EngineOptions
from seqsearch.core.deadline import Deadline
from seqsearch.core.errors import UserError
from seqsearch.core.units import duration, size

if TYPE_CHECKING:
    from seqsearch.core.outcomes import EdgeResult
    from seqsearch.core.types import Edge

CLUSTER_START_SECONDS = 900.0
"""Time for the first worker on a cluster, whose nodes may have to be started."""
QUANTITIES: Mapping[str, Callable[[Any], float]] = {
    "rollout_timeout": duration, "worker_memory": size, "state_cache": size, "time_budget": duration,
}  # fmt: skip
"""Options that are written with a unit, as ``90m`` or ``8GB``."""
ENGINE = tuple(f.name for f in dataclasses.fields(EngineOptions) if f.name not in ("start_timeout", "session"))
"""Options that become an `EngineOptions`."""
TIME_BUDGET = "Stop after e.g. 90m, 2h, 1d12h with the best so far; resumable. Starting does not count. At most 520w."
"""Help of the option ``time_budget``, which is none of the `EngineOptions`."""
OPTIONS = (*ENGINE, "time_budget")
"""All options that `runtime_of` takes."""


@dataclass(frozen=True)
class Runtime:
    """Where and how to run, and what is shown of it. At the ``deadline`` it stops, resumable. With ``traceback`` all that led to
    an error in a method is shown, also where nothing else is. With ``progress`` progress is shown beside ``json``. Results of
    trainings go to ``on_result`` when they are in the journal."""

    engine: EngineOptions = field(default_factory=EngineOptions)
    quiet: bool = False
    json: bool = False
    deadline: Deadline = field(default_factory=Deadline)
    traceback: bool = False
    progress: bool = False
    on_result: Callable[[Edge, EdgeResult], object] | None = None

    @property
    def silent(self) -> bool:
        """No progress is shown."""
        return self.quiet or (self.json and not self.progress)


def runtime_of(options: Mapping[str, Any], **shown: Any) -> Runtime:
    """The runtime of `OPTIONS`, quantities as numbers or texts with units; others have their defaults.

    Its time budget begins when the run computes something: until then Ray starts, images are read, the journal is replayed.

    Raises:
        UserError: a quantity cannot be read, an option is out of bounds, or options contradict each other.
    """
    read = {name: _read(name, value) for name, value in options.items()}
    budget = read.pop("time_budget", None)
    engine = EngineOptions(**read)
    if engine.address:
        engine = dataclasses.replace(engine, start_timeout=CLUSTER_START_SECONDS)
    deadline = Deadline() if budget is None else Deadline(budget, waits=True)
    return Runtime(engine, deadline=deadline, **shown)


def _read(name: str, value: Any) -> Any:
    if name not in QUANTITIES or value is None or (isinstance(value, int | float) and value > 0):
        return value
    try:
        return QUANTITIES[name](value)
    except UserError as error:
        raise UserError(f"--{name.replace('_', '-')} {error}") from None
