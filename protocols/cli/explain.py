"""``seqsearch explain``. Heavy imports are inside."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from protocols.cli.command import run_options, start, workers_at_a_time
from protocols.cli.completion import offered, runs
from protocols.cli.given import of_source
from protocols.cli.grouped import RunCommand
from protocols.evaluate.explain.protocol import Explain
from protocols.evaluate.explain.settings import ExplainSettings
from protocols.running.runtime import Runtime

PROTOCOL = Explain()


@click.command(cls=RunCommand)
@click.argument("source", required=False, metavar="RUN", shell_complete=offered(runs))
@run_options(PROTOCOL)
@click.pass_context
def explain(
    context: click.Context, /, source: str | None, out: Path | None, resume: Path | None, dry_run: bool, runtime: Runtime,
    **values: Any,
) -> None:  # fmt: skip
    """Tell why the sequences found in RUN are hard: by their classes, by how these are grouped, or by the order of the tasks.

    Methods are trained on the found classes regrouped at random, and on the found tasks in random order; what RUN has is not
    trained again.

    \b
    seqsearch explain runs/mine
    seqsearch explain runs/mine --methods ranpac --draws 20 --no-bound
    seqsearch explain --resume runs/explain-20260101-120000
    """
    values = of_source(context, PROTOCOL, source, values, resume, methods="unless named")
    start(context, PROTOCOL, values, out=out, resume=resume, dry_run=dry_run, runtime=runtime, print_costs=_print_costs)


def _print_costs(settings: ExplainSettings, runtime: Runtime) -> None:
    from protocols.cli.cost_words import at_work, each, memory_json, memory_of, time_of
    from protocols.evaluate.explain.costs import estimate, in_words

    with tempfile.TemporaryDirectory() as scratch:
        device = runtime.engine.device
        study = PROTOCOL.prepare(settings, Path(scratch), device, Path.cwd())
        cost, rollouts = estimate(study, Path(scratch), workers_at_a_time(runtime)), study.judging.rollouts
    if runtime.json:
        said = {"trainings": cost.methods + cost.bounds, "rollouts": rollouts, "bound_trainings": cost.bounds}
        seconds = {"seconds_per_training": cost.seconds, "seconds_per_bound": cost.bound_seconds}
        kinds = {"bound_kinds": dict(study.kinds)}
        click.echo(
            json.dumps(
                {**said, "hours": cost.hours, "workers": cost.workers, **seconds, **kinds, **memory_json(cost.memory)}
            )
        )
        return
    bound = f", {each(cost.bound_seconds)} an upper bound" if cost.bounds else ""
    click.echo(
        f"{in_words(study)}\n"
        f"{time_of(3600 * cost.hours)} {at_work(runtime, cost.workers)}, at {each(cost.seconds)} a training{bound} on this "
        "machine\n"
        f"{memory_of(cost.memory, cost.workers)}nothing was run"
    )


def commands() -> Sequence[click.Command]:
    return (explain,)
