"""``seqsearch pool fetch``: have the published archive of a data set."""

from __future__ import annotations

import json
from pathlib import Path

import click

from protocols.cli.ending import last_words
from protocols.cli.types import Choice
from protocols.report.progress import PoolProgress
from seqsearch.building.fetch import ARCHIVES, fetched
from seqsearch.core.text import copyable

MEGABYTE = 1_000_000


@click.command()
@click.argument("name", type=Choice(list(ARCHIVES)), required=False)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=".",
    metavar="DIR",
    help="Folder to put it in.  [default: this one]",
)
@click.option("--url", metavar="URL", help="Page to fetch it from instead of its author's.")
@click.option("--quiet", is_flag=True, help="No progress.")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON, and no progress.")
def fetch(name: str | None, out: Path, url: str | None, quiet: bool, as_json: bool) -> None:
    """Fetch the published archive of a data set, which is a pool as it is; without NAME, list the archives.

    \b
    seqsearch pool fetch
    seqsearch pool fetch cifar100
    seqsearch pool fetch cifar10 --out data/

    The file must have the published digest, or nothing is left behind.
    """
    if name is None:
        _list(as_json)
        return
    last_words("stopped; nothing half-made is left")
    archive, path = ARCHIVES[name], out / ARCHIVES[name].file
    with PoolProgress(quiet or as_json) as bar:
        new = fetched(
            archive, out, url, lambda done, total: bar.observe("fetching", done // MEGABYTE, total // MEGABYTE, 0)
        )
    if as_json:
        click.echo(json.dumps({"pool": str(path), "fetched": new, "md5": archive.md5}))
        return
    click.echo(f"{path}: {archive.title}, {'as published' if new else 'is there already'}")
    click.echo(f"look at it: seqsearch pool show {copyable(path)}")


def _list(as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps([{"name": name, **vars(archive)} for name, archive in ARCHIVES.items()]))
        return
    for name, archive in ARCHIVES.items():
        click.echo(
            f"{name}: {archive.title}, {archive.size // MEGABYTE} MB, {archive.url}{archive.file}, MD5 {archive.md5}"
        )
