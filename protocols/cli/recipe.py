"""``seqsearch pool build --recipe``: the sources of a recipe, found in a folder, and its counts. Heavy imports are inside."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from protocols.evaluate.published.where import RECIPES
from seqsearch.building.recipe import Recipe, counted, read_recipe, there
from seqsearch.core.errors import UserError
from seqsearch.core.installation import shipped
from seqsearch.core.text import shown

if TYPE_CHECKING:
    from seqsearch.building.pool import Report


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
    """What became of the recipe, in plain values."""
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
