"""Where and how to run: no part of what is found. The same flags for every command that runs something."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import click

from seqsearch.deadline import Deadline, duration
from seqsearch.errors import UserError

Command = Callable[..., Any]


@dataclass(frozen=True)
class Runtime:
    """``workers`` None: one per CPU or GPU share; 0: in this process. At the ``deadline`` it stops, resumable."""

    workers: int | None = None
    gpus_per_worker: float = 0.0
    address: str | None = None
    quiet: bool = False
    json: bool = False
    deadline: Deadline = field(default_factory=Deadline)

    @property
    def silent(self) -> bool:
        """No progress is shown."""
        return self.quiet or self.json


OPTIONS = (
    click.option(
        "--workers",
        type=click.IntRange(0),
        help="Ray workers; 0: in this process.  [default: one per CPU or GPU share]",
    ),
    click.option(
        "--gpus-per-worker",
        type=click.FloatRange(0),
        default=0.0,
        show_default=True,
        help="GPUs of a worker, e.g. 0.5.",
    ),
    click.option(
        "--address", help="Ray cluster to join: auto, HOST:PORT or ray://HOST:PORT.  [default: start Ray here]"
    ),
    click.option(
        "--time-budget",
        type=duration,
        metavar="DURATION",
        help="Stop after e.g. 90m, 2h, 1d12h with the best so far; resumable.",
    ),
    click.option("--quiet", is_flag=True, help="No progress."),
    click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON, and no progress."),
)


def runtime_options(command: Command) -> Command:
    """Decorate a command with the flags of a `Runtime`, which it gets as ``runtime``; its time begins when it is called.

    Raises:
        UserError: flags contradict each other.
    """

    @functools.wraps(command)
    def with_runtime(
        *args: Any, workers: int | None, gpus_per_worker: float, address: str | None, time_budget: float | None,
        quiet: bool, as_json: bool, **values: Any,
    ) -> Any:  # fmt: skip
        if workers == 0 and address:
            raise UserError("--workers 0 runs in this process and --address on a cluster: give one of them")
        deadline = Deadline() if time_budget is None else Deadline(time_budget)
        runtime = Runtime(workers, gpus_per_worker, address, quiet, as_json, deadline)
        return command(*args, runtime=runtime, **values)

    decorated: Command = with_runtime
    for option in reversed(OPTIONS):
        decorated = option(decorated)
    return decorated
