"""What commands that make runs have in common: a command is its protocol's settings and record, and how its costs are told."""

from __future__ import annotations

import dataclasses
import os
import shlex
from collections.abc import Callable
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from protocols.cli.options import given, read_yaml, settings_options
from protocols.cli.runtime_options import runtime_options
from seqsearch.core import command_line, stop
from seqsearch.core.errors import UserError
from seqsearch.core.settings import flag
from seqsearch.core.text import shown

if TYPE_CHECKING:
    from protocols.running.protocol import Protocol
    from protocols.running.runtime import Runtime

Command = Callable[..., Any]
PrintCosts = Callable[[Any, "Runtime"], None]


def run_options(protocol: Protocol[Any, Any]) -> Callable[[Command], Command]:
    """Decorate a command with ``--config``, the settings of a protocol, ``--out``, ``--resume``, ``--dry-run`` and the flags of
    the runtime."""
    options = (
        click.option(
            "--config", type=click.Path(path_type=Path, dir_okay=False), is_eager=True, expose_value=False,
            callback=read_yaml, help="YAML file that sets the same keys; flags win.",
        ),
        settings_options(protocol.settings),
        click.option(
            "--out", type=click.Path(path_type=Path),
            help=f"Run folder to make.  [default: runs/{protocol.name}-DATE-TIME]",
        ),
        click.option(
            "--resume", type=click.Path(path_type=Path), metavar="RUN", help="Continue this run with its own settings."
        ),
        click.option("--dry-run", is_flag=True, help="Print trainings and hours (timed on two tasks), and stop."),
        runtime_options,
    )  # fmt: skip

    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


@stop.deferred()
def start(
    context: click.Context, protocol: Protocol[Any, Any], values: dict[str, Any], *, out: Path | None,
    resume: Path | None, dry_run: bool, runtime: Runtime, print_costs: PrintCosts, also_given: frozenset[str] = frozenset(),
) -> None:  # fmt: skip
    """Make a run, or resume one, and launch it; or tell what it would cost.

    ``also_given`` are settings that were given by another name than their own.

    Raises:
        UserError: bad input.
    """
    with stop.expendable():
        from protocols.cli.launch import launch
        from protocols.running.folder import RunFolder

    fields = {f.name for f in dataclasses.fields(protocol.settings)}
    folder = None
    if resume is not None:
        if out is not None:
            raise UserError("--resume continues a run where it is: leave --out out")
        named = (given(context, fields) | also_given) & fields
        folder, settings = RunFolder.resume(resume, protocol.settings, {n: values[n] for n in named})
        try:
            refuse_commands(folder.path, settings, named)
        except UserError:
            folder.close()
            raise
    else:
        settings = protocol.settings(**{n: v for n, v in values.items() if n in fields})
    if dry_run:
        if folder is not None:
            folder.close()
        with stop.interruptible():
            print_costs(settings, runtime)
        return
    launch(folder or RunFolder.create(out, settings), protocol, settings, runtime)


def refuse_commands(run: Path, settings: Any, named: AbstractSet[str]) -> None:
    """A run may be somebody else's: what it would start as a command is started only if the user names it.

    Raises:
        UserError: a setting holds a command, and is not among those that were ``named``.
    """
    if unnamed := next((name for name in with_commands(settings) if name not in named), ""):
        text = shlex.quote(shown(getattr(settings, unnamed)))
        raise UserError(f"{run} would start a command: read it, and if you trust it, name it: {flag(unnamed)} {text}")


def with_commands(settings: Any) -> list[str]:
    """Names of the settings that hold a command."""
    texts = {f.name: getattr(settings, f.name) for f in dataclasses.fields(settings)}
    return [
        name
        for name, text in texts.items()
        if isinstance(text, str) and any(map(command_line.is_one, command_line.split(text)))
    ]


def workers_at_a_time(runtime: Runtime) -> int:
    """Trainings that go on side by side, for an estimate."""
    return (os.cpu_count() or 1) if runtime.engine.workers is None else max(1, runtime.engine.workers)
