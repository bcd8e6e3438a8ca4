"""``seqsearch mcil``: its flags, and what runs behind them. Heavy imports are inside."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from protocols.cli.command import run_options, start, workers_at_a_time
from protocols.cli.grouped import RunCommand
from protocols.mcil.protocol import Mcil
from protocols.mcil.settings import McilSettings
from protocols.running.runtime import Runtime

PROTOCOL = Mcil()


@click.command(cls=RunCommand)
@run_options(PROTOCOL)
@click.pass_context
def mcil(
    context: click.Context, /, out: Path | None, resume: Path | None, dry_run: bool, runtime: Runtime, **values: Any
) -> None:
    """Judge methods on random class orders of image-text pairs, or images (multimodal class-incremental learning).

    \b
    seqsearch mcil --pool glyphs:classes=20 --methods simplecil,ranpac --backbone glyph_vit --experiences 4
    seqsearch mcil --pool birds.parquet --methods mm_lb,mm_ub,mm_er:share=.1,mm_dp,mm_dpcf --backbone flava
    seqsearch mcil --pool glyphs --methods simplecil,finetune --backbone glyph_vit --seeds 5
    seqsearch mcil --pool birds.parquet --methods mm_dp --orders 10 --seeds 2     # noise of orders, and of seeds
    seqsearch mcil --pool birds.parquet --methods mm_ub --modalities              # what each modality is worth
    seqsearch mcil --resume runs/mine
    """
    start(context, PROTOCOL, values, out=out, resume=resume, dry_run=dry_run, runtime=runtime, print_costs=_print_costs)


def commands() -> Sequence[click.Command]:
    return (mcil,)


def _print_costs(settings: McilSettings, runtime: Runtime) -> None:
    from protocols.cli.cost_words import at_work, each, memory_json, memory_of, time_of
    from protocols.mcil.run import expected
    from protocols.mcil.study import prepare
    from protocols.report.text import count
    from protocols.running.costs import unit_costs

    with tempfile.TemporaryDirectory() as scratch:
        study = prepare(settings, Path(scratch), runtime.engine.device)
        unit = unit_costs(study, study.order(0)[:2], "test", Path(scratch), settings.experiences)
    most, at_a_time = expected(study), workers_at_a_time(runtime)
    hours = most.trainings * unit.seconds / 3600 / at_a_time
    orders, seeds = settings.plan
    large, small = study.sizes[0], study.sizes[-1]
    if runtime.json:
        record = {
            "trainings": most.trainings,
            "rollouts": most.rollouts,
            "hours": hours,
            "workers": at_a_time,
            "seconds_per_training": unit.seconds,
            "orders": orders,
            "seeds": seeds,
            "sizes": list(study.sizes),
            **memory_json(unit.memory),
        }
        click.echo(json.dumps(record))
        return
    click.echo(
        f"{count(most.trainings, 'training')} ({count(len(study.methods), 'method')}, {count(orders, 'class order')} with "
        f"{count(seeds, 'training seed')} each, "
        f"{len(study.sizes)} experiences of {large if large == small else f'{small} or {large}'} classes)\n"
        f"{time_of(3600 * hours)} {at_work(runtime, at_a_time)}, at {each(unit.seconds)} a training on this machine, "
        "by the second experience of each method (one that trains on all seen so far, as mm_ub, takes longer later)\n"
        f"{memory_of(unit.memory, at_a_time)}nothing was run"
    )
