"""What commands that make runs have in common: a command is its protocol's settings and record, and how its costs are told."""

from __future__ import annotations

import contextlib
import dataclasses
import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from protocols.cli.completion import offered, runs
from protocols.cli.grouped import grouped_option
from protocols.cli.options import given, read_yaml, settings_options
from protocols.cli.runtime_options import runtime_options
from seqsearch.core import command_line, stop
from seqsearch.core.errors import UserError
from seqsearch.core.grammar import parse_items
from seqsearch.core.notices import notice
from seqsearch.core.once import opened_once
from seqsearch.core.registry import located_text
from seqsearch.core.settings import flag
from seqsearch.core.text import shown

if TYPE_CHECKING:
    from protocols.running.folder import RunFolder
    from protocols.running.protocol import Protocol
    from protocols.running.runtime import Runtime

Command = Callable[..., Any]
PrintCosts = Callable[[Any, "Runtime"], None]


def run_options(protocol: Protocol[Any, Any]) -> Callable[[Command], Command]:
    """Decorate a command with ``--config``, the settings of a protocol, ``--out``, ``--resume``, ``--dry-run`` and the flags of
    the runtime."""
    options = (
        grouped_option(
            "--config", group="what", type=click.Path(path_type=Path, dir_okay=False), is_eager=True, expose_value=False,
            callback=read_yaml, help="YAML file that sets the same keys; flags win.",
        ),
        settings_options(protocol.settings),
        grouped_option(
            "--out", group="first", type=click.Path(path_type=Path),
            help=f"Run folder to make.  [default: runs/{protocol.name}-DATE-TIME]",
        ),
        grouped_option(
            "--resume", group="first", type=click.Path(path_type=Path), metavar="RUN",
            shell_complete=offered(runs), help="Continue this run with its own settings.",
        ),
        grouped_option(
            "--dry-run", group="first", is_flag=True, help="Print trainings and hours (timed on two tasks), and stop."
        ),
        runtime_options,
    )  # fmt: skip

    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


@stop.deferred()
@opened_once()
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
        from protocols.cli.launch import launch, naming
        from protocols.running.folder import RunFolder

    fields = {f.name for f in dataclasses.fields(protocol.settings)}
    folder = None
    if resume is not None:
        if out is not None:
            raise UserError("--resume continues a run where it is: leave --out out")
        named = (given(context, fields) | also_given) & fields
        commands = {n: values[n] for n in named if command_line.in_list(values[n])}
        folder, settings = RunFolder.resume(resume, protocol.settings, {n: values[n] for n in named - commands.keys()})
        try:
            check_commands(folder, settings, commands)
            with naming(folder):
                look(protocol, settings, Path(folder.config.get("directory") or "."))
        except UserError:
            folder.close()
            raise
        runtime = as_before(runtime, resume)
    else:
        settings = protocol.settings(**{n: v for n, v in values.items() if n in fields})
        refuse_unknown(protocol, vars(settings))
        look(protocol, settings, Path.cwd())
    if dry_run:
        if folder is not None:
            folder.close()
        with stop.interruptible():
            print_costs(settings, _timed_on(runtime, protocol, settings, folder))
        return
    launch(folder or RunFolder.create(out, settings), protocol, settings, runtime)


def _timed_on(runtime: Runtime, protocol: Protocol[Any, Any], settings: Any, folder: RunFolder | None) -> Runtime:
    """The runtime with the device that the tasks of a dry run are timed on, in this process.

    Raises:
        UserError: see `protocols.running.devices.on_device`.
    """
    notice("loading libraries ...")
    from protocols.running.devices import CALLED, on_device

    directory = Path((folder.config.get("directory") if folder else None) or ".")
    began_with = folder.device if folder else None
    runtime = on_device(runtime, protocol, settings, directory, folder.path if folder else None, began_with, here=True)
    notice(f"timing on {CALLED[runtime.engine.device]} of this machine ...")
    return runtime


def refuse_unknown(protocol: Protocol[Any, Any], values: Mapping[str, Any]) -> None:
    """Look at what values of settings name before anything heavy is imported.

    Raises:
        UserError: there is no such thing.
    """
    with stop.expendable():
        from seqsearch.study.named import check_named

    check_named(protocol.settings, values)


def look(protocol: Protocol[Any, Any], settings: Any, directory: Path) -> None:
    """Look at what settings name before anything heavy is imported, and so before a run has a folder.

    Raises:
        UserError: see `Protocol.look`.
        Stopped: a signal asked the process to stop.
    """
    with stop.interruptible():
        protocol.look(settings, directory)


def as_before(runtime: Runtime, run: Path) -> Runtime:
    """With the number of workers that the last session of a run was given, if this one is given neither a number nor a cluster,
    and they can be had here with what it is given."""
    from protocols.running.found import journalled_workers

    engine = runtime.engine
    if engine.workers is None and engine.address is None:
        with contextlib.suppress(UserError):  # with what is given now there must be workers, or there may be fewer
            engine = dataclasses.replace(engine, workers=journalled_workers(run))
    return dataclasses.replace(runtime, engine=engine)


def check_commands(folder: RunFolder, settings: Any, named: Mapping[str, str]) -> None:
    """A run may be somebody else's: a command in it is started only if the user names it, meaning the same files.

    Raises:
        UserError: a setting holds a command that is not among those ``named``, or is another than the one named.
    """
    for f in dataclasses.fields(settings):
        own = getattr(settings, f.name)
        there = _located(own, Path(folder.config["directory"] or ".")) if command_line.in_list(own) else []
        here = _located(named[f.name], Path.cwd()) if f.name in named else []
        if there and there != here:
            how = "" if f.metadata.get("hidden") else f"{flag(f.name)} "
            words = there if f.metadata.get("hidden") else [",".join(there)]  # arguments of the command, or one flag
            said = " ".join(shlex.quote(shown(word)) for word in words)
            raise UserError(f"{folder.path} would start a command: read it, and if you trust it, name it: {how}{said}")
        if here and not there:
            raise UserError(
                f"{flag(f.name)}: {folder.path} was made without a command: leave it out, or make another run"
            )


def _located(text: str, directory: Path) -> list[str]:
    """Methods as they are found from anywhere."""
    return [located_text(item.text, "method", directory) for item in parse_items(text, "method")]


def workers_at_a_time(runtime: Runtime) -> int:
    """Trainings that go on side by side, for an estimate."""
    from actors.devices import workers_of

    return max(1, workers_of(runtime.engine))
