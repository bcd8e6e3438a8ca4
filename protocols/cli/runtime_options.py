"""The flags of a `protocols.running.runtime.Runtime`: the same for every command that runs something."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import click

from actors.options import EngineOptions
from protocols.cli.options import type_of
from protocols.cli.types import Measured
from protocols.running.runtime import Runtime
from seqsearch.core.deadline import Deadline
from seqsearch.core.units import duration, size

Command = Callable[..., Any]

CLUSTER_START_SECONDS = 900.0
"""Time for the first worker on a cluster, whose nodes may have to be started."""


def _bounds(name: str, kind: type) -> Any:
    """The type of the option of a field of `EngineOptions`."""
    [found] = [f for f in dataclasses.fields(EngineOptions) if f.name == name]
    return type_of(found, kind)


OPTIONS = (
    click.option(
        "--workers", type=_bounds("workers", int),
        help="Ray workers; 0: in this process.  [default: one per CPU or GPU share, also of nodes that join; of a run that is "
        "resumed as many as last]",
    ),
    click.option(
        "--gpus-per-worker", type=_bounds("gpus_per_worker", float), default=0.0, show_default=True,
        help="GPUs of a worker, e.g. 0.5; its share of the memory, too.",
    ),
    click.option(
        "--address", help="Ray cluster to join: auto, HOST:PORT or ray://HOST:PORT.  [default: start Ray here]"
    ),
    click.option(
        "--allow-unauthenticated", is_flag=True,
        help="Join a cluster on other machines even if it asks for no token. Whoever reaches its ports can then run code "
        "there as you do, read your data and change what this run finds.",
    ),
    click.option(
        "--rollout-timeout", type=Measured(duration), metavar="DURATION",
        help="Give up a training, or an evaluation, that takes longer, e.g. 30m; at most 520w.  [default: never]",
    ),
    click.option(
        "--worker-memory", type=Measured(size), metavar="SIZE",
        help="Memory of a worker on a CPU, e.g. 8GB: a training that needs more is given up, a worker that leaks replaced.",
    ),
    click.option(
        "--state-store", default="", metavar="PATH|URL",
        help="Model states on storage that nodes, and other runs, share: a folder, s3://..., gs://...  [default: RUN/states]",
    ),
    click.option(
        "--state-cache", type=Measured(size), default="8GB", show_default=True, metavar="SIZE",
        help="Bytes kept there: of more, those used least recently go, but none that the search still needs. At most 1048576TB.",
    ),
    click.option("--export", default="", metavar="PATH|URL", help="Copy the finished run's files there."),
    click.option(
        "--time-budget", type=Measured(duration), metavar="DURATION",
        help="Stop after e.g. 90m, 2h, 1d12h with the best so far; resumable. At most 520w.",
    ),
    click.option("--quiet", is_flag=True, help="No progress."),
    click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON, and no progress."),
)  # fmt: skip
ENGINE = tuple(f.name for f in dataclasses.fields(EngineOptions) if f.name != "start_timeout")
"""Flags that become an `EngineOptions`."""


def runtime_options(command: Command) -> Command:
    """Decorate a command with the flags of a `Runtime`, which it gets as ``runtime``; its time begins when it is called.

    Raises:
        UserError: flags contradict each other.
    """

    @functools.wraps(command)
    def with_runtime(*args: Any, time_budget: float | None, quiet: bool, as_json: bool, **values: Any) -> Any:
        engine = EngineOptions(**{name: values.pop(name) for name in ENGINE})
        if engine.address:  # nodes of a cluster may have to be started first
            engine = dataclasses.replace(engine, start_timeout=CLUSTER_START_SECONDS)
        deadline = Deadline() if time_budget is None else Deadline(time_budget)
        return command(*args, runtime=Runtime(engine, quiet, as_json, deadline), **values)

    decorated: Command = with_runtime
    for option in reversed(OPTIONS):
        decorated = option(decorated)
    return decorated
