"""The world of a study and the classes in play, found from its pools alone: no method and no backbone is looked for, and torch is
not imported."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from seqsearch.core.errors import UserError
from seqsearch.core.paths import at_home
from seqsearch.core.settings import PoolSettings, StudySettings
from seqsearch.planners.step import PoolView
from seqsearch.pools.open import located_pool, located_pools
from seqsearch.storage.files import cache_root
from seqsearch.training.world import World

EVALUATE, TUNE, HELD_OUT = "evaluate", "tune", "held-out"
"""Names of views: what is reported is measured on the first; hyperparameters are chosen on the second; nothing looks at the third
before all is decided."""


def world_of(settings: StudySettings | PoolSettings, states: Path, device: str, directory: Path) -> World:
    """The world of a study; files are looked for in ``directory``.

    Raises:
        UserError: an unknown pool or backbone.
    """
    world = World(
        located_pools(settings.pool, directory),
        settings.seed,
        str(cache_root()),
        str(states.resolve()),
        device,
        tuple((step, located_pool(pool, directory)) for step, pool in settings.growth()),
    )
    if not isinstance(settings, StudySettings):
        return world
    files = {b: str((directory / at_home(f)).absolute()) for b, f in settings.weight_files().items()}
    return replace(
        world,
        weights=tuple(files.items()),
        precision=settings.precision,
        augment=settings.augment,
        scenario=settings.scenario,
    )


def kept_classes(world: World, settings: PoolSettings) -> list[int]:
    """Indices of the classes that are not of an excluded group.

    Raises:
        UserError: there is no such group.
    """
    excluded, there = settings.excluded_groups(), {c.group for c in world.images.classes}
    if unknown := sorted(excluded - there):
        raise UserError(
            f"--exclude-groups {unknown[0]!r}: pool {world.pool!r} has no such group; it has {_some(sorted(there))}"
        )
    return [i for i, c in enumerate(world.images.classes) if c.group not in excluded]


def view_of(world: World, indices: Sequence[int]) -> PoolView:
    """These classes as planners see them, in this order."""
    arrivals = tuple(world.arrivals[world.images.part_of_class(i)[0]] for i in indices)
    groups = tuple(world.images.classes[i].group for i in indices)
    return PoolView(world.class_ids(indices), groups, world.split.digests(), arrivals)


def check_images(world: World, indices: Sequence[int]) -> None:
    """That these classes have the images that the split wants.

    Raises:
        UserError: a class is too small, a folder has empty files.
    """
    for part in world.images.parts:
        if hasattr(part, "check"):  # a folder knows of empty files without decoding anything
            part.check()
    world.split.check(indices)


def _some(names: list[str]) -> str:
    """The first names of a long list."""
    more = f" and {len(names) - 12} more (seqsearch pool show)" if len(names) > 12 else ""
    return ", ".join(names[:12]) + more
