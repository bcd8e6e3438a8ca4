"""The classes of an EDGE study and the matrices of its files, read from pools and files alone.

No method is looked for, and torch is not imported.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from protocols.edge.plan_settings import EdgePlanSettings, ExtremesSettings
from protocols.edge.settings import EdgeSettings
from seqsearch.core.digests import seeded_numpy
from seqsearch.core.errors import UserError
from seqsearch.core.paths import at_home
from seqsearch.core.types import ClassId
from seqsearch.extremes.objective import task_sizes
from seqsearch.pools.union import class_names
from seqsearch.results.frozen import source_path
from seqsearch.results.orders import read_orders
from seqsearch.similarity.cosines import PREFIX, ClassFeatures, read_features
from seqsearch.similarity.files import read
from seqsearch.similarity.matrix import Similarity
from seqsearch.similarity.names import from_names
from seqsearch.study.classes import check_images, kept_classes, world_of
from seqsearch.training.world import World

SUFFIXES = (".npy", ".csv", ".parquet")
"""Of files that hold a similarity matrix."""
SOURCES = ("names", "prototypes", "confusion")
"""Of similarities that are not in a file."""


@dataclass(frozen=True)
class SimilaritySource:
    """Where a similarity comes from: known already, or to be asked of a method that learns all classes at once.

    ``label`` is what the user called it.
    """

    label: str
    known: Similarity | None = None
    probe: Literal["prototypes", "confusion"] = "prototypes"


def look(settings: EdgeSettings, directory: Path) -> None:
    """Open pools, orders and matrices of files.

    Raises:
        UserError: one cannot be opened, or they do not go together.
    """
    world = world_of(settings, Path(), "cpu", directory)
    indices, all_names = classes_in_play(world, settings), class_names(world.images)
    check_images(world, indices)
    names = [all_names[i] for i in indices]
    if settings.similarity not in SOURCES:
        source_of(settings.similarity, settings, names, directory)
    if settings.orders:
        sizes = task_sizes(len(indices), settings.tasks, settings.initial_classes)
        read_orders(source_path(directory, settings.orders), names, sizes)


def classes_in_play(world: World, settings: ExtremesSettings) -> list[int]:
    """Their indices in the pool, in its order: all that are not excluded, the first of these, or a seeded draw.

    Raises:
        UserError: there are not so many.
    """
    kept, first = kept_classes(world, settings), settings.first_classes()
    wanted = first if first is not None else int(settings.classes)
    if wanted > len(kept):
        raise UserError(f"--classes {settings.classes}: pool {settings.pool!r} has {len(kept)} classes in play")
    if first is not None:
        return kept[:first]
    if not wanted:
        return kept
    drawn = seeded_numpy("classes", settings.seed).choice(len(kept), size=wanted, replace=False)
    return [kept[i] for i in sorted(drawn.tolist())]


def source_of(text: str, s: ExtremesSettings, names: Sequence[str], directory: Path) -> SimilaritySource:
    """Return the similarity source that ``--similarity`` names.

    Raises:
        UserError: no such source; or an encoder or a matrix cannot be read.
    """
    if s.encoder and text != "names":
        raise UserError("--encoder encodes class names: leave it out, or ask for --similarity names")
    if text == "names":
        return SimilaritySource(text, from_names(names, s.encoder, template=s.template))
    if text in ("prototypes", "confusion"):
        return SimilaritySource(text, probe="prototypes" if text == "prototypes" else "confusion")
    if text.startswith(PREFIX):
        raise UserError(
            f"--similarity {text[:80]}: features alone are for --plan-only; seqsearch score trains on its sequences"
        )
    path = directory / at_home(text)
    if not path.suffix:
        raise UserError(f"--similarity {text!r}: write names, prototypes, confusion, or a file ({', '.join(SUFFIXES)})")
    return SimilaritySource(text, matched(path, names))


def matched(path: Path, names: Sequence[str]) -> Similarity:
    """A matrix of a file for the classes in play: by name, or, where the file has no names, in their order.

    Raises:
        UserError: it lacks one of them, or has no names and another size.
    """
    if path.suffix == ".npy":
        return read(path, names)
    return read(path).restricted(names)


def others_of(s: EdgeSettings, names: Sequence[str], directory: Path) -> tuple[SimilaritySource, ...]:
    """Those of ``--encoders``: sources as in ``--similarity``, or else text encoders; of paths the last part is their label.

    Raises:
        UserError: one cannot be read, or two are called the same.
    """
    found: dict[str, SimilaritySource] = {}
    for text in filter(None, map(str.strip, s.encoders.split(","))):
        path = directory / at_home(text)
        label = path.name if os.path.exists(path) else text
        if label in found:
            raise UserError(f"--encoders {s.encoders[:80]}: two are called {label!r}: leave one out, or rename it")
        if text in ("prototypes", "confusion"):
            found[label] = source_of(text, s, names, directory)
        elif path.suffix in SUFFIXES:
            found[label] = SimilaritySource(label, matched(path, names))
        else:
            found[label] = SimilaritySource(
                label, from_names(names, "" if text == "names" else text, template=s.template)
            )
    return tuple(found.values())


def file_of(s: EdgePlanSettings, directory: Path) -> Path:
    """The file that ``--similarity`` names."""
    return directory / at_home(s.similarity.removeprefix(PREFIX))


def planned_on(
    s: EdgePlanSettings, directory: Path
) -> tuple[Similarity | ClassFeatures, dict[ClassId, tuple[str, str]]]:
    """The similarity to plan on, and id, name and group of its classes, in its order.

    Raises:
        UserError: it cannot be read, or would have to be computed by a method.
    """
    if s.similarity in ("prototypes", "confusion"):
        raise UserError(
            f"--plan-only trains nothing: make the matrix first (seqsearch similarity {s.similarity} --out FILE), then give "
            "the FILE"
        )
    if s.similarity != "names" and s.encoder:
        raise UserError("--encoder encodes class names: leave it out, or ask for --similarity names")
    if s.similarity != "names":
        path = file_of(s, directory)
        found = read_features(path) if s.similarity.startswith(PREFIX) else read(path)
        return found, {ClassId(found.digest, i): (name, "") for i, name in enumerate(found.names)}
    world = world_of(s, Path("."), "cpu", directory)
    indices, names = classes_in_play(world, s), class_names(world.images)
    known = source_of("names", s, [names[i] for i in indices], directory).known
    assert known is not None
    classes = [world.images.classes[i] for i in indices]
    return known, {c: (i.name, i.group) for c, i in zip(world.class_ids(indices), classes, strict=True)}
