"""``seqsearch publish``: the metrics of a run for an experiment tracker."""

from __future__ import annotations

import json
from pathlib import Path

import click

from protocols.cli.completion import runs as runs_there
from protocols.trackers.publish import forms
from protocols.trackers.publish import publish as published
from seqsearch.core.text import counted, shown


@click.command()
@click.argument("run", metavar="RUN", type=click.Path(path_type=Path), shell_complete=runs_there)
@click.option("--to", required=True, metavar="TRACKER:PLACE", help=f"Where to send them: {', '.join(forms())}.")
@click.option("--json", "as_json", is_flag=True, help="Print what was sent as JSON.")
def publish(run: Path, to: str, as_json: bool) -> None:
    """Send the metrics of RUN to an experiment tracker. RUN may still be running; a second call updates what the first sent.

    \b
    seqsearch publish runs/mine --to tensorboard:board
    seqsearch publish runs/mine --to wandb:my-project
    """
    sent = published(run, to)
    if as_json:
        click.echo(json.dumps(sent._asdict()))
        return
    click.echo(f"{counted(sent.metrics, 'metric')} of {sent.run} ({sent.state}) in {sent.tracker}: {shown(sent.place)}")
