"""``seqsearch entry`` and ``seqsearch site``: runs on a leaderboard. Heavy imports are inside."""

from __future__ import annotations

import json
from pathlib import Path

import click

from protocols.cli.completion import runs as runs_there
from seqsearch.core.text import copyable, counted
from seqsearch.storage.files import atomic_path
from seqsearch.storage.outputs import check_output


@click.command()
@click.argument("run", type=click.Path(path_type=Path), shell_complete=runs_there)
@click.option("--out", required=True, type=click.Path(path_type=Path), metavar="FILE.json", help="File to write.")
@click.option("--force", is_flag=True, help="Replace FILE.json if it is there.")
@click.option("--json", "as_json", is_flag=True, help="Print what was written as JSON.")
def entry(run: Path, out: Path, force: bool, as_json: bool) -> None:
    """Write the entry of a finished RUN for a leaderboard: figures, command, versions, digests; no paths, no names of users.

    \b
    seqsearch entry runs/mine --out mine-entry.json
    """
    check_output(out, ".json", force)
    from protocols.report.site.entry import entry_of

    made, _ = entry_of(run)
    with atomic_path(out) as temporary:
        temporary.write_text(made.text())
    if as_json:
        click.echo(json.dumps({"out": str(out), "digest": made.digest, "rows": len(made.rows)}))
    else:
        click.echo(f"{counted(len(made.rows), 'row')} in {copyable(out)}, digest {made.digest}")


@click.command()
@click.argument(
    "sources",
    nargs=-1,
    required=True,
    metavar="RUN|ENTRY|SITE...",
    type=click.Path(path_type=Path),
    shell_complete=runs_there,
)
@click.option("--out", required=True, type=click.Path(path_type=Path), metavar="DIR", help="Folder to write it into.")
@click.option("--json", "as_json", is_flag=True, help="Print what was written as JSON.")
def site(sources: tuple[Path, ...], out: Path, as_json: bool) -> None:
    """Write a leaderboard as a folder of static pages, from runs, entries (seqsearch entry) and sites.

    \b
    seqsearch site runs/mine runs/easy --out site
    seqsearch site site theirs.json --out site    # one entry more
    """
    from protocols.report.site.write import write_site

    there = write_site(sources, out)
    if as_json:
        names = [{"name": e.name, "file": e.file, "digest": e.entry.digest, "page": e.page is not None} for e in there]
        click.echo(json.dumps({"out": str(out), "entries": names}))
    else:
        what = counted(len(there), "entry")
        click.echo(
            f"{what} in {copyable(out / 'index.html')}, {counted(sum(e.page is not None for e in there), 'page')}"
        )
