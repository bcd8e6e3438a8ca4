"""The sources of ``seqsearch pool build``: folders, files, pools, those of a recipe, and their captions."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from protocols.evaluate.published.where import RECIPES
from seqsearch.building.recipe import Recipe, counted, read_recipe, there
from seqsearch.core.errors import UserError
from seqsearch.core.installation import shipped
from seqsearch.core.text import copyable, shown
from seqsearch.pools.open import build_pool, pool_item

if TYPE_CHECKING:
    from seqsearch.building.captioned import CaptionOptions, Found
    from seqsearch.building.pool import Report
    from seqsearch.pools.base import Pool


def check_out_named(sources: tuple[str, ...], out: Path, of_recipe: bool) -> None:
    """Raises UserError: one path stands alone, and it is a source: then it is OUT.parquet that is missing."""
    if not sources and not of_recipe and (out.suffix != ".parquet" or out.exists()):
        file = out.with_name(f"{out.stem or 'pool'}{'2' * (out.suffix == '.parquet')}.parquet")
        raise UserError(
            f"OUT.parquet is missing: {out} is a source, name the file to be made behind it, as in "
            f"seqsearch pool build {copyable(out)} {copyable(file)}"
        )


def named_sources(
    given: tuple[str, ...], recipe: Recipe | None, folder: Path | None, partial: bool
) -> list[tuple[str, str]]:
    """(name, source) of what goes in; a name that was not given is empty.

    Raises:
        UserError: neither sources nor a recipe with its folder, or both, or sources of the recipe are missing.
    """
    if recipe is not None and folder is not None and not given:
        return [(name, str(place)) for name, place in found_sources(recipe, folder, partial)]
    if recipe is not None or folder is not None or partial:
        raise UserError("--recipe and --from DIR go together, without SRC; --partial is of both")
    if not given:
        raise UserError("name sources before OUT.parquet: folders, .parquet files, pools; or --recipe NAME --from DIR")
    return [_named(text) for text in given]


def _named(text: str) -> tuple[str, str]:
    """A source as it is given: NAME=SRC, or SRC alone."""
    name, equals, source = text.partition("=")
    if not equals or ":" in name or "/" in name or os.path.exists(text):  # glyphs:classes=3 is no name
        return "", text
    return name, source


def opened_sources(sources: Sequence[tuple[str, str]], out: Path) -> list[tuple[str, Pool]]:
    """Each source with the name of its group.

    Raises:
        UserError: a source cannot be opened, or comes twice, or two have one name, or ``out`` would lie in one.
    """
    found: list[tuple[str, Pool]] = []
    for name, source in sources:
        opened = build_pool(source)
        target = pool_item(source).target
        name = name or (Path(target).resolve() if os.path.exists(target) else Path(target)).stem.removesuffix(".tar")
        if twin := next((n for n, p in found if p.digest == opened.digest), None):
            raise UserError(f"sources {twin!r} and {name!r} are the same: name it once")
        if name in dict(found):
            raise UserError(f"two sources are called {name!r}: name them, as in {name}2={source}")
        if os.path.isdir(target) and out.resolve().is_relative_to(Path(target).resolve()):
            raise UserError(f"{out} would lie in its own source {target}: write it to another folder")
        found.append((name, opened))
    return found


# ------------------------------------------------------------------------------------------------ recipes


def recipe_of(name: str) -> Recipe:
    """The recipe of that name, or in that YAML file.

    Raises:
        UserError: there is none, or it is not as a recipe should be.
    """
    if name.endswith((".yaml", ".yml")):
        return read_recipe(Path(name))
    if name not in RECIPES:
        raise UserError(f"--recipe {name}: name one ({', '.join(RECIPES)}), or a .yaml file")
    return read_recipe(shipped(RECIPES[name]))


def found_sources(recipe: Recipe, folder: Path, partial: bool) -> list[tuple[str, Path]]:
    """(name, place) of each source that is there; those that are not are said, with where to get them.

    Raises:
        UserError: no folder, or sources are missing and ``partial`` does not allow it.
    """
    if not folder.is_dir():
        raise UserError(f"--from {folder} is no folder: name the one that the sources of {recipe.name} lie in")
    found, missing = there(recipe, folder)
    for s in missing:
        click.echo(
            shown(f"missing: {folder / s.path}: get it from {s.where}" + f" ({s.note})" * bool(s.note)), err=True
        )
    if not found or (missing and not partial):
        raise UserError(
            f"{len(missing)} of {len(recipe.public)} sources of {recipe.name} are not in {folder}, as listed above: first "
            f"{missing[0].path} from {missing[0].where}" + (" (--partial makes a pool of the others)" if found else "")
        )
    return found


def recipe_record(recipe: Recipe, names: list[str], report: Report) -> dict[str, Any]:
    """Return the outcome of a recipe as plain values: counts by source, missing and unpublished sources, notes."""
    lines = counted(recipe, names, report.classes)
    return {
        "name": recipe.name,
        "sources": [{**dataclasses.asdict(c), "agrees": c.agrees} for c in lines],
        "missing": [s.name for s in recipe.public if s.name not in names],
        "not_published": [s.name for s in recipe.sources if not s.published],
        "notes": list(recipe.notes),
    }


def recipe_lines(made: dict[str, Any]) -> list[str]:
    """The same as text: each source with its counts, and the printed ones where they are others."""
    lines = [f"recipe {made['name']}: classes and images, as printed where nothing else is said"]
    for c in made["sources"]:
        other = "" if c["agrees"] else f", printed {c['printed_classes']:,} and {c['printed_images']:,}"
        lines.append(f"  {c['name']}: {c['classes']:,} classes, {c['images']:,} images{other}")
    for what, key in (("missing", "missing"), ("not published, left out", "not_published")):
        if made[key]:
            lines.append(f"  {what}: {', '.join(made[key])}")
    return [shown(line) for line in [*lines, *made["notes"]]]


# ------------------------------------------------------------------------------------------------ captions


def caption_flags(command: Callable[..., Any]) -> Callable[..., Any]:
    """The flags of captions, in the order of the help."""
    flags = (
        click.option(
            "--captions", type=click.Path(path_type=Path), metavar="FILE|DIR",
            help="Texts of the images of SRC: .jsonl, .csv, .parquet, or a folder with a .txt for each image.",
        ),
        click.option(
            "--caption-columns", "columns", metavar="NAMES|default|all",
            help="Make them of these columns of --captions: the [name] is [value]; default: those of DVM-CAR.",
        ),
        click.option(
            "--bound", metavar="COLUMN",
            help="Field of --captions that says what an image is of: those of one value stay in one part of a split.",
        ),
        click.option(
            "--leaks", type=click.Choice(["full", "head", "keep"]),
            help="Drop captions that hold the class's name (full), or its last word (head).  [default: full with --captions]",
        ),
        click.option(
            "--synonyms", type=click.Path(path_type=Path), metavar="FILE.json",
            help='Other names of classes, looked for as their names are: {"class": ["other name", ...]}.',
        ),
        click.option(
            "--captioned-only", is_flag=True, help="Leave out images without a caption, and captions without an image."
        ),
    )  # fmt: skip
    for flag in reversed(flags):
        command = flag(command)
    return command


def asked_captions(
    captions: Path | None,
    columns: str | None,
    bound: str | None,
    leaks: str | None,
    synonyms: Path | None,
    captioned_only: bool,
) -> CaptionOptions | None:
    """Return the caption options that the flags ask for; None if no flag asks for captions.

    Raises:
        UserError: a flag that needs ``--captions`` is given without it; or ``--synonyms`` is combined with ``--leaks
            keep``.
    """
    from seqsearch.building.captioned import CaptionOptions

    if captions is None and (columns is not None or bound is not None or captioned_only):
        flag = "--caption-columns" if columns is not None else "--bound" if bound is not None else "--captioned-only"
        raise UserError(f"{flag} belongs to --captions FILE: give that too, or leave it out")
    if synonyms is not None and leaks == "keep":
        raise UserError(
            "--synonyms are names that --leaks looks for, and --leaks keep looks for none: leave one of them out"
        )
    if captions is None and leaks is None and synonyms is None:
        return None
    return CaptionOptions(captions, columns, bound, leaks or "full", synonyms, captioned_only)


def captioned_sources(
    named: Sequence[tuple[str, Pool]], asked: CaptionOptions | None
) -> tuple[list[tuple[str, Pool]], dict[str, Found]]:
    """The sources with their captions, and what was seen of these by source.

    Raises:
        UserError: ``--captions`` with several sources, ``--leaks`` with sources that have no captions, or see
            `seqsearch.building.captioned.captioned`.
    """
    from seqsearch.building.captioned import captioned

    if asked is None:
        return list(named), {}
    if asked.source is not None and len(named) > 1:
        raise UserError(
            f"--captions {asked.source} is of one SRC, here are {len(named)}: make a file of each, then one of these files "
            "(captions stay)"
        )
    asking = "--leaks" if asked.synonyms is None else "--synonyms"
    sources: list[tuple[str, Pool]] = []
    said = {}
    for name, pool in named:
        if asked.source is None and not getattr(pool, "captioned", False):
            raise UserError(
                f"{asking}: source {name!r} has no captions: give them with --captions, or leave {asking} out"
            )
        with_captions, said[name] = captioned(pool, asked)
        sources.append((name, with_captions))
    return sources, said
