"""The images of a run, or of a pool and a seed: their classes, and how each class is split."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seqsearch.core.errors import UserError
from seqsearch.core.paths import at_home
from seqsearch.core.settings import MOST_TASKS, PoolSettings, growth_of
from seqsearch.core.text import shown
from seqsearch.core.typed import brief, fits
from seqsearch.core.types import ClassId
from seqsearch.pools.open import located_pools
from seqsearch.results.rows import TaskSequence
from seqsearch.results.run import read_config
from seqsearch.results.schema import SEQUENCES
from seqsearch.results.tables import read_sequences
from seqsearch.storage.files import cache_root
from seqsearch.study.classes import check_images, kept_classes
from seqsearch.study.run_settings import refers_to_code, run_settings
from seqsearch.training.world import World


@dataclass(frozen=True)
class SplitImages:
    """Classes whose images are split.

    Attributes:
        classes: indices in the world, increasing.
        too_small: of those that cannot be split, which a run therefore had no use for.
        sequences: of the run; None without a run, or where it has none yet.
    """

    world: World
    classes: tuple[int, ...]
    too_small: tuple[int, ...] = ()
    sequences: tuple[TaskSequence, ...] | None = None

    @property
    def used(self) -> frozenset[int] | None:
        """Indices of the classes that are in a sequence of the run; None where there are no sequences."""
        if self.sequences is None:
            return None
        return frozenset(self.world.class_index(c) for s in self.sequences for t in s.tasks for c in t.classes)


def images_of_pool(pool: str, seed: int = 0) -> SplitImages:
    """All classes of a pool, or of several with commas between, split by ``seed`` as a run with this ``--seed`` does.

    Raises:
        UserError: no such pool, a seed out of bounds, a class that is too small to be split.
    """
    settings = PoolSettings(pool=located_pools(pool, Path.cwd()), seed=seed)
    world = _world(settings)
    classes = range(len(world.images.classes))
    check_images(world, classes)
    return SplitImages(world, tuple(classes))


def images_of_run(run: Path, pool: str | None = None) -> SplitImages:
    """The classes of a run that could come in it: those of its pools that can be split and are of no excluded group.

    Args:
        pool: where its images lie now, if elsewhere, or its own code, which is not run unasked.

    Raises:
        UserError: no run, a run without images, other images or another split than it had, a damaged file.
    """
    run = at_home(run)
    said, identity = run_settings(run), read_config(run).get("identity")
    digests = [identity.get(n) if isinstance(identity, dict) else None for n in ("pool_digest", "split_digest")]
    if "pool" not in said or not all(isinstance(d, str) for d in digests):
        raise UserError(
            f"{run}/config.json does not say which images of a pool it used (runs of streams and of edge --plan-only do not): "
            "name a run that does, or a pool and a seed (--pool, --seed)"
        )
    world, settings = _world_of_run(run, said, pool)
    if world.images.digest != digests[0]:
        raise UserError(
            f"{run}: the images of --pool {shown(world.pool)[:200]} are not those that the run used: restore them, or name where "
            "they lie (--pool)"
        )
    if world.split.digest != digests[1]:
        raise UserError(
            f"{run}/config.json: seed {settings.seed} does not give the split that the run used: restore it"
        )
    kept = kept_classes(world, settings)
    too_small = [c for c in kept if not _can_be_split(world, c)]
    sequences = _sequences(run, world)
    return SplitImages(world, tuple(c for c in kept if c not in set(too_small)), tuple(too_small), sequences)


def _world(settings: PoolSettings, growth: Sequence[tuple[int, str]] = ()) -> World:
    root = cache_root()
    return World(settings.pool, settings.seed, str(root), str(root / "states"), "cpu", tuple(growth))


def _world_of_run(run: Path, said: dict[str, Any], pool: str | None) -> tuple[World, PoolSettings]:
    """Raises UserError: settings that are none, or code of its own."""
    own = ",".join(p for p in (said["pool"], said.get("heldout_pool")) if p)
    grow = () if pool is not None else tuple(said.get("grow", ()))
    if pool is None and (code := next((t for t in (own, *grow) if refers_to_code(t)), "")):
        raise UserError(f"{run} names code of its own, {shown(code)[:200]}: give it as --pool if you trust it")
    excluded = said.get("exclude_groups", "")
    if not fits(excluded, str) or not fits(said.get("seed", 0), int):
        raise UserError(
            f"{run}/config.json: seed or exclude_groups is {brief([said.get('seed'), excluded])}: restore it"
        )
    text = own if pool is None else located_pools(pool, Path.cwd())
    try:
        settings = PoolSettings(pool=text, seed=said.get("seed", 0), exclude_groups=excluded)
        growth = growth_of(grow, MOST_TASKS)
    except UserError as error:
        raise UserError(f"{run}/config.json: {error}") from None
    return _world(settings, growth), settings


def _can_be_split(world: World, index: int) -> bool:
    try:
        world.split.check([index])
    except UserError:
        return False
    return True


def _sequences(run: Path, world: World) -> tuple[TaskSequence, ...] | None:
    """Raises UserError: a link or a damaged file, or classes that are not in this world."""
    if not os.path.lexists(run / SEQUENCES.file):
        return None
    found = tuple(read_sequences(run / SEQUENCES.file))
    _check_classes(run / SEQUENCES.file, world, (c for s in found for t in s.tasks for c in t.classes))
    return found


def _check_classes(path: Path, world: World, classes: Iterable[ClassId]) -> None:
    sizes = {p.digest: len(p.classes) for p in world.images.parts}
    for c in classes:
        if c.pool not in sizes or not 0 <= c.index < sizes[c.pool]:
            raise UserError(f"{path}: class {c.index} of pool {brief(c.pool)} is not among the run's: restore the file")
