"""Commands on a run: ``show``, ``status``, ``extend`` and ``split``. Heavy imports are inside."""

from __future__ import annotations

import json
from pathlib import Path

import click

from protocols.cldyb.extend import extending
from protocols.cli.completion import runs
from protocols.cli.grouped import RunCommand, grouped_option
from protocols.cli.run_commands import run as run_launch
from protocols.cli.runtime_options import runtime_options
from protocols.cli.summaries import print_sequences, print_summary
from protocols.cli.types import Whole
from protocols.report.commands.status import show as show_status
from protocols.running.runtime import Runtime
from seqsearch.core.errors import UserError
from seqsearch.core.settings import MOST_TASKS
from seqsearch.core.text import copyable
from seqsearch.storage.outputs import check_output


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
    """Show the state of a RUN: running, stopped, killed or finished, and how far it is. It is never disturbed.

    \b
    seqsearch status runs/mine
    """
    show_status(run, as_json=as_json, again=watch)


@click.command(cls=RunCommand)
@click.argument("path", metavar="RUN", type=click.Path(path_type=Path), shell_complete=runs)
@grouped_option(
    "--tasks", group="first", type=Whole(1, MOST_TASKS), required=True, help="Tasks that a sequence is to have then."
)
@runtime_options
def extend(path: Path, tasks: int, runtime: Runtime) -> None:
    """Continue a finished RUN with more tasks: what was found stays, the search goes on, everything is scored again.

    \b
    seqsearch extend runs/mine --tasks 4
    seqsearch cldyb --resume runs/mine      # should it be interrupted
    """
    with extending(path, tasks) as launch:
        run_launch(launch, runtime)


@click.command()
@click.argument("run", required=False, type=click.Path(path_type=Path))
@click.option(
    "--out", required=True, type=click.Path(path_type=Path), metavar="FILE", help="The .parquet file to write."
)
@click.option("--pool", help="Without RUN: the pool that is split. With it: where its images lie now, if elsewhere.")
@click.option("--seed", type=Whole(0, 2**63 - 1), help="Without RUN: study seed of the split.  [default: 0]")
@click.option("--force", is_flag=True, help="Replace FILE if it is there.")
@click.option("--json", "as_json", is_flag=True, help="Print what was written as JSON.")
def split(run: Path | None, out: Path, pool: str | None, seed: int | None, force: bool, as_json: bool) -> None:
    """List the images of a RUN by part (train, val, reward, test), for trainings of your own on the same images.

    \b
    seqsearch split runs/mine --out split.parquet
    seqsearch split --pool photos/ --seed 3 --out split.parquet
    """
    from seqsearch.study.run_images import images_of_pool, images_of_run
    from seqsearch.study.split_list import write_split

    if run is None and pool is None:
        raise UserError("name what is split: a run, as in seqsearch split runs/mine, or a pool (--pool POOL)")
    if run is not None and seed is not None:
        raise UserError("--seed is of the run: leave it out, or name a pool instead of a run (--pool)")
    check_output(out, ".parquet", force)
    found = images_of_pool(str(pool), seed or 0) if run is None else images_of_run(run, pool)
    parts = write_split(out, found)
    said = {"out": str(out), "classes": len(found.classes), "too_small": len(found.too_small), "images": parts}
    if as_json:
        click.echo(json.dumps(said))
        return
    counts = ", ".join(f"{part} {number:,}" for part, number in parts.items())
    click.echo(f"{sum(parts.values()):,} images of {len(found.classes):,} classes in {copyable(out)}: {counts}")
    if found.too_small:
        click.echo(f"{len(found.too_small):,} classes that are too small to be split are left out")
