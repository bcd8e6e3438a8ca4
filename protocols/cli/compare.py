"""``seqsearch compare``: runs, or the columns of a table, beside each other. Heavy imports are inside."""

from __future__ import annotations

import json
from pathlib import Path

import click

from protocols.cli.completion import runs as finished
from protocols.cli.ending import last_words
from protocols.evaluate.compare.agreement import agreement
from protocols.evaluate.compare.table import read_table
from protocols.report.terminal import render
from protocols.report.text import show
from protocols.report.view import View
from seqsearch.core.errors import UserError
from seqsearch.core.text import shown
from seqsearch.results.run import read_config


@click.command()
@click.argument("runs", metavar="[RUN]...", nargs=-1, type=click.Path(path_type=Path), shell_complete=finished)
@click.option(
    "--table",
    type=click.Path(path_type=Path),
    metavar="FILE.csv",
    help="Compare columns of a table of accuracies, methods in rows, instead of runs.",
)
@click.option(
    "--reference",
    default="",
    metavar="COLUMN",
    help="Column that all others are correlated with.  [default: held-out; of a --table the last]",
)
@click.option("--out", type=click.Path(path_type=Path), metavar="DIR", help="Write a page and the table there, too.")
@click.option("--details", is_flag=True, help="Print all tables and notes.")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def compare(
    runs: tuple[Path, ...], table: Path | None, reference: str, out: Path | None, details: bool, as_json: bool
) -> None:
    """Put RUNs beside each other that share pool, seed, first task and lengths, or the columns of a --table; or RUNs that
    differ in their seed alone. Nothing is trained.

    \b
    seqsearch compare runs/mine runs/easy
    seqsearch compare runs/easy runs/medium runs/hard        # Table 4: accuracies, agreement with held-out data, differences
    seqsearch compare runs/full runs/uniform --out compared  # Fig. 6: ablations, each minus the first
    seqsearch compare runs/seed0 runs/seed1 runs/seed2       # mean and range over studies
    seqsearch compare runs/mine runs/easy --details
    seqsearch compare --table table1.csv --reference Held-out
    """
    last_words("stopped; nothing half-made is left")
    if bool(runs) == (table is not None):
        raise UserError("name RUNs to compare, or a --table FILE.csv, one of the two")
    if table is not None:
        if out is not None:
            raise UserError("--out is for runs; a table is printed (or --json)")
        _show(_of_table(table, reference), details, as_json)
        return
    if out is not None:
        _check_out(out)
    for run in runs:
        read_config(run)
    from protocols.evaluate.compare.comparison import compare as compared
    from protocols.report.compare.view import view, write_folder

    found = compared(runs, reference)
    if out is not None:
        out.mkdir(exist_ok=True)
        for path in write_folder(out, found):
            click.echo(shown(f"written: {path}"), err=True)
    _show(view(found), details, as_json)


def _of_table(path: Path, reference: str) -> View:
    from protocols.report.compare.view import view_of_table

    table = read_table(path)
    return view_of_table(table, agreement(table, reference))


def _show(view: View, details: bool, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(view.to_json()))
    else:
        show(render(view, details))


def _check_out(out: Path) -> None:
    """Raises UserError: something is there already, or the folder above it is not."""
    if out.exists() and not (out.is_dir() and not any(out.iterdir())):
        raise UserError(f"--out {out}: is there already; name another folder")
    if not out.parent.is_dir():
        raise UserError(f"--out {out}: folder {out.parent} does not exist: make it first")
