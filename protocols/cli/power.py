"""``seqsearch power``: the required size of a study.

Heavy imports are inside functions.
"""

from __future__ import annotations

import json
from pathlib import Path

import click

from protocols.cli.completion import runs
from protocols.cli.types import Number
from protocols.report.text import show
from seqsearch.results.run import read_config


@click.command()
@click.argument("run", type=click.Path(path_type=Path), shell_complete=runs)
@click.option(
    "--difference",
    type=Number(0.0001, 0.9999),
    multiple=True,
    default=(0.02, 0.05, 0.1),
    show_default=True,
    metavar="FRACTION",
    help="True difference of accuracies to detect; repeatable.",
)
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def power(run: Path, difference: tuple[float, ...], as_json: bool) -> None:
    """How many sequences, searches, seeds or class orders a study needs to detect a difference, simulated from how much the
    accuracies of a finished RUN (cldyb, edge, gtep, mcil, duel) vary. Nothing is trained.

    \b
    seqsearch power runs/mine
    seqsearch power runs/mine --difference 0.03
    """
    read_config(run)
    from protocols.evaluate.power.spread import spreads
    from protocols.report.commands.power import render, to_json

    found, asked = spreads(run), sorted(set(difference))
    if as_json:
        click.echo(json.dumps(to_json(run.name, found, asked)))
    else:
        show(render(run.name, found, asked))
