"""The command line: ``seqsearch cldyb | edge | extend | status | show | pool | similarity | methods | check``."""

from __future__ import annotations

import dataclasses
import json
import os
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import click

from protocols.cli.edge import edge
from protocols.cli.options import given, merge_difficulty, read_yaml, settings_options
from protocols.cli.pool import pool
from protocols.cli.similarity import similarity
from protocols.running.runtime import Runtime, runtime_options
from seqsearch.core.errors import UserError
from seqsearch.core.settings import CldybSettings

FIELDS = {f.name for f in dataclasses.fields(CldybSettings)}


class Main(click.Group):
    """A group whose user errors are one line on stderr and exit code 2."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return super().main(*args, **kwargs)
        except UserError as error:
            click.echo(f"seqsearch: {error}", err=True)
            sys.exit(2)


@click.group(cls=Main, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120})
@click.version_option(version("seqsearch"), package_name="seqsearch")
def main() -> None:
    """Search for the task sequences that are hardest for continual-learning methods, and score them fairly."""


main.add_command(edge)
main.add_command(pool)
main.add_command(similarity)


@main.command()
@click.option("--config", type=click.Path(path_type=Path, dir_okay=False), is_eager=True, expose_value=False,
              callback=read_yaml, help="YAML file that sets the same keys; flags win.")  # fmt: skip
@settings_options(CldybSettings)
@click.option(
    "--difficulty", type=click.Choice(["hard", "medium", "easy"]), help="Name for a --temperature: 0, 1, inf."
)
@click.option("--out", type=click.Path(path_type=Path), help="Run folder to make.  [default: runs/cldyb-DATE-TIME]")
@click.option(
    "--resume", type=click.Path(path_type=Path), metavar="RUN", help="Continue this run with its own settings."
)
@click.option("--dry-run", is_flag=True, help="Print trainings, hours and disk (timed on two tasks), and stop.")
@runtime_options
@click.pass_context
def cldyb(
    context: click.Context, /, difficulty: str | None, out: Path | None, resume: Path | None, dry_run: bool,
    runtime: Runtime, **values: Any,
) -> None:  # fmt: skip
    """Build, step by step, the task sequence hardest for the given methods (CLDyB), and score it against random ones.

    \b
    seqsearch cldyb --methods ranpac,er --tasks 5 --classes-per-task 10
    seqsearch cldyb --methods mine.py:MyMethod:lr=0.01,ranpac --workers 8 --out runs/mine
    seqsearch cldyb --resume runs/mine
    """
    from protocols.cli.launch import launch
    from protocols.running.folder import RunFolder

    merge_difficulty(context, values, difficulty)
    if resume is not None:
        if out is not None:
            raise UserError("--resume continues a run where it is: leave --out out")
        names = given(context, FIELDS) | ({"temperature"} if difficulty else set())
        folder, settings = RunFolder.resume(resume, CldybSettings, {n: values[n] for n in names})
    else:
        settings = CldybSettings(**values)
        if dry_run:
            _print_estimate(settings, runtime)
            return
        folder = RunFolder.create(out, settings)
    if dry_run:
        folder.close()
        _print_estimate(settings, runtime)
        return
    launch(folder, settings, runtime)


@main.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--tasks", type=int, required=True, help="Tasks that a sequence is to have then.")
@runtime_options
def extend(run: Path, tasks: int, runtime: Runtime) -> None:
    """Continue a finished RUN with more tasks: what was found stays, the search goes on, everything is scored again.

    \b
    seqsearch extend runs/mine --tasks 10
    seqsearch cldyb --resume runs/mine      # should it be interrupted
    """
    from protocols.cli.launch import launch
    from protocols.running.folder import RunFolder

    folder, settings = RunFolder.resume(run, CldybSettings, {})
    launch(folder, settings, runtime, extend_to=tasks)


def _print_estimate(settings: CldybSettings, runtime: Runtime) -> None:
    from protocols.cli.launch import device
    from protocols.running.costs import calibrate, estimate
    from seqsearch.core.grammar import parse_items

    unit = calibrate(settings, device(runtime.engine.gpus_per_worker, here=True))
    methods = len(parse_items(settings.methods, "method"))
    at_a_time = (os.cpu_count() or 1) if runtime.engine.workers is None else max(1, runtime.engine.workers)
    cost = estimate(settings, methods, unit, at_a_time)
    if runtime.json:
        click.echo(
            json.dumps({**dataclasses.asdict(cost), "trainings": cost.trainings, "seconds_per_training": unit.seconds})
        )
        return
    click.echo(
        f"{cost.trainings} trainings at most ({cost.search} search, {cost.scoring} scoring, {cost.random} random baseline"
        f"{f', {cost.tuning} tuning' if cost.tuning else ''}; "
        f"naive retraining: {cost.naive})\n"
        f"{cost.hours:.2g} hours with {cost.workers} worker(s), at {unit.seconds:.2g} s a training on this machine\n"
        f"{cost.disk_bytes / 1e6:.0f} MB of disk at most\nnothing was run"
    )


@main.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def show(run: Path, as_json: bool) -> None:
    """Print the summary of a RUN again, or how far it came if it was stopped."""
    from protocols.cli.launch import print_summary

    print_summary(run, as_json)


@main.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--watch", is_flag=True, help="Look again every two seconds until it ends.")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON, one line a look.")
def status(run: Path, watch: bool, as_json: bool) -> None:
    """Tell how a RUN is doing: running, stopped, killed or finished, and how far it is. It is never disturbed."""
    from protocols.running.status import show as show_status

    show_status(run, as_json=as_json, again=watch)


@main.command()
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def methods(name: str | None, as_json: bool) -> None:
    """List the methods with their parameters, or tell all about the one NAMEd; from the code."""
    from protocols.report.methods import describe, method_table, method_text, methods_json

    if as_json:
        click.echo(json.dumps(describe(name) if name else methods_json()))
    else:
        click.echo(method_text(name) if name else method_table())


@main.command()
@click.argument("method")
@click.option("--backbone", default="glyph_vit", show_default=True, help="Backbone to check it on.")
@click.option("--weights", metavar="FILE", help="Weights of the backbone, if it is a timm model.")
def check(method: str, backbone: str, weights: str | None) -> None:
    """Train METHOD (e.g. mine.py:Mine:lr=0.1) on two small tasks, and tell whether its results can be trusted."""
    from seqsearch.study.check import check as findings_of

    findings = findings_of(method, backbone, {backbone: weights} if weights else None)
    for f in findings:
        click.echo(f"{f.contract} {f.asks}: {f.wrong or 'ok'}")
    broken = [f.contract for f in findings if f.wrong]
    if broken:
        raise UserError(f"{method} breaks {', '.join(broken)} (docs/methods.md): its results would not repeat")
