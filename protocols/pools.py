"""``seqsearch pool build | show``: make a pool of one's own images, and look at any pool."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from seqsearch.errors import UserError

if TYPE_CHECKING:
    from seqsearch.pools.base import Pool
    from seqsearch.pools.building import Report

SHOWN = 5
"""Items of a list that are printed; all are in the file beside the pool."""


@click.group()
def pool() -> None:
    """Make a pool of your own images (build), or look at one (show)."""


@pool.command()
@click.argument("sources", metavar="SRC...", nargs=-1, required=True)
@click.argument("out", type=click.Path(path_type=Path), metavar="OUT.parquet")
@click.option("--min-images", type=click.IntRange(1), default=10, show_default=True, help="Drop classes with fewer.")
@click.option("--max-images", type=click.IntRange(1), help="Take at most so many of a class.  [default: all]")
@click.option(
    "--min-side", type=click.IntRange(1), default=8, show_default=True, help="Skip images below so many pixels."
)
@click.option("--merge-aliases", is_flag=True, help="Make one class of classes of the same name in different groups.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of the draw under --max-images.")
@click.option("--workers", type=click.IntRange(1), help="Processes.  [default: one per CPU]")
@click.option("--force", is_flag=True, help="Replace OUT.parquet if it is there.")
@click.option("--quiet", is_flag=True, help="No progress.")
@click.option("--json", "as_json", is_flag=True, help="Print what was made as JSON, and no progress.")
def build(
    sources: tuple[str, ...], out: Path, min_images: int, max_images: int | None, min_side: int, merge_aliases: bool,
    seed: int, workers: int | None, force: bool, quiet: bool, as_json: bool,
) -> None:  # fmt: skip
    """Make one Parquet file of folders, Parquet files and other pools; each SRC is a group, or NAME=SRC names it.

    \b
    Every image is decoded once. Corrupt and tiny ones are listed and skipped, classes with too few are dropped and named.
    seqsearch pool build photos/ photos.parquet
    seqsearch pool build food=foods/ birds=birds.parquet pool.parquet --min-images 45
    """
    from seqsearch.pools.building import Options, build_parquet

    if out.suffix != ".parquet":
        raise UserError(f"{out} must end in .parquet: it is the last argument, after the sources")
    if out.exists() and not force:
        raise UserError(f"{out} is there already: choose another name, or replace it with --force")
    if not out.parent.is_dir():
        raise UserError(f"folder {out.parent} of {out} does not exist: make it first")
    named = _opened(sources)
    options = Options(min_images, max_images or 0, min_side, merge_aliases, seed)
    with _bar(quiet or as_json) as observe:
        report = build_parquet(named, out, options, workers or os.cpu_count() or 1, observe)
    details = out.with_name(out.name + ".report.json")
    record = _record(report, out)
    if report.skipped or report.dropped or report.aliases or report.ignored:
        details.write_text(json.dumps(record, indent=1) + "\n")
    if as_json:
        click.echo(json.dumps(record))
    else:
        click.echo("\n".join(_lines(report, out, details)))


def _opened(sources: Sequence[str]) -> list[tuple[str, Pool]]:
    """Each source with the name of its group.

    Raises:
        UserError: a source cannot be opened, or comes twice, or two have one name.
    """
    from seqsearch.grammar import parse_item
    from seqsearch.world import build_pool

    found: list[tuple[str, Pool]] = []
    for text in sources:
        name, equals, source = text.partition("=")
        if not equals or ":" in name or "/" in name or Path(text).exists():  # glyphs:classes=3 is no name
            name, source = "", text
        opened = build_pool(source)
        name = name or Path(parse_item(source, "pool").target.rstrip("/")).stem
        if name in dict(found):
            raise UserError(f"two sources are called {name!r}: name them, as in {name}2={source}")
        if twin := next((n for n, p in found if p.digest == opened.digest), None):
            raise UserError(f"sources {twin!r} and {name!r} are the same: name it once")
        found.append((name, opened))
    return found


class _bar:  # noqa: N801 - used like a function
    """Progress on stderr; yields what is called with images done, in all, skipped."""

    def __init__(self, quiet: bool) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        console = Console(stderr=True)
        self._bars = Progress(
            TextColumn("images"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[note]}"),
            TimeRemainingColumn(), console=console, disable=quiet or not console.is_terminal, transient=True,
        )  # fmt: skip
        self._task = self._bars.add_task("images", note="", total=None)

    def __enter__(self) -> Any:
        self._bars.start()
        return self._observe

    def __exit__(self, *_: object) -> None:
        self._bars.stop()

    def _observe(self, done: int, total: int, skipped: int) -> None:
        speed = self._bars.tasks[0].speed or 0
        self._bars.update(self._task, completed=done, total=total, note=f"{speed:.0f}/s, {skipped} skipped")


def _record(report: Report, out: Path) -> dict[str, Any]:
    import dataclasses

    from seqsearch.world import build_pool

    found = dataclasses.asdict(report)
    return {"pool": str(out), "digest": build_pool(str(out)).digest, "images": report.images, **found}


def _lines(report: Report, out: Path, details: Path) -> list[str]:
    groups = {g for g, _, _ in report.classes}
    size = out.stat().st_size / 1e6
    said = [
        f"{out}: {report.images} images of {len(report.classes)} classes in {len(groups)} group(s), {size:.1f} MB",
        *_listed("skipped", "image(s)", [f"{where}: {why}" for where, why in report.skipped]),
        *_listed("dropped (--min-images)", "class(es)", [f"{g}/{n}, {k} images" for g, n, k in report.dropped]),
        *_listed("merged", "pair(s) of classes", [_pair(a) for a in report.merged]),
        *_listed(
            "maybe the same thing twice (--merge-aliases)", "pair(s) of classes", [_pair(a) for a in report.aliases]
        ),
        *report.notes,
    ]
    if report.duplicates:
        said.append(f"{report.duplicates} image(s) came twice in their class and are kept once")
    if report.ignored_count:
        said.append(f"{report.ignored_count} file(s) are no images by their names, e.g. {report.ignored[0]}")
    if details.exists():
        said.append(f"all of it is in {details}")
    return [*said, f"use it: seqsearch cldyb --pool {out} --methods ranpac,er"]


def _pair(alias: Any) -> str:
    return f"{'/'.join(alias.first)} and {'/'.join(alias.second)} ({alias.why})"


def _listed(what: str, noun: str, items: list[str]) -> list[str]:
    if not items:
        return []
    more = [f"  and {len(items) - SHOWN} more"] if len(items) > SHOWN else []
    return [f"{what}: {len(items)} {noun}", *(f"  {i}" for i in items[:SHOWN]), *more]


# ------------------------------------------------------------------------------------------------ show


@pool.command()
@click.argument("name", metavar="POOL")
@click.option("--sheet", type=click.Path(path_type=Path), metavar="FILE.png", help="Write a contact sheet.")
@click.option("--groups", "all_groups", is_flag=True, help="List all groups, not the first 30.")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def show(name: str, sheet: Path | None, all_groups: bool, as_json: bool) -> None:
    """Print groups, classes and split sizes of POOL: glyphs, a folder, a .parquet file; several with commas."""
    from seqsearch.grammar import parse_items
    from seqsearch.pools.union import Union
    from seqsearch.world import build_pool

    pools = Union([build_pool(i.text) for i in parse_items(name, "pool")])
    record = _described(pools)
    if sheet is not None:
        from protocols.contact_sheet import write_sheet

        write_sheet(pools, sheet)
    if as_json:
        click.echo(json.dumps(record))
        return
    click.echo("\n".join(_shown(record, all_groups)))
    if sheet is not None:
        click.echo(f"contact sheet: {sheet}")


def _described(pools: Any) -> dict[str, Any]:
    from seqsearch.pools.base import PARTS
    from seqsearch.pools.union import UnionSplit

    split, sizes, small = UnionSplit(pools, 0), dict.fromkeys(PARTS, 0), []
    groups: dict[str, list[int]] = {}
    for index, c in enumerate(pools.classes):
        groups.setdefault(c.group, []).append(c.count)
        try:
            split.check([index])
            for part in PARTS:
                sizes[part] += len(split.rows(index, part))
        except UserError:
            small.append({"class": c.name, "group": c.group, "images": c.count})
    return {
        "pools": [
            {
                "name": p.name,
                "digest": p.digest,
                "identified_by": "path, size and time of its files" if p.digest.startswith("files-") else "content",
                "split": "drawn" if p.given is None else "given",
                "ignored_files": getattr(p, "ignored_count", 0),
            }
            for p in pools.parts
        ],
        "classes": len(pools.classes),
        "images": int(pools.offsets[-1]),
        "parts": sizes,
        "too_small": small,
        "groups": [
            {"group": g, "classes": len(n), "images": sum(n), "smallest": min(n), "largest": max(n)}
            for g, n in groups.items()
        ],
    }


def _shown(record: dict[str, Any], all_groups: bool) -> list[str]:
    lines = []
    for p in record["pools"]:
        lines.append(f"{p['name']}: digest {p['digest']} (by {p['identified_by']}), split {p['split']}")
        if p["ignored_files"]:
            lines.append(f"  {p['ignored_files']} file(s) are no images by their names and were left alone")
    parts = ", ".join(f"{name} {n}" for name, n in record["parts"].items())
    lines.append(f"{record['classes']} classes in {len(record['groups'])} group(s), {record['images']} images: {parts}")
    if record["too_small"]:
        names = ", ".join(f"{c['class']} ({c['images']})" for c in record["too_small"][:SHOWN])
        more = len(record["too_small"]) - SHOWN
        lines.append(f"too small to be split (min_images=4 leaves them out): {names}{f' and {more} more' * (more > 0)}")
    shown = record["groups"] if all_groups else record["groups"][:30]
    width = max(5, *(len(g["group"]) for g in shown))
    lines.append(f"{'group':<{width}}  classes    images  per class")
    for g in shown:
        span = str(g["smallest"]) if g["smallest"] == g["largest"] else f"{g['smallest']} to {g['largest']}"
        lines.append(f"{g['group']:<{width}}  {g['classes']:>7}  {g['images']:>8}  {span}")
    if len(shown) < len(record["groups"]):
        lines.append(f"and {len(record['groups']) - len(shown)} more (--groups)")
    return lines
