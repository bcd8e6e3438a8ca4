"""``seqsearch score``. Heavy imports are inside."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from protocols.cli.command import run_options, start
from protocols.cli.completion import offered, sequences
from protocols.cli.given import of_source
from protocols.cli.grouped import RunCommand
from protocols.evaluate.score.protocol import Score
from protocols.evaluate.score.settings import ScoreSettings
from protocols.running.runtime import Runtime

PROTOCOL = Score()
FIELDS = {f.name for f in dataclasses.fields(ScoreSettings)}


@click.command(cls=RunCommand)
@click.argument("source", required=False, metavar="RUN|SEQUENCES", shell_complete=offered(sequences))
@run_options(PROTOCOL)
@click.pass_context
def score(
    context: click.Context, /, source: str | None, out: Path | None, resume: Path | None, dry_run: bool, runtime: Runtime,
    **values: Any,
) -> None:  # fmt: skip
    """Score methods on the sequences of a RUN, or of a file (Parquet, JSON or CSV of class names), or frozen ones.

    Only what is new is trained.

    \b
    seqsearch score runs/mine --methods ranpac:M=100                      # beside the methods that were searched on
    seqsearch score runs/mine --methods mine.py:Mine                      # your own
    seqsearch score runs/mine --methods slca,lae --references             # with upper bound and nearest class mean
    seqsearch score runs/mine --heldout-pool other/                       # do found sequences rank methods as unseen data does?
    seqsearch score orders.json --pool photos/ --methods ranpac,slca
    seqsearch score frozen:cifar100-hard-10 --pool cifar100/ --methods ranpac,slca   # seqsearch sequences list
    """
    values = of_source(
        context, PROTOCOL, source, values, resume, methods="beside named" if values["heldout_pool"] else "never"
    )
    start(context, PROTOCOL, values, out=out, resume=resume, dry_run=dry_run, runtime=runtime, print_costs=_print_costs)


def _print_costs(settings: ScoreSettings, runtime: Runtime) -> None:
    from protocols.cli.given import print_costs

    print_costs(PROTOCOL, settings, runtime)


def commands() -> Sequence[click.Command]:
    return (score,)
