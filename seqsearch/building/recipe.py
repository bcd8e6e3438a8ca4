"""Recipes of pools: which data sets go in, where to get them, and how many classes and images a paper says they have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from seqsearch.core.errors import UserError
from seqsearch.core.typed import brief
from seqsearch.core.yaml_file import read_mapping, record

SCHEMA = "seqsearch-pool-recipe/1"
LARGEST, DEEPEST = 1 << 18, 5
"""Bytes of the file; lists and mappings within each other."""
SUFFIXES = ("", ".parquet")
"""Suffixes of a source: a folder has none, a file made of it has ``.parquet``."""


@dataclass(frozen=True)
class Source:
    """A data set of a pool; its name is the group of its classes.

    Attributes:
        path: folder, or .parquet file, below the one that ``--from`` names.
        where: its public address.
        classes: as printed; ``images`` too.
        licence: as its source says; empty: not known here.
        published: whether anybody can get it; if not, it is left out.
        note: what must be done with it first, or is odd about it.
    """

    name: str
    path: str
    where: str
    classes: int
    images: int
    licence: str = ""
    published: bool = True
    note: str = ""


@dataclass(frozen=True)
class Recipe:
    """A pool: ``sources`` in the order of the paper, whose ``classes`` and ``images`` are what it prints of all together."""

    name: str
    title: str
    min_images: int
    classes: int
    images: int
    sources: tuple[Source, ...]
    notes: tuple[str, ...] = ()

    @property
    def public(self) -> list[Source]:
        """Sources that anybody can get. The others are left out of the pool."""
        return [s for s in self.sources if s.published]


@dataclass(frozen=True)
class Counted:
    """Classes and images of a source in the pool that was made, beside the printed ones."""

    name: str
    classes: int
    images: int
    printed_classes: int
    printed_images: int

    @property
    def agrees(self) -> bool:
        """They are the printed ones."""
        return (self.classes, self.images) == (self.printed_classes, self.printed_images)


def read_recipe(path: Path) -> Recipe:
    """A recipe from a YAML file.

    Raises:
        UserError: it cannot be read; a key is unknown or lacks; two sources have one name or path; a path leads elsewhere.
    """
    recipe = record(str(path), read_mapping(path, LARGEST, DEEPEST, SCHEMA), Recipe)
    for what in ("name", "path"):
        said = [getattr(s, what) for s in recipe.sources]
        if twice := next((n for n in said if said.count(n) > 1), None):
            raise UserError(f"{path}: two sources have the {what} {brief(twice)}")
    if wrong := next((s for s in recipe.sources if "/" in s.name or "=" in s.name or not s.name.strip()), None):
        raise UserError(f"{path}: a source cannot be called {brief(wrong.name)}: it is a group's name, without / and =")
    if away := next((s for s in recipe.sources if Path(s.path).is_absolute() or ".." in Path(s.path).parts), None):
        raise UserError(f"{path}: {away.name}: path {brief(away.path)} must lie below the folder that --from names")
    counts = [(s.name, s.classes, s.images) for s in recipe.sources] + [(recipe.name, recipe.classes, recipe.images)]
    if odd := next((name for name, *numbers in counts if min(numbers) < 1), None):
        raise UserError(f"{path}: {odd}: classes and images must be from 1")
    if not recipe.public or recipe.min_images < 1:
        raise UserError(f"{path} must have a source that is published, and min_images from 1")
    return recipe


def there(recipe: Recipe, folder: Path) -> tuple[list[tuple[str, Path]], list[Source]]:
    """The sources that lie in ``folder``, each with its place, and those that do not."""
    found, missing = [], []
    for source in recipe.public:
        places = [folder / f"{source.path}{suffix}" for suffix in SUFFIXES]
        place = next((p for p in places if p.exists()), None)
        if place is None:
            missing.append(source)
        else:
            found.append((source.name, place))
    return found, missing


def counted(recipe: Recipe, names: Sequence[str], made: Sequence[tuple[str, str, int]]) -> list[Counted]:
    """Count the classes and images of the sources ``names`` in the pool, whose (group, class, images) are ``made``."""
    lines = []
    for source in recipe.public:
        if source.name not in names:
            continue
        own = [n for g, _, n in made if len(names) == 1 or g == source.name or g.startswith(f"{source.name}/")]
        lines.append(Counted(source.name, len(own), sum(own), source.classes, source.images))
    return lines
