"""``seqsearch export`` and ``seqsearch import``. Heavy imports are inside."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from protocols.cli.completion import POOLS, named
from protocols.cli.completion import runs as found_in
from protocols.cli.similarity import read_names
from protocols.cli.types import Whole
from seqsearch.core.errors import UserError
from seqsearch.core.text import copyable, shown


@click.command()
@click.argument("source", metavar="RUN", shell_complete=found_in)
@click.option(
    "--to",
    required=True,
    metavar="TOOLBOX",
    shell_complete=named("format", "lae"),
    help="avalanche, pilot, pycil, mammoth, json or csv.",
)
@click.option("--out", required=True, type=click.Path(path_type=Path), metavar="DIR", help="Folder to make.")
@click.option("--sequence", "sequences", multiple=True, metavar="ID", help="A sequence by its id; repeatable.")
@click.option(
    "--which",
    type=click.Choice(["all", "found", "random"]),
    help="Sequences of the RUN.  [default: found, or all of a file]",
)
@click.option(
    "--images",
    type=click.Choice(["copy", "paths", "none"]),
    help="copy: into DIR; paths: the pool's own files; none: orders only.  [default: copy; json, csv: none]",
)
@click.option("--pool", shell_complete=POOLS, help="Pool of the images.  [default: that of the RUN]")
@click.option("--seed", type=Whole(0, 2**63 - 1), help="Seed of the split.  [default: that of the RUN, or 0]")
@click.option(
    "--by-name", is_flag=True, help="Take classes by their names: images may be others than those of the RUN."
)
@click.option(
    "--names",
    "names_file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Class names, one a line, whose positions are the class ids, for a file of names without --pool.",
)
@click.option("--json", "as_json", is_flag=True, help="Print what was written as JSON.")
def export(
    source: str,
    to: str,
    out: Path,
    sequences: tuple[str, ...],
    which: Any,
    images: Any,
    pool: str | None,
    seed: int | None,
    by_name: bool,
    names_file: Path | None,
    as_json: bool,
) -> None:
    """Write the sequences of a RUN, or of a file, such that another toolbox runs them.

    DIR gets a folder a sequence, with a manifest, a loader and the toolbox's own files, and a README that says how to run them.

    \b
    seqsearch export runs/mine --to avalanche --out for-avalanche
    seqsearch export runs/mine --to pilot --out for-pilot --images paths --sequence sequence-3
    seqsearch export orders.json --to mammoth --out for-mammoth --pool photos/
    """
    from protocols.evaluate.exchange.export import export as write
    from protocols.evaluate.exchange.selection import ClassList, Wanted

    names = None if names_file is None else ClassList(names_file.name, tuple(read_names(names_file)))
    wanted = Wanted(source, sequences, which, pool, seed, by_name, names)
    said = write(wanted, to, images, out, lambda line: click.echo(shown(line), err=True))
    if as_json:
        click.echo(json.dumps(said))
        return
    count = len(said["sequences"])
    click.echo(
        f"{count} sequence{'s' * (count != 1)} in {copyable(out)}; {copyable(out / 'README.md')} says how to run them"
    )


@click.command("import")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--from",
    "form",
    required=True,
    metavar="TOOLBOX",
    shell_complete=named("format"),
    help="avalanche, pilot, pycil, mammoth, lae, json or csv.",
)
@click.option("--out", required=True, type=click.Path(path_type=Path), metavar="FILE", help="The .json file to write.")
@click.option("--pool", shell_complete=POOLS, help="Pool whose classes the numbers count.")
@click.option(
    "--names",
    "names_file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Class names, one a line, that the numbers count.",
)
@click.option(
    "--task-sizes",
    default="",
    metavar="N,N,...",
    help="Classes of each task, or one number for all, where FILE does not say it.",
)
@click.option("--name", default="", help="Name of the sequence.  [default: as FILE calls it]")
@click.option("--json", "as_json", is_flag=True, help="Print what was written as JSON.")
def import_(
    file: Path,
    form: str,
    out: Path,
    pool: str | None,
    names_file: Path | None,
    task_sizes: str,
    name: str,
    as_json: bool,
) -> None:
    """Read a class order, a permutation or a configuration of another toolbox, for score and edge --orders.

    \b
    seqsearch export runs/mine --to pilot --out theirs && \\
    seqsearch import theirs/search-0/seqsearch_config.json --from pilot --pool glyphs:classes=50 --out mine.json
    seqsearch import exps/simplecil.json --from pilot --names cifar100.txt --out orders.json
    seqsearch import order.txt --from mammoth --pool photos/ --task-sizes 10 --out orders.json
    """
    from protocols.evaluate.exchange.imported import import_order, pool_names

    if (pool is None) == (names_file is None):
        raise UserError("name the classes that the numbers count: --pool POOL, or --names FILE (one of them)")
    names = read_names(names_file) if names_file is not None else pool_names(str(pool))
    said = import_order(file, form, names, _sizes(task_sizes, len(names)), out, name)
    if as_json:
        click.echo(json.dumps(said))
        return
    count = len(said["sequences"])
    click.echo(f"{count} sequence{'s' * (count != 1)} in {copyable(out)}, for seqsearch score and edge --orders")


def _sizes(text: str, classes: int) -> tuple[int, ...]:
    """Raises UserError: they are no whole numbers from 1 on."""
    pieces = [p.strip() for p in text.split(",")] if text.strip() else []
    if not all(p.isdecimal() and len(p) < 7 and int(p) for p in pieces):
        raise UserError(f"--task-sizes {text[:80]}: must be whole numbers from 1 on, e.g. 10 or 50,10,10")
    sizes = tuple(map(int, pieces))
    if len(sizes) != 1:
        return sizes
    if classes % sizes[0]:
        raise UserError(
            f"--task-sizes {text[:80]}: {classes} classes are not tasks of {sizes[0]}: name the size of each"
        )
    return sizes * (classes // sizes[0])
