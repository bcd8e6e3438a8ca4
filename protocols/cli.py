"""The command line: ``seqsearch cldyb | show | pool | methods | check``. Heavy imports happen inside commands."""

from __future__ import annotations

import dataclasses
import json
import os
import signal
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import click

from protocols.options import given, merge_difficulty, read_yaml, settings_options
from protocols.pools import pool
from seqsearch.errors import UserError
from seqsearch.settings import CldybSettings

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


main.add_command(pool)


@main.command()
@click.option("--config", type=click.Path(path_type=Path, dir_okay=False), is_eager=True, expose_value=False,
              callback=read_yaml, help="YAML file that sets the same keys; flags win.")  # fmt: skip
@settings_options(CldybSettings)
@click.option(
    "--difficulty", type=click.Choice(["hard", "medium", "easy"]), help="Name for a --temperature: 0, 1, inf."
)
@click.option(
    "--workers", type=click.IntRange(0), help="Ray workers; 0: in this process.  [default: one per CPU or GPU share]"
)
@click.option(
    "--gpus-per-worker", type=click.FloatRange(0), default=0.0, show_default=True, help="GPUs of a worker, e.g. 0.5."
)
@click.option("--address", help="Ray cluster to join: auto, HOST:PORT or ray://HOST:PORT.  [default: start Ray here]")
@click.option("--out", type=click.Path(path_type=Path), help="Run folder to make.  [default: runs/cldyb-DATE-TIME]")
@click.option(
    "--resume", type=click.Path(path_type=Path), metavar="RUN", help="Continue this run with its own settings."
)
@click.option("--dry-run", is_flag=True, help="Print trainings, hours and disk (timed on two tasks), and stop.")
@click.option("--quiet", is_flag=True, help="No progress.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON, and no progress.")
@click.pass_context
def cldyb(
    context: click.Context, /, difficulty: str | None, workers: int | None, gpus_per_worker: float, address: str | None,
    out: Path | None, resume: Path | None, dry_run: bool, quiet: bool, as_json: bool, **values: Any,
) -> None:  # fmt: skip
    """Build, step by step, the task sequence hardest for the given methods (CLDyB), and score it against random ones.

    \b
    seqsearch cldyb --methods ranpac,er --tasks 5 --classes-per-task 10
    seqsearch cldyb --methods mine.py:MyMethod:lr=0.01,ranpac --workers 8 --out runs/mine
    seqsearch cldyb --resume runs/mine
    """
    from protocols.runs import RunFolder

    merge_difficulty(context, values, difficulty)
    if workers == 0 and address:
        raise UserError("--workers 0 runs in this process and --address on a cluster: give one of them")
    if resume is not None:
        if out is not None:
            raise UserError("--resume continues a run where it is: leave --out out")
        names = given(context, FIELDS) | ({"temperature"} if difficulty else set())
        folder, settings = RunFolder.resume(resume, "cldyb", {n: values[n] for n in names})
    else:
        settings = CldybSettings(**values)
        if dry_run:
            _print_estimate(settings, workers, gpus_per_worker, as_json)
            return
        folder = RunFolder.create(out, "cldyb", settings)
    if dry_run:
        folder.close()
        _print_estimate(settings, workers, gpus_per_worker, as_json)
        return
    _run(folder, settings, workers, gpus_per_worker, address, quiet, as_json)


def _run(
    folder: Any,
    settings: CldybSettings,
    workers: int | None,
    gpus: float,
    address: str | None,
    quiet: bool,
    as_json: bool,
) -> None:
    """Run or resume; whatever ends it early says how to go on."""
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        from protocols.cldyb import Runtime, run
        from protocols.study import prepare

        study = prepare(
            settings,
            folder.path / "states",
            _device(gpus, here=workers == 0),
            Path(folder.config.get("directory", ".")),
        )
        if not (quiet or as_json):
            click.echo(f"run {folder.path}", err=True)
        run(folder, study, Runtime(workers, gpus, address, quiet, as_json))
    except UserError:
        if folder.created:
            folder.discard_if_empty()
        raise
    except KeyboardInterrupt:
        click.echo(f"\nstopped; nothing is lost. Continue with: seqsearch cldyb --resume {folder.path}", err=True)
        sys.stderr.flush()
        os._exit(130)  # not through atexit handlers that wait for a cluster
    finally:
        folder.close()
    _print_summary(folder.path, as_json)
    if not (quiet or as_json):
        click.echo(f"report: {folder.path / 'report.html'}", err=True)


def _device(gpus: float, here: bool) -> str:
    """``cuda`` if workers get a share of a GPU.

    Raises:
        UserError: it is to be used in this process, which has none.
    """
    if not gpus > 0:
        return "cpu"
    if here:
        import torch

        if not torch.cuda.is_available():
            raise UserError(
                "--gpus-per-worker: this machine has no GPU that torch can use; leave it out to run on the CPU"
            )
    return "cuda"


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def _print_summary(run: Path, as_json: bool) -> None:
    from rich.console import Console

    from protocols.summary import render, summarise

    summary = summarise(run)
    if as_json:
        click.echo(json.dumps(summary.to_json()))
    else:
        Console(width=None if sys.stdout.isatty() else 120).print(render(summary))


def _print_estimate(settings: CldybSettings, workers: int | None, gpus: float, as_json: bool) -> None:
    from protocols.estimate import calibrate, estimate
    from seqsearch.grammar import parse_items

    unit = calibrate(settings, _device(gpus, here=True))
    methods = len(parse_items(settings.methods, "method"))
    at_a_time = (os.cpu_count() or 1) if workers is None else max(1, workers)
    cost = estimate(settings, methods, unit, at_a_time)
    if as_json:
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
    """Print the summary of a finished RUN again."""
    _print_summary(run, as_json)


@main.command()
@click.option("--json", "as_json", is_flag=True, help="Print them as JSON.")
def methods(as_json: bool) -> None:
    """List the methods with their parameters, from the code."""
    from protocols.listing import method_table, methods_json

    if as_json:
        click.echo(json.dumps(methods_json()))
    else:
        click.echo(method_table())


@main.command()
@click.argument("method")
@click.option("--backbone", default="glyph_vit", show_default=True, help="Backbone to check it on.")
@click.option("--weights", metavar="FILE", help="Weights of the backbone, if it is a timm model.")
def check(method: str, backbone: str, weights: str | None) -> None:
    """Train METHOD (e.g. mine.py:Mine:lr=0.1) on two small tasks, and tell whether its results can be trusted."""
    from protocols.check import check as findings_of

    findings = findings_of(method, backbone, {backbone: weights} if weights else None)
    for f in findings:
        click.echo(f"{f.contract} {f.asks}: {f.wrong or 'ok'}")
    broken = [f.contract for f in findings if f.wrong]
    if broken:
        raise UserError(f"{method} breaks {', '.join(broken)} (docs/methods.md): its results would not repeat")


if __name__ == "__main__":
    main()
