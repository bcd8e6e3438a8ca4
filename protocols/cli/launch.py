"""From a run folder and its settings to a finished, or stopped, run, and what is shown of it: for all that run something."""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import json
import shlex
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from protocols.cli.ending import last_words
from seqsearch.core import command_line, stop
from seqsearch.core.errors import CannotWrite, EngineDied, UserError
from seqsearch.core.grammar import parse_items
from seqsearch.core.notices import notice
from seqsearch.core.settings import flag
from seqsearch.core.text import copyable, shown
from seqsearch.results.schema import SEQUENCES, STATS
from seqsearch.storage.inside import Inside

if TYPE_CHECKING:
    from protocols.running.folder import RunFolder
    from protocols.running.protocol import Protocol
    from protocols.running.runtime import Runtime


def launch(
    folder: RunFolder,
    protocol: Protocol[Any, Any],
    settings: Any,
    runtime: Runtime,
    prepared: Callable[[Any], None] = lambda _: None,
) -> None:
    """Run or resume, and print the summary; whatever ends it early says how to go on.

    ``prepared`` is called with what the protocol has prepared, before anything is run.

    Raises:
        UserError: bad input, before anything is computed.
        Stopped: a signal asked the process to stop; what is to be said then has been settled.
    """
    go_on = " ".join([protocol.resume_command(folder.path), *_naming_commands(settings)])
    last_words(shown(f"stopped; nothing is lost. Continue with: {go_on}"))
    notice("loading libraries ...")
    with stop.expendable():
        from protocols.report.progress import Progress
        from protocols.running.devices import on_device
        from protocols.running.run import run

        report = presentation(protocol)
    try:
        with stop.interruptible(), naming(folder):
            directory = Path(folder.config.get("directory") or ".")
            runtime = on_device(runtime, protocol, settings, directory, folder.path, folder.device)
            study = protocol.prepare(settings, folder.path / "states", runtime.engine.device, directory)
        stop.check()
        prepared(study)
        if not runtime.silent:
            _announce(folder.path, protocol, study, runtime)
        ended = run(
            folder, protocol, study, runtime, display=Progress(quiet=runtime.silent),
            write_report=getattr(report, "write_report", None), beside=protocol.takes_over(settings, directory) is not None,
        )  # fmt: skip
    except UserError as error:
        if folder.created and not stop.requested() and not isinstance(error, EngineDied | CannotWrite):
            folder.discard_if_empty()
        raise
    finally:
        folder.close()
    exported = ended.exported or protocol.read(folder.path)
    print_exported(report, exported.summary, runtime.json, folder.config)
    if not runtime.silent:
        _tell_where(folder.path, ended.finished and hasattr(report, "write_report"))
    if not ended.finished:
        what = "; nothing is lost" if ended.added else " before the first result: give it a longer --time-budget"
        click.echo(shown(f"time is up{what}. Continue with: {go_on}"), err=True)


@contextlib.contextmanager
def naming(folder: RunFolder) -> Iterator[None]:
    """An error in what a resumed run needs, as files that were moved, names the run, which the user named instead of these."""
    try:
        yield
    except UserError as error:
        if folder.created or type(error) is not UserError or str(folder.path) in str(error):
            raise
        raise UserError(f"run {folder.path} cannot go on: {error}") from error


def _announce(run: Path, protocol: Protocol[Any, Any], study: Any, runtime: Runtime) -> None:
    """The first lines of a run: where it is, what it computes on, and what its protocol says beforehand."""
    from actors.devices import in_words

    device = in_words(runtime.engine) if protocol.trains else ""
    for said in filter(None, (f"run {run}", device, protocol.announcement(study))):
        click.echo(shown(said), err=True)


def _tell_where(run: Path, report: bool) -> None:
    """How to see more of a run: its sequences, its report if it has one."""
    if Inside(run).has(SEQUENCES.file):
        click.echo(f"tasks by names: seqsearch show {copyable(run)} --sequence", err=True)
    if report:
        click.echo(shown(f"report: {run / 'report.html'}"), err=True)


def _naming_commands(settings: Any) -> Iterator[str]:
    """What must be added to the command that resumes a run: it starts no command that is not named again."""
    for f in dataclasses.fields(settings):
        if command_line.in_list(text := getattr(settings, f.name)):
            hidden = f.metadata.get("hidden")
            words = [item.text for item in parse_items(text, "method")] if hidden else [flag(f.name), text]
            yield from map(shlex.quote, words)


def presentation(protocol: Protocol[Any, Any]) -> Any:
    """The module that shows what a protocol found: ``render(summary)``, ``to_json(summary)`` and, if its runs have a report,
    ``write_report(folder, exported, pools)``."""
    return importlib.import_module(f"protocols.report.{protocol.name.replace('-', '_')}")


def print_summary(run: Path, as_json: bool) -> None:
    """The summary of a run on stdout, as its protocol has it, and the hyperparameters of its methods; the status of one that was
    stopped before anything was exported.

    Raises:
        UserError: no run, or it is running, and nothing of it was exported yet.
    """
    from protocols.report.status import show
    from protocols.running.status import status
    from seqsearch.results.run import read_config

    protocol = _protocol_of(run)
    _tell_running(run, exported := Inside(run).has(STATS))
    if not exported and status(run).state != "finished":
        show(run, as_json=as_json, again=False)
        return
    config = read_config(run)
    print_exported(presentation(protocol), protocol.read(run).summary, as_json, config, settings=True)


def print_sequences(run: Path, as_json: bool) -> None:
    """The task sequences of a run on stdout, with names and groups of their classes.

    Raises:
        UserError: no run, one whose protocol has none, or nothing of it was exported yet.
    """
    from protocols.report.sequences import render, to_json
    from seqsearch.results.in_names import read_in_names

    protocol = _protocol_of(run)
    if SEQUENCES.file not in protocol.exports:
        raise UserError(
            f"run {run} is of seqsearch {protocol.command}, which has no task sequences: leave --sequence out"
        )
    _tell_running(run, Inside(run).has(SEQUENCES.file))
    if not Inside(run).has(SEQUENCES.file):
        again = protocol.resume_command(run)
        raise UserError(f"run {run} is not finished (no {SEQUENCES.file} yet): finish it with {again}")
    found = read_in_names(run / SEQUENCES.file)
    if as_json:
        click.echo(json.dumps({"run": run.name, "sequences": to_json(found)}))
    else:
        _print(render(f"run {run.name}", found, f": seqsearch show {copyable(run)} --sequence --json has all"))


def _tell_running(run: Path, exported: bool) -> None:
    """On stderr that a run is running, where what an earlier session ``exported`` is shown.

    Raises:
        UserError: it is running, and nothing was exported yet.
    """
    from protocols.running.status import is_running

    if not exported and (said := is_running(run, "nothing of it can be shown yet")):
        raise UserError(said)
    if exported and (said := is_running(run, "what follows is what it had before")):
        click.echo(said, err=True)


def _protocol_of(run: Path) -> Protocol[Any, Any]:
    """What ``config.json`` says that a run is of.

    Raises:
        UserError: no run, or none of the protocols there are.
    """
    from protocols.running.protocol import protocols
    from seqsearch.results.run import read_config

    name = read_config(run).get("protocol")
    protocol = protocols().get(name) if isinstance(name, str) else None
    if protocol is None:
        raise UserError(
            f"{run}/config.json: protocol is {shown(json.dumps(name)[:60])}, none of {', '.join(protocols())}"
        )
    return protocol


def print_exported(
    report: Any, summary: Any, as_json: bool, config: Mapping[str, Any], *, settings: bool = False
) -> None:
    """A summary on stdout; of a run on stand-in data, as its ``config`` says, it begins with that.

    With ``settings`` the hyperparameters of each method follow.
    """
    from protocols.report.hyperparameters import hyperparameters, render
    from protocols.running.provenance import STAND_IN, stand_in

    warned = {"stand_in": STAND_IN} if stand_in(config) else {}
    if as_json:
        trained_with = {"hyperparameters": hyperparameters(config)} if settings else {}
        click.echo(json.dumps({**warned, **report.to_json(summary), **trained_with}))
        return
    for text in warned.values():
        click.echo(text)
    _print(report.render(summary))
    if settings:
        _print(render(config))


def _print(said: Any) -> None:
    """On stdout."""
    from protocols.report.text import show

    show(said)
