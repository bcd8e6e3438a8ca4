"""``seqsearch reproduce``: the ledger of published results, and one of them run. Heavy imports are inside."""

from __future__ import annotations

import json
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click

from protocols.cli.ending import last_words
from protocols.evaluate.published.answers import Failed
from protocols.evaluate.published.dataset_on_disk import on_disk
from protocols.evaluate.published.ledger import read_ledger
from protocols.evaluate.published.miniature import miniature, write_data
from protocols.evaluate.published.results import joined, read_results
from protocols.evaluate.published.running import Places, check, costs, kept, key, missing, run, unlike
from protocols.evaluate.published.where import LEDGER, RESULTS
from protocols.report.commands.published import (
    figure_json,
    in_miniature,
    listing,
    miniature_json,
    miniature_outcome,
    needs,
    outcome,
    to_json,
)
from protocols.report.text import duration, show
from seqsearch.core.errors import UserError
from seqsearch.core.installation import shipped
from seqsearch.core.text import shown


@click.command()
@click.argument("name", required=False)
@click.option("--data", type=click.Path(path_type=Path), metavar="DIR", help="Folder that the data sets lie in.")
@click.option(
    "--miniature",
    is_flag=True,
    help="Try it in minutes, without its data: small stand-in data, few tasks and epochs, an embedded network.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Where the runs are kept, and gone on with.  [default: runs/reproduce-NAME, or runs/miniature-NAME]",
)
@click.option("--dry-run", is_flag=True, help="Say what it needs and would cost, and stop.")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def reproduce(
    name: str | None, data: Path | None, miniature: bool, out: Path | None, dry_run: bool, as_json: bool
) -> None:
    """List published results with what came of them here; with NAME run that one, and print published, ours and the difference.

    \b
    seqsearch reproduce
    seqsearch reproduce cldyb-table-1-ranks
    seqsearch reproduce gtep-table-14 --miniature
    seqsearch reproduce gtep-table-14 --data ~/data --dry-run
    """
    last_words("stopped; run the same again to go on")
    if miniature and data is not None:
        raise UserError(f"--miniature makes its own stand-in data: leave --data {data} out")
    if data is not None and not data.is_dir():
        raise UserError(f"--data {data} is no folder")
    ledger = read_ledger(shipped(LEDGER))
    if name is not None:
        entry = ledger.entry(name)
        if miniature and entry.data and entry.commands:
            _miniature(ledger, entry, out, dry_run, as_json)
            return
        if miniature and not entry.needs:
            click.echo(f"{name} needs no data: it is run as it is, not as a miniature", err=True)
        _one(ledger, entry, data, out, dry_run, as_json)
        return
    if data or out or dry_run or miniature:
        raise UserError("--data, --miniature, --out and --dry-run are of one result: seqsearch reproduce NAME")
    pairs = joined(ledger, read_results(shipped(RESULTS)))
    _print([to_json(ledger, *pair) for pair in pairs] if as_json else listing(ledger, pairs), as_json)


def _miniature(ledger: Any, entry: Any, out: Path | None, dry_run: bool, as_json: bool) -> None:
    """An entry made small, on stand-in data below the folder of results."""
    with ExitStack() as stack:
        small = miniature(entry)
        out = (out or Path("runs") / f"miniature-{entry.name}") / key(small, None, {})
        used = Path(stack.enter_context(tempfile.TemporaryDirectory())) if dry_run else out
        meant, places = Places(out / "standin", out), Places(used / "standin", used)
        write_data(ledger, entry, used / "standin")
        click.echo("\n".join(map(shown, in_miniature(ledger, entry, small, meant))), err=as_json)
        if (figures := _run(small, places, meant, dry_run, as_json)) is None:
            return
    _print(miniature_json(small, figures) if as_json else miniature_outcome(small, figures), as_json)


def _one(ledger: Any, entry: Any, data: Path | None, out: Path | None, dry_run: bool, as_json: bool) -> None:
    name = entry.name
    if out is not None and not kept(entry):
        raise UserError(f"{name} leaves no runs behind: leave --out {out} out")
    with ExitStack() as stack:
        folder = out or Path("runs") / f"reproduce-{name}"
        if not kept(entry):
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        gone = missing(ledger, entry, data)
        there = on_disk(ledger, entry, data) if data and not gone and not entry.needs else {}
        places = Places(data, folder / key(entry, data, there))
        lines = needs(ledger, entry, gone, there, places)
        click.echo("\n".join(map(shown, lines)), err=as_json)
        check(ledger, entry, data)
        if not dry_run and (others := unlike(places)):
            more = "of other data, of another entry or version; they are not used"
            click.echo(shown(f"beside {places.out} are runs {more}: {', '.join(others[:5])}"), err=True)
        if (figures := _run(entry, places, places, dry_run, as_json)) is None:
            return
    if as_json:
        made = {"name": name, "conditional": entry.conditional, "figures": [figure_json(f) for f in figures]}
        click.echo(json.dumps(made))
    else:
        _print(outcome(entry, figures), False)


def _run(entry: Any, places: Any, meant: Any, dry_run: bool, as_json: bool) -> Any:
    """The figures that its commands give; None if only costs were asked for, which are printed with the places ``meant``."""
    try:
        if dry_run:
            _costs(entry, places, meant, as_json)
            return None
        return run(entry, places, lambda said: click.echo(shown(said), err=True))
    except Failed as error:
        if error.code == 2:  # it has said in its line what is wrong
            sys.exit(2)
        raise


def _costs(entry: Any, places: Any, meant: Any, as_json: bool) -> None:
    found = costs(entry, places, meant)
    if as_json:
        click.echo(json.dumps([{"command": typed, "costs": answer} for typed, answer in found]))
        return
    for typed, answer in found:
        if answer is None:
            click.echo(shown(f"not costed (trains nothing, or reads what an earlier one makes): {typed}"))
        else:
            trainings = answer["trainings"] if "trainings" in answer else answer["runs"]
            said = f"{trainings:,} trainings, {duration(3600 * answer['hours'])} on this machine"
            click.echo(shown(f"{said}: {typed}"))
    click.echo("nothing was run")


def _print(what: Any, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(what))
        return
    show(what)
