"""The flags of a `protocols.running.runtime.Runtime`: the same for every command that runs something."""

from __future__ import annotations

import dataclasses
import functools
import typing
from collections.abc import Callable
from typing import Any

import click

from actors.options import EngineOptions
from protocols.cli.grouped import TRACEBACK, grouped_option
from protocols.cli.options import option_of
from protocols.cli.types import Measured
from protocols.running.runtime import ENGINE, QUANTITIES, TIME_BUDGET, runtime_of
from protocols.running.runtime import OPTIONS as RUNTIME
from seqsearch.core.notices import shown_by
from seqsearch.core.settings import flag
from seqsearch.core.text import shown
from seqsearch.core.units import duration

Command = Callable[..., Any]


def _option(f: dataclasses.Field[Any], kind: Any) -> Callable[[Command], Command]:
    """The option of a field of `EngineOptions`."""
    if f.name in QUANTITIES:
        return _quantity(f.name, f.metadata["help"], "8GB" if f.name == "state_cache" else None)
    return option_of(f, kind, metavar="PATH|URL" if f.name in ("state_store", "export") else None)


def _quantity(name: str, text: str, default: str | None = None) -> Callable[[Command], Command]:
    read = QUANTITIES[name]
    metavar = "DURATION" if read is duration else "SIZE"
    return grouped_option(
        flag(name), group="where", type=Measured(read), metavar=metavar, help=text, default=default, show_default=True
    )


HINTS = typing.get_type_hints(EngineOptions)
OPTIONS = (
    *(_option(f, HINTS[f.name]) for f in dataclasses.fields(EngineOptions) if f.name in ENGINE),
    _quantity("time_budget", TIME_BUDGET),
    grouped_option("--quiet", group="output", is_flag=True, help="No progress."),
    grouped_option(
        "--json", "as_json", group="output", is_flag=True, help="Print the summary as JSON, and no progress."
    ),
    grouped_option("--progress", group="output", is_flag=True, help="Show progress on stderr with --json, too."),
    grouped_option("--traceback", group="output", **TRACEBACK),
)


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
