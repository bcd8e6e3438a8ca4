"""``seqsearch sequences list | show``: the frozen class orders there are."""

from __future__ import annotations

import json

import click

from protocols.cli.grouped import Commands
from protocols.report.commands.frozen import listing, record, record_with_tasks, text
from protocols.report.text import show as print_shown
from seqsearch.core.text import shown_lines
from seqsearch.results.frozen import find_frozen, frozen_orders


@click.group(cls=Commands)
def sequences() -> None:
    """Frozen class orders of usual data sets, hard, easy and random by names: list them, or show one.

    \b
    seqsearch sequences list
    """


@sequences.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def list_(as_json: bool) -> None:
    """List the orders: data set, tasks, kind, version, digest, and where their S lies.

    \b
    seqsearch sequences list
    """
    found = frozen_orders()
    if as_json:
        click.echo(json.dumps([record(f) for f in found]))
    else:
        print_shown(listing(found))


@sequences.command()
@click.argument("name", metavar="NAME")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def show(name: str, as_json: bool) -> None:
    """Print the tasks of NAME (cifar100-hard-10, or cifar100-hard-10@1 for that version) with the names of their classes.

    \b
    seqsearch sequences show cifar100-hard-10
    """
    found = find_frozen(name)
    click.echo(json.dumps(record_with_tasks(found)) if as_json else shown_lines(text(found)))
