"""``seqsearch reproduce``: the ledger of published results, and one of them run. Heavy imports are inside."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click

from protocols.cli.ending import last_words
from seqsearch.core.errors import UserError
from seqsearch.core.text import shown


@click.command()
@click.argument("name", required=False)
@click.option("--data", type=click.Path(path_type=Path), metavar="DIR", help="Folder that the data sets lie in.")
@click.option(
    "--out", type=click.Path(path_type=Path), metavar="DIR",
    help="Where the runs are kept, and gone on with.  [default: runs/reproduce-NAME]",
)  # fmt: skip
@click.option("--dry-run", is_flag=True, help="Say what it needs and would cost, and stop.")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def reproduce(name: str | None, data: Path | None, out: Path | None, dry_run: bool, as_json: bool) -> None:
    """List published results with what came of them here; with NAME run that one, and print published, ours and the difference.

    \b
    seqsearch reproduce
    seqsearch reproduce cldyb-table-1-ranks
    seqsearch reproduce gtep-table-14 --data ~/data --dry-run
    """
    from protocols.evaluate.published.ledger import read_ledger
    from protocols.evaluate.published.results import joined, read_results
    from protocols.evaluate.published.where import LEDGER, RESULTS, located

    last_words("stopped; run the same again to go on")
    if data is not None and not data.is_dir():
        raise UserError(f"--data {data} is no folder")
    ledger = read_ledger(located(LEDGER))
    if name is not None:
        _one(ledger, name, data, out, dry_run, as_json)
        return
    if data or out or dry_run:
        raise UserError("--data, --out and --dry-run are of one result: seqsearch reproduce NAME")
    from protocols.report.published import listing, to_json

    pairs = joined(ledger, read_results(located(RESULTS)))
    _print([to_json(ledger, *pair) for pair in pairs] if as_json else listing(ledger, pairs), as_json)


def _one(ledger: Any, name: str, data: Path | None, out: Path | None, dry_run: bool, as_json: bool) -> None:
    from protocols.evaluate.published.answers import Failed
    from protocols.evaluate.published.lying import lying
    from protocols.evaluate.published.running import Places, check, kept, key, missing, run, unlike
    from protocols.report.published import figure_json, needs, outcome

    entry = ledger.entry(name)
    if out is not None and not kept(entry):
        raise UserError(f"{name} leaves no runs behind: leave --out {out} out")
    with ExitStack() as stack:
        folder = out or Path("runs") / f"reproduce-{name}"
        if not kept(entry):
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        gone = missing(ledger, entry, data)
        there = lying(ledger, entry, data) if data and not gone and not entry.needs else {}
        places = Places(data, folder / key(entry, data, there))
        lines = needs(ledger, entry, gone, there, places)
        click.echo("\n".join(map(shown, lines)), err=as_json)
        check(ledger, entry, data)
        try:
            if dry_run:
                _costs(entry, places, as_json)
                return
            if others := unlike(places):
                more = "of other data, of another entry or version; they are not used"
                click.echo(shown(f"beside {places.out} are runs {more}: {', '.join(others[:5])}"), err=True)
            figures = run(entry, places, lambda said: click.echo(shown(said), err=True))
        except Failed as error:
            if error.code == 2:  # it has said in its line what is wrong
                sys.exit(2)
            raise
    if as_json:
        made = {"name": name, "conditional": entry.conditional, "figures": [figure_json(f) for f in figures]}
        click.echo(json.dumps(made))
    else:
        _print(outcome(entry, figures), False)


def _costs(entry: Any, places: Any, as_json: bool) -> None:
    from protocols.evaluate.published.running import costs
    from protocols.report.text import duration

    found = costs(entry, places)
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
    from protocols.report.text import show

    show(what)


def commands() -> Sequence[click.Command]:
    return (reproduce,)
