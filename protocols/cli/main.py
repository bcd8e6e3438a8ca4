"""The command line: a command is imported when it is used. Those that make runs come from the records of protocols."""

from __future__ import annotations

import errno
import importlib
import io
import os
import re
import sys
from functools import cache
from importlib.metadata import version
from typing import IO, Any

import click
from click.exceptions import NoArgsIsHelpError
from click.shell_completion import CompletionItem

from protocols.cli.ending import end, leave
from protocols.cli.grouped import NOTED, Commands, as_methods, other_place
from protocols.running.protocol import commands as run_commands
from protocols.running.protocol import of_command
from seqsearch.core import stop
from seqsearch.core.errors import EngineDied, UserError, whole
from seqsearch.core.text import as_clause, cut, shown, shown_lines
from seqsearch.core.typed import brief

_EXTRA = re.compile(r"Got unexpected extra arguments? \((.*)\)")
OTHERS = {
    "assess": ("assess:assess", "Assess methods of runs: accuracy, robustness, memory, time."),
    "check": ("methods:check", "Name the contracts that a method, learner, pool or stream breaks."),
    "compare": ("compare:compare", "Put finished runs, or a table of accuracies, beside each other."),
    "demo": ("demo:demo", "Run a study that needs no data and takes minutes."),
    "entry": ("site:entry", "Write the entry of a run for a leaderboard."),
    "doctor": ("doctor:doctor", "Look at this machine: what is missing, and what fixes it."),
    "export": ("exchange:export", "Write sequences for PILOT, PyCIL, Mammoth, Avalanche and others."),
    "extend": ("runs:extend", "Continue a finished run of cldyb with more tasks."),
    "figures": ("paper:figures", "Write the figures of runs as files for a paper."),
    "import": ("exchange:import_", "Read a class order or configuration of another toolbox."),
    "methods": ("methods:methods", "List the methods with their parameters, or describe one."),
    "metrics": ("metrics:metrics", "Explain the columns of the tables, with formula, unit and source."),
    "new": ("new:new", "Write a file to begin with: a method, learner, pool, stream, command."),
    "pool": ("pool:pool", "Make a pool of your own images, fetch one, or look at one."),
    "power": ("power:power", "How many sequences, searches, seeds or orders a study needs."),
    "publish": ("publish:publish", "Send the metrics of a run to TensorBoard, wandb or Trackio."),
    "reproduce": ("reproduce:reproduce", "List published results with what came of them here, or run one again."),
    "sequences": ("sequences:sequences", "Frozen class orders of usual data sets: hard, easy and random."),
    "show": ("runs:show", "Print the summary of a run, or its sequences."),
    "similarity": ("similarity:similarity", "Compare classes, and write how similar they are."),
    "site": ("site:site", "Write a leaderboard of runs and entries as static pages."),
    "slurm": ("slurm:slurm", "Print a job for Slurm that runs a command until it is finished."),
    "split": ("runs:split", "List the images of a run or pool by part."),
    "status": ("runs:status", "How a run is doing: running, stopped, killed or finished."),
    "stream": ("stream:stream", "Make a stream of your own samples, or look at one."),
    "tables": ("paper:tables", "Write the tables of runs for a paper: LaTeX, CSV, Markdown, HTML."),
}
"""Of other commands: the function, in a module beside this one, and what the list of commands says."""


class Refused(click.UsageError):
    """Click's own usage errors, printed as one line like all other refusals; exit code 2."""

    def show(self, file: IO[Any] | None = None) -> None:
        of, names = self.ctx, [""]
        while of is not None and of.parent is not None:
            names, of = [of.info_name or "", *names], of.parent
        said = as_clause(self.format_message())
        see = "" if "Did you mean" in said else f" (see: seqsearch {' '.join(names)}--help)"
        click.echo(f"seqsearch: {said.removesuffix('.') if see else said}{see}", err=True)


def _in_a_line(error: click.UsageError) -> click.UsageError:
    """The same error as `Refused`; one whose text is the help stays as it is."""
    if isinstance(error, NoArgsIsHelpError | Refused):
        return error
    said = error.format_message()
    if isinstance(error, click.NoSuchOption) and error.ctx is not None:
        where = other_place(error.option_name, error.ctx.command)
        said = f"{error.message.removesuffix('.')}: {where}" if where else said
    elif (
        error.ctx is not None
        and (extra := _EXTRA.fullmatch(said))
        and (where := as_methods(extra[1], error.ctx.command))
    ):
        said = f"{said}: {where}"
    return Refused(cut(shown(said.replace("\n\t", " "))), error.ctx)


class Main(Commands):
    """A group that finds its commands, and whose user errors are one line on stderr and exit code 2.

    A command is left at once when a signal asks it to stop, unless it says otherwise.
    """

    def main(self, *args: Any, **kwargs: Any) -> Any:
        for stream in (sys.stdout, sys.stderr):  # a terminal of few characters gets the others as escapes
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="backslashreplace")
        try:
            return super().main(*args, **kwargs)
        except UserError as error:
            click.echo(f"seqsearch: {error}", err=True)
            if isinstance(error, EngineDied):
                leave(2)
            sys.exit(2)
        except MemoryError:
            click.echo("seqsearch: too little memory: give fewer --workers, or end other programs", err=True)
            sys.exit(2)
        except OSError as error:
            if error.errno == errno.EPIPE:  # whoever read the output has enough
                raise
            why = "the name is too long for a file" if error.errno == errno.ENAMETOOLONG else error.strerror
            where = "the output cannot be written" if error.filename is None else brief(os.fsdecode(error.filename))
            click.echo(f"seqsearch: {where}: {why}", err=True)
            sys.exit(2)

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        try:
            return super().make_context(*args, **kwargs)
        except click.UsageError as error:
            raise _in_a_line(error) from None

    def invoke(self, ctx: click.Context) -> Any:
        try:
            with stop.interruptible():
                return super().invoke(ctx)
        except BaseException as error:  # what it was just doing may have made something else of it
            if stop.requested():
                end(stop.requested())
            if isinstance(error, click.UsageError):
                raise _in_a_line(error) from None
            if isinstance(error, UserError) and ctx.meta.get(NOTED):
                click.echo(shown_lines(whole(error)), err=True, nl=False)
            raise

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted([*run_commands(), *OTHERS])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        with stop.expendable():
            return _command(cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """As click does, without importing the commands."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, _in_short(name)) for name in self.list_commands(ctx)])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        if incomplete.startswith("-"):
            return super().shell_complete(ctx, incomplete)
        return [CompletionItem(n, help=_in_short(n)) for n in self.list_commands(ctx) if n.startswith(incomplete)]


def _in_short(name: str) -> str:
    """Return the line of a command in the list of commands."""
    about = of_command(name)[0].about if name in run_commands() else OTHERS[name][1]
    return about.partition("\n\n")[0].replace("\n", " ")


@cache
def _command(name: str) -> click.Command | None:
    """A command by its name, imported; None: there is none."""
    if name in run_commands():
        from protocols.cli.run_commands import run_command

        return run_command(name)
    if name not in OTHERS:
        return None
    module, _, function = OTHERS[name][0].partition(":")
    command: click.Command = getattr(importlib.import_module(f"protocols.cli.{module}"), function)
    return command


@click.group(cls=Main, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120})
@click.version_option(version("seqsearch"), package_name="seqsearch")
def main() -> None:
    """Search for task sequences that are hard for continual-learning methods, and score them fairly.

    \b
    seqsearch cldyb --methods ranpac,simplecil --pool glyphs:classes=50 --tasks 3 --out runs/mine
    """
