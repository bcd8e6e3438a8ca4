"""``seqsearch pool build | fetch | show``: make a pool of one's own images, fetch a published one, and look at any pool."""

from __future__ import annotations

import dataclasses
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from actors.options import DEVICES
from protocols.cli.completion import POOLS, named
from protocols.cli.ending import last_words
from protocols.cli.grouped import Commands
from protocols.cli.options import weights_of
from protocols.cli.pool_fetch import fetch
from protocols.cli.pool_sources import (
    asked_captions,
    caption_flags,
    captioned_sources,
    check_out_named,
    named_sources,
    opened_sources,
    recipe_lines,
    recipe_of,
    recipe_record,
)
from protocols.cli.types import Choice, Whole
from protocols.report.plain import plain
from protocols.report.pools.contact_sheet import check_sheet, write_sheet
from protocols.report.pools.contamination import compared_lines
from protocols.report.progress import PoolProgress
from protocols.report.text import show as print_shown
from seqsearch.backbones.open import build_backbone
from seqsearch.building.aliases import by_looks
from seqsearch.core.errors import UserError
from seqsearch.pools import parquet
from seqsearch.pools.open import build_pool, pool_texts
from seqsearch.pools.union import Union
from seqsearch.storage.files import atomic_path
from seqsearch.storage.outputs import check_folder, check_output
from seqsearch.study.near_duplicates import check_frozen

if TYPE_CHECKING:
    from seqsearch.building.pool import Report
    from seqsearch.study.compared import Compared

AGAINST = (
    "Compare with the images of another pool, such as those of pre-training: names of classes, equal images and, with "
    "--look-alikes, near duplicates."
)
NEAR_DUPLICATES = "Find near duplicates in the pool of --against by the features of this backbone."


@click.group(cls=Commands)
def pool() -> None:
    """Make a pool of your own images (build), fetch a published one (fetch), or look at one (show).

    \b
    seqsearch pool show glyphs
    """


pool.add_command(fetch)


@pool.command()
@click.argument("sources", metavar="[SRC]...", nargs=-1)
@click.argument("out", type=click.Path(path_type=Path), metavar="OUT.parquet")
@click.option("--recipe", metavar="NAME|FILE.yaml", help="Take the sources that it names: cldyb, or a recipe of yours.")
@click.option("--from", "folder", type=click.Path(path_type=Path), metavar="DIR", help="Folder they lie in.")
@click.option("--partial", is_flag=True, help="Make the pool of those that are there.")
@click.option("--min-images", type=Whole(1, 10**9), help="Drop classes with fewer.  [default: 10, or the recipe's]")
@click.option("--max-images", type=Whole(1, 10**9), help="Take at most so many of a class.  [default: all]")
@click.option(
    "--min-side", type=Whole(1, 10**5), default=8, show_default=True, help="Skip images below so many pixels."
)
@click.option("--merge-aliases", is_flag=True, help="Make one class of classes of the same name in different groups.")
@click.option("--aliases-with", "backbone", metavar="BACKBONE", help="Report classes that look alike to it, too.")
@click.option(
    "--device",
    type=Choice(DEVICES),
    default="auto",
    show_default=True,
    help="Where the backbone of --aliases-with computes: auto is a GPU if there is one.",
)
@click.option("--seed", type=Whole(0, 2**63 - 1), default=0, show_default=True, help="Of the draw under --max-images.")
@click.option("--workers", type=Whole(1, 4096), help="Processes.  [default: one per CPU]")
@click.option(
    "--report",
    "details",
    type=click.Path(path_type=Path),
    metavar="FILE.json",
    help="Where to list all that was left out.  [default: OUT.parquet.report.json, if anything was]",
)
@caption_flags
@click.option("--force", is_flag=True, help="Replace OUT.parquet if it is there.")
@click.option("--quiet", is_flag=True, help="No progress.")
@click.option("--json", "as_json", is_flag=True, help="Print what was made as JSON, and no progress.")
def build(
    sources: tuple[str, ...],
    out: Path,
    recipe: str | None,
    folder: Path | None,
    partial: bool,
    min_images: int | None,
    max_images: int | None,
    min_side: int,
    merge_aliases: bool,
    backbone: str | None,
    device: str,
    seed: int,
    workers: int | None,
    details: Path | None,
    force: bool,
    quiet: bool,
    as_json: bool,
    **captions: Any,
) -> None:
    """Make one Parquet file of folders, Parquet files and other pools; each SRC is a group, or NAME=SRC names it.

    \b
    Every image is decoded once. Corrupt and tiny ones are listed and skipped, classes with too few are dropped and named.
    seqsearch pool build glyphs:classes=20 glyphs.parquet
    seqsearch pool build photos/ photos.parquet
    seqsearch pool build food=foods/ birds=birds.parquet pool.parquet --min-images 45
    seqsearch pool build birds/ birds.parquet --captions text_c10/
    seqsearch pool build --recipe cldyb --from downloads/ cldyb.parquet
    """
    last_words("stopped; nothing half-made is left")
    check_out_named(sources, out, recipe is not None or folder is not None)
    check_out(out, force, details)
    from protocols.report.pools.summary import build_lines
    from seqsearch.building.pool import Options, build_parquet

    looks = build_backbone(backbone) if backbone else None
    computes_on = _device(device, backbone, "--aliases-with")
    asked = recipe_of(recipe) if recipe else None
    wanted_captions = asked_captions(**captions)
    named, said = captioned_sources(
        opened_sources(named_sources(sources, asked, folder, partial), out), wanted_captions
    )
    least = min_images or (asked.min_images if asked else 10)
    options = Options(least, max_images or 0, min_side, merge_aliases, seed)
    with PoolProgress(quiet or as_json) as bar:
        report = build_parquet(named, out, options, workers or _cpus(), bar.observe)
        report.captions = said
        if looks:
            known = {(a.first, a.second) for a in report.aliases}
            made = parquet.build(str(out))
            alike = by_looks(made, looks, lambda done, total: bar.observe("classes", done, total, 0), computes_on)
            report.aliases += [a for a in alike if (a.first, a.second) not in known]
    record = _record(report, out)
    if asked:
        record["recipe"] = recipe_record(asked, [name for name, _ in named], report)
    written = _written(record, out, details)
    lines = [*(recipe_lines(record["recipe"]) if asked else []), *build_lines(report, record, out, written)]
    click.echo(json.dumps(record) if as_json else "\n".join(lines))


def _device(asked: str, backbone: str | None, flag: str) -> str:
    """Raises UserError: a GPU is asked for, and nothing would use it, or this machine has none."""
    if backbone is not None:
        from seqsearch.training.device import device_here

        return device_here(asked)
    if asked == "cuda":
        raise UserError(f"--device cuda is for {flag}: leave it out")
    return "cpu"


def _cpus() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def check_out(out: Path, force: bool, details: Path | None) -> None:
    """Raises UserError: what is to be written could not be, seen before any image is read."""
    check_output(out, ".parquet", force, ": it is the last argument, after the sources")
    if details is not None:
        check_folder(details)


def _record(report: Report, out: Path) -> dict[str, Any]:
    digest = build_pool(str(out)).digest
    return {
        "pool": str(out),
        "digest": digest,
        "bytes": out.stat().st_size,
        "images": report.images,
        **dataclasses.asdict(report),
    }


def _written(record: dict[str, Any], out: Path, details: Path | None) -> Path | None:
    """The file that lists everything, if one was asked for or there is something to list."""
    path = details or out.with_name(out.name + ".report.json")
    if details or any(
        record[k] for k in ("skipped", "duplicates", "dropped", "aliases", "merged", "ignored", "captions")
    ):
        with atomic_path(path) as temporary:
            temporary.write_text(json.dumps(record, indent=1) + "\n")
        return path
    path.unlink(missing_ok=True)  # of an earlier build
    return None


# ------------------------------------------------------------------------------------------------ show


@pool.command()
@click.argument("name", metavar="POOL", shell_complete=POOLS)
@click.option("--sheet", type=click.Path(path_type=Path), metavar="FILE.png", help="Write a contact sheet.")
@click.option("--groups", "all_groups", is_flag=True, help="List all groups, not the first 50.")
@click.option("--against", metavar="POOL", shell_complete=POOLS, help=AGAINST)
@click.option("--look-alikes", metavar="BACKBONE", shell_complete=named("backbone"), help=NEAR_DUPLICATES)
@click.option("--weights", metavar="FILE", help="Weights of the backbone, if it is a timm model.")
@click.option("--device", type=click.Choice(DEVICES), default="auto", show_default=True, help="Where it computes.")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def show(
    name: str,
    sheet: Path | None,
    all_groups: bool,
    against: str | None,
    look_alikes: str | None,
    weights: str | None,
    device: str,
    as_json: bool,
) -> None:
    """Print groups, classes, split sizes and contamination of POOL: glyphs, a folder, a .parquet file; several with commas.

    \b
    seqsearch pool show glyphs
    seqsearch pool show photos/ --against imagenet-train/ --look-alikes resnet18
    """
    if look_alikes and not against:
        raise UserError("--look-alikes compares with the pool of --against: name one")
    if weights and not look_alikes:
        raise UserError("--weights is for the backbone of --look-alikes: name one")
    if sheet is not None:
        check_sheet(sheet)
    computes_on = _device(device, look_alikes, "--look-alikes")
    pools = Union([build_pool(text) for text in pool_texts(name)])
    from protocols.report.pools.summary import described, render

    found = _compared(pools, against, look_alikes, weights, computes_on) if against else None
    record = described(pools)
    if sheet is not None:
        record |= {"sheet": str(sheet), "unusable": write_sheet(pools, sheet)}
    if as_json:
        said = {} if found is None else {"against": {"pool": against, **plain(found)}}
        click.echo(json.dumps(record | said))
        return
    lines = [] if found is None else compared_lines(found, pools.name, str(against))
    print_shown(render(record, all_groups, lines))


def _compared(pools: Union, against: str, look_alikes: str | None, weights: str | None, device: str) -> Compared:
    """Compare the pool with that of ``--against`` for shared content.

    Raises:
        UserError: the other pool cannot be opened; or the backbone is unavailable or begins from scratch.
    """
    from seqsearch.study.compared import compared

    backbone = None
    if look_alikes:
        backbone = build_backbone(look_alikes, weights_of(look_alikes, weights))
        check_frozen(look_alikes, backbone)
    return compared(pools, Union([build_pool(text) for text in pool_texts(against)]), backbone, device)
