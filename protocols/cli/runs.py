"""``seqsearch show`` and ``seqsearch status``: what a run found, and how it is doing."""

from __future__ import annotations

from pathlib import Path

import click

from protocols.cli.completion import runs
from protocols.cli.summaries import print_sequences, print_summary
from protocols.report.commands.status import show as show_status
from seqsearch.core.errors import UserError


@click.command()
@click.argument("run", type=click.Path(path_type=Path), shell_complete=runs)
@click.option("--sequence", is_flag=True, help="Print its task sequences, with names and groups of their classes.")
@click.option("--details", is_flag=True, help="Print all tables and notes, and the hyperparameters of the methods.")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def show(run: Path, sequence: bool, details: bool, as_json: bool) -> None:
    """Print the summary of a RUN again, or how far it came if it was stopped; or its task sequences.

    \b
    seqsearch show runs/mine
    seqsearch show runs/mine --details
    seqsearch show runs/mine --sequence
    """
    if sequence:
        if details:
            raise UserError("--details is of the summary: leave --sequence out")
        print_sequences(run, as_json)
    else:
        print_summary(run, as_json, details)


@click.command()
@click.argument("run", type=click.Path(path_type=Path), shell_complete=runs)
@click.option("--watch", is_flag=True, help="Look again every two seconds until it ends.")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON, one line a look.")
def status(run: Path, watch: bool, as_json: bool) -> None:
    """Tell how a RUN is doing: running, stopped, killed or finished, and how far it is. It is never disturbed.

    \b
    seqsearch status runs/mine
    """
    show_status(run, as_json=as_json, again=watch)
