"""``seqsearch online``: its flags, and what runs behind them. Heavy imports are inside."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from protocols.cli.command import run_options, start, workers_at_a_time
from protocols.cli.grouped import RunCommand
from protocols.cli.options import given
from protocols.online.protocol import Online
from protocols.online.settings import PRESETS, OnlineSettings
from protocols.running.runtime import Runtime

PROTOCOL = Online()


@click.command(cls=RunCommand)
@run_options(PROTOCOL)
@click.pass_context
def online(
    context: click.Context, /, out: Path | None, resume: Path | None, dry_run: bool, runtime: Runtime, **values: Any
) -> None:
    """Judge learners of a stream online, on the near future, and on a holdout (online continual learning).

    \b
    seqsearch online --methods er,acm,ncm                                # the embedded stream, S chosen
    seqsearch online --stream photos.parquet --methods er,ace,acm --budget 1,10 --samplers uniform,fifo,mixed
    seqsearch online --stream cloc.parquet --methods acm,fc_only --shift cloc
    seqsearch online --stream pool:glyphs --methods er,ncm --shift 256 --windows 256,1024,4096
    seqsearch online --resume runs/mine
    """
    if values["shift"] in PRESETS and not given(context, {"batch"}):
        values["batch"] = PRESETS[values["shift"]][0]
    start(context, PROTOCOL, values, out=out, resume=resume, dry_run=dry_run, runtime=runtime, print_costs=_print_costs)


def commands() -> Sequence[click.Command]:
    return (online,)


def _print_costs(settings: OnlineSettings, runtime: Runtime) -> None:
    from protocols.cli.cost_words import at_work, time_of
    from protocols.online.costs import estimate
    from protocols.online.study import prepare
    from protocols.report.text import count

    with tempfile.TemporaryDirectory() as scratch:
        study = prepare(settings, Path(scratch), runtime.engine.device, Path.cwd())
        cost = estimate(study, workers_at_a_time(runtime))
    if runtime.json:
        click.echo(json.dumps({**vars(cost), "shift": study.shift}))
        return
    click.echo(
        f"{count(cost.runs, 'run')} of {count(cost.steps, 'step')} ({count(len(study.methods), 'learner')}, "
        f"{count(settings.seeds, 'seed')} of those that draw, "
        f"{count(len(study.orders), 'order')}); near-future accuracy {study.shift:,} samples ahead\n"
        f"{time_of(3600 * cost.hours)} {at_work(runtime, cost.workers)}, by the first steps of each learner on this machine "
        "(frozen features that are not there yet, and Ray's start, come on top)\nnothing was run"
    )
