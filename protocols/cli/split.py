"""``seqsearch split``: which images a run learned from and was evaluated on, as a file."""

from __future__ import annotations

import json
from pathlib import Path

import click

from protocols.cli.pool import check_out
from protocols.cli.types import Whole
from seqsearch.core.errors import UserError
from seqsearch.core.text import copyable


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
    check_out(out, force, None)
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
