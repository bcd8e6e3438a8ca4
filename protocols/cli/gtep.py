"""``seqsearch gtep``: its flags, and what runs behind them. Heavy imports are inside."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from protocols.cli.command import run_options, start, workers_at_a_time
from protocols.cli.grouped import RunCommand
from protocols.gtep.protocol import Gtep
from protocols.gtep.settings import GtepSettings
from protocols.running.runtime import Runtime

PROTOCOL = Gtep()


@click.command(cls=RunCommand)
@run_options(PROTOCOL)
@click.pass_context
def gtep(
    context: click.Context, /, out: Path | None, resume: Path | None, dry_run: bool, runtime: Runtime, **values: Any
) -> None:
    """Choose hyperparameters on one pool, judge methods with them on others (GTEP), on Ray Tune.

    \b
    seqsearch gtep --tune-pool glyphs:classes=20,half=1 --pool glyphs:classes=20,half=2 --methods ranpac --tasks 2 --trials 3
    seqsearch gtep --tune-pool photos/:half=1 --pool photos/:half=2 --methods wa,der --backbone scratch:resnet32
    seqsearch gtep --tune-pool a/ --pool b/ --pool c/ --methods wa,der,ranpac --tasks 10 --classes-per-task 10 --trials 30
    seqsearch gtep --tune-pool a/ --pool b/ --methods wa --params original      # no first phase
    seqsearch gtep --resume runs/mine
    """
    start(context, PROTOCOL, values, out=out, resume=resume, dry_run=dry_run, runtime=runtime, print_costs=_print_costs)


def commands() -> Sequence[click.Command]:
    return (gtep,)


def _print_costs(settings: GtepSettings, runtime: Runtime) -> None:
    from protocols.cli.cost_words import at_work, each, memory_json, memory_of, time_of
    from protocols.gtep.costs import estimate
    from protocols.gtep.study import prepare
    from protocols.report.text import count

    with tempfile.TemporaryDirectory() as scratch:
        study = prepare(settings, Path(scratch), runtime.engine.device, Path.cwd())
        cost = estimate(study, workers_at_a_time(runtime))
    if runtime.json:
        said = {name: value for name, value in vars(cost).items() if name != "memory"}
        click.echo(json.dumps({**said, **memory_json(cost.memory)}))
        return
    first = "first task of them is" if cost.shared == 1 else "first tasks of them are"
    click.echo(
        f"{count(cost.trainings, 'training')} at most: {cost.tuning:,} to choose, {cost.judging:,} to judge"
        f"{f', {cost.conventional:,} for conventional and original settings' if cost.conventional else ''}; "
        f"{cost.shared:,} {first} shared by settings that differ in nothing that acts there\n"
        f"{time_of(3600 * cost.hours)} {at_work(runtime, cost.workers, 'trial', ' at a time')}, "
        f"at {each(cost.seconds)} a training on this "
        "machine (two tasks with each method's defaults: settings with more epochs take "
        "longer, and Ray takes some seconds to start)\n"
        f"{memory_of(cost.memory, cost.workers)}nothing was run"
    )
