"""Commands that make runs, from the records of their protocols."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from protocols.cli.completion import OF_SETTINGS, runs
from protocols.cli.ending import last_words
from protocols.cli.grouped import RunCommand, grouped_option
from protocols.cli.options import given, read_yaml, settings_options
from protocols.cli.runtime_options import runtime_options
from protocols.cli.types import Choice
from protocols.running.protocol import Flag, Protocol, flags_of, of_command
from seqsearch.core import stop
from seqsearch.core.errors import UserError
from seqsearch.core.settings import flag
from seqsearch.core.text import copyable, counted, shown
from seqsearch.results.schema import SEQUENCES
from seqsearch.storage.inside import Inside

if TYPE_CHECKING:
    from protocols.running.costs import Cost
    from protocols.running.launch import Launch
    from protocols.running.runtime import Runtime

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def run_command(name: str, protocols: tuple[Protocol, ...] = ()) -> click.Command:
    """The command that makes and resumes the runs of protocols, of which flags choose one; by default those of this name."""
    protocols = protocols or of_command(name)
    first = protocols[0]
    flags = flags_of(protocols).values()

    @click.pass_context
    def call(
        context: click.Context, /, out: Path | None, resume: Path | None, dry_run: bool, runtime: Runtime, **values: Any
    ) -> None:
        known = {n: values[n] for n in given(context, set(values))}
        start(protocols, known, out=out, resume=resume, dry_run=dry_run, runtime=runtime)

    decorated: Callable[..., Any] = call
    for decorate in reversed([*_arguments(first), *_own_options(first), *map(_flag, flags), runtime_options]):
        decorated = decorate(decorated)
    return click.command(name, cls=RunCommand, help=first.about)(decorated)


def _arguments(protocol: Protocol) -> list[Decorator]:
    """Settings that are arguments of the command: a metavariable of several words is as many arguments, in a tuple."""
    return [
        click.argument(
            f.name,
            required=False,
            metavar=f.metadata["argument"],
            nargs=-1 if " " in f.metadata["argument"] else 1,
            shell_complete=OF_SETTINGS[f.metadata["names"]],
        )
        for f in dataclasses.fields(protocol.settings)
        if f.metadata.get("argument")
    ]


def _own_options(protocol: Protocol) -> list[Decorator]:
    """``--config``, the settings, ``--out``, ``--resume`` and ``--dry-run``."""
    return [
        grouped_option(
            "--config",
            group="what",
            type=click.Path(path_type=Path, dir_okay=False),
            is_eager=True,
            expose_value=False,
            callback=read_yaml,
            help="YAML file that sets the same keys; flags win.",
        ),
        settings_options(protocol.settings),
        grouped_option(
            "--out",
            group="first",
            type=click.Path(path_type=Path),
            help=f"Run folder to make.  [default: runs/{protocol.name}-DATE-TIME]",
        ),
        grouped_option(
            "--resume",
            group="first",
            type=click.Path(path_type=Path),
            metavar="RUN",
            shell_complete=runs,
            help="Continue this run with its own settings.",
        ),
        grouped_option(
            "--dry-run", group="first", is_flag=True, help="Print trainings and hours (timed on two tasks), and stop."
        ),
    ]


def _flag(known: Flag) -> Decorator:
    if known.choices:
        return grouped_option(flag(known.name), group="first", type=Choice(known.choices), help=known.help)
    return grouped_option(flag(known.name), group="first", is_flag=True, help=known.help)


def start(
    protocols: tuple[Protocol, ...],
    known: dict[str, Any],
    *,
    out: Path | None,
    resume: Path | None,
    dry_run: bool,
    runtime: Runtime,
) -> None:
    """Make a run, or resume one, and print its summary; or print what it would cost.

    Args:
        protocols: of the command.
        known: settings and flags by name, as the user gave them.

    Raises:
        UserError: bad input.
    """
    with stop.expendable():
        from protocols.running.launch import chosen, launching
    protocol = chosen(protocols, known, resume)
    if dry_run and not protocol.trains:
        raise UserError("this trains nothing: leave --dry-run out")
    with launching(protocol, known, resume) as launch:
        if resume is not None and out is not None:
            raise UserError("--resume continues a run where it is: leave --out out")
        if dry_run:
            print_cost(launch.cost(runtime), runtime)
        else:
            run(launch, runtime, out)


def run(launch: Launch, runtime: Runtime, out: Path | None = None) -> None:
    """Run what was launched and print its summary. Whatever ends it early says how to go on."""
    launch.create(out)
    go_on = launch.resume_command
    last_words(shown(f"stopped; nothing is lost. Continue with: {go_on}"))
    with stop.expendable():
        from protocols.cli.summaries import print_exported
        from protocols.report.page import reporter
        from protocols.report.progress import Progress

        write_report = reporter(launch.protocol)
    ended = launch.run(runtime, Progress(quiet=runtime.silent), write_report)
    path = launch.folder.path
    exported = ended.exported or launch.protocol.read(path)
    print_exported(launch.protocol, exported, launch.folder.config, runtime.json)
    if not runtime.silent:
        if Inside(path).has(SEQUENCES.file):
            click.echo(f"tasks by names: seqsearch show {copyable(path)} --sequence", err=True)
        if ended.finished and write_report is not None:
            click.echo(shown(f"report: {path / 'report.html'}"), err=True)
    if not ended.finished:
        what = "; nothing is lost" if ended.added else " before the first result: give it a longer --time-budget"
        click.echo(shown(f"time is up{what}. Continue with: {go_on}"), err=True)


def print_cost(cost: Cost, runtime: Runtime) -> None:
    """Print the costs of a study as text or JSON; a short time is never printed as zero."""
    from protocols.report.text import duration
    from protocols.running.memory import gigabytes

    if runtime.json:
        click.echo(json.dumps(cost.to_json()))
        return
    seconds = 3600 * cost.hours
    time = "under 1 s" if 0 < seconds < 1 else duration(seconds)
    then = " at a time" if cost.worker != "worker" else ""
    who = "in this process" if runtime.engine.workers == 0 else f"with {counted(cost.workers, cost.worker)}{then}"
    lines = [cost.trained, f"{time} {who}, {cost.timed}", *cost.notes]
    if need := cost.memory:
        several = cost.workers > 1
        together = f", {gigabytes(cost.workers * need.bytes)} with {counted(cost.workers, 'worker')}" if several else ""
        lines.append(f"about {gigabytes(need.bytes)} of memory at most a training ({need.method}){together}")
    click.echo("\n".join([*lines, "nothing was run"]))
