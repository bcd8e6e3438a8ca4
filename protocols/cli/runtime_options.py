"""The flags of a `protocols.running.runtime.Runtime`: the same for every command that runs something."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import click

from actors.options import DEVICES, EngineOptions
from protocols.cli.grouped import TRACEBACK, grouped_option
from protocols.cli.options import type_of
from protocols.cli.types import Choice, Measured
from protocols.running.runtime import OPTIONS as RUNTIME
from protocols.running.runtime import runtime_of
from seqsearch.core.notices import shown_by
from seqsearch.core.text import shown
from seqsearch.core.units import duration, size

Command = Callable[..., Any]


def _bounds(name: str, kind: type) -> Any:
    """The type of the option of a field of `EngineOptions`."""
    [found] = [f for f in dataclasses.fields(EngineOptions) if f.name == name]
    return type_of(found, kind)


OPTIONS = (
    grouped_option(
        "--workers", group="first", type=_bounds("workers", int),
        help="Ray workers; 0: in this process.  [default: one per CPU or GPU share, also of nodes that join; of a run that is "
        "resumed as many as last]",
    ),
    grouped_option(
        "--device", group="where", type=Choice(DEVICES), default="auto", show_default=True,
        help="Where methods compute: auto is a GPU if there is one. A run that is resumed, or that takes over results of "
        "another, keeps its device.",
    ),
    grouped_option(
        "--gpus-per-worker", group="where", type=_bounds("gpus_per_worker", float),
        help="GPUs of a worker, e.g. 0.5 (two share one); its share of the memory, too; 0: the CPU.  [default: 1 on a GPU, or "
        "less where --workers are more than GPUs]",
    ),
    grouped_option(
        "--address", group="where", help="Ray cluster to join: auto, HOST:PORT or ray://HOST:PORT.  [default: start Ray here]"
    ),
    grouped_option(
        "--allow-unauthenticated", group="where", is_flag=True,
        help="Join a cluster on other machines even if it asks for no token. Whoever reaches its ports can then run code "
        "there as you do, read your data and change what this run finds.",
    ),
    grouped_option(
        "--rollout-timeout", group="where", type=Measured(duration), metavar="DURATION",
        help="Give up a training, or an evaluation, that takes longer, e.g. 30m; at most 520w.  [default: never]",
    ),
    grouped_option(
        "--worker-memory", group="where", type=Measured(size), metavar="SIZE",
        help="Memory of a worker on a CPU, e.g. 8GB: a training that needs more is given up, a worker that leaks replaced.",
    ),
    grouped_option(
        "--state-store", group="where", default="", metavar="PATH|URL",
        help="Model states on storage that nodes, and other runs, share: a folder, s3://..., gs://...  [default: RUN/states]",
    ),
    grouped_option(
        "--state-cache", group="where", type=Measured(size), default="8GB", show_default=True, metavar="SIZE",
        help="Bytes kept there: of more, those used least recently go, but none that the search still needs. At most 1048576TB.",
    ),
    grouped_option("--export", group="output", default="", metavar="PATH|URL", help="Copy the finished run's files there."),
    grouped_option(
        "--time-budget", group="where", type=Measured(duration), metavar="DURATION",
        help="Stop after e.g. 90m, 2h, 1d12h with the best so far; resumable. Starting does not count. At most 520w.",
    ),
    grouped_option("--quiet", group="output", is_flag=True, help="No progress."),
    grouped_option("--json", "as_json", group="output", is_flag=True, help="Print the summary as JSON, and no progress."),
    grouped_option("--progress", group="output", is_flag=True, help="Show progress on stderr with --json, too."),
    grouped_option("--traceback", group="output", **TRACEBACK),
)  # fmt: skip


def _to_stderr(line: str) -> None:
    click.echo(shown(line), err=True)


def runtime_options(command: Command) -> Command:
    """Decorate a command with the flags of a `Runtime`, which it gets as ``runtime``; its time begins when it computes
    something: until then Ray starts, images are read, the journal is replayed. What takes long is shown on stderr, unless the
    command is to be quiet.

    Raises:
        UserError: flags contradict each other.
    """

    @functools.wraps(command)
    def with_runtime(*args: Any, as_json: bool, **values: Any) -> Any:
        options = {name: values.pop(name) for name in RUNTIME}
        shown = {name: values.pop(name) for name in ("quiet", "traceback", "progress")}
        runtime = runtime_of(options, json=as_json, **shown)
        with shown_by(None if runtime.silent else _to_stderr, _to_stderr):
            return command(*args, runtime=runtime, **values)

    decorated: Command = with_runtime
    for option in reversed(OPTIONS):
        decorated = option(decorated)
    return decorated
