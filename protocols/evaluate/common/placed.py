"""Sequences of a source as tasks of a world, found from its pools alone.

No method is looked for, and torch is not imported.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from protocols.evaluate.common.settings import EvaluateSettings
from protocols.evaluate.common.source import Source, read_source
from seqsearch.core.errors import UserError
from seqsearch.core.text import nearest
from seqsearch.core.typed import brief
from seqsearch.core.types import ClassId, Task
from seqsearch.planners.step import PoolView
from seqsearch.pools.open import located_pools
from seqsearch.pools.union import class_names
from seqsearch.results.class_aliases import called
from seqsearch.results.frozen import source_path
from seqsearch.results.named import NamedSequence
from seqsearch.results.rows import TaskSequence
from seqsearch.study.classes import check_images, view_of, world_of
from seqsearch.training.world import World


def look(settings: EvaluateSettings, directory: Path) -> None:
    """Open sequences and pools.

    Raises:
        UserError: sequences that cannot be read, or of classes that the pools have not.
    """
    source = read_source(source_path(directory, settings.source), settings.which, settings.by_name)
    if not settings.further_pools():
        source = replace(source, sequences=tuple(s for s in source.sequences if s.kind != "heldout"))
    own = world = world_of(settings, Path(), "cpu", directory)
    if settings.further_pools():
        world = replace(world, pool=f"{world.pool},{located_pools(settings.further_pools(), directory)}")
    view_of_sequences(world, placed(source, own if source.named else world))


def placed(source: Source, world: World) -> tuple[TaskSequence, ...]:
    """The sequences of a source as tasks of this world.

    Raises:
        UserError: they are of other images, of another split, or of classes that are not there.
    """
    if not source.named:
        return tuple(_by_digest(source, s, world) for s in source.sequences)
    indices = {name: i for i, name in enumerate(class_names(world.images))}
    if source.classes:
        indices |= {c: indices[name] for c, name in called(source.classes, list(indices), str(source.path)).items()}
    known = {s.sequence_id: s for s in source.sequences}
    return tuple(_by_name(source, n, known.get(n.name), world, indices) for n in source.named)


def view_of_sequences(world: World, sequences: Iterable[TaskSequence]) -> PoolView:
    """The classes of sequences, in the order of the pool.

    Raises:
        UserError: one of them has too few images.
    """
    indices = sorted({world.class_index(c) for s in sequences for t in s.tasks for c in t.classes})
    check_images(world, indices)
    return view_of(world, indices)


def unique_names(path: Path, sequences: Iterable[TaskSequence]) -> None:
    """Raises UserError: two sequences are called the same."""
    times = Counter(s.sequence_id for s in sequences)
    if twice := next((name for name, n in times.items() if n > 1), None):
        raise UserError(f"{path}: sequence {brief(twice)} would come twice: give it another name")


def _by_digest(source: Source, s: TaskSequence, world: World) -> TaskSequence:
    where = f"{source.path}: sequence {s.sequence_id!r}"
    sizes = {p.digest: len(p.classes) for p in world.images.parts}
    for c in (c for t in s.tasks for c in t.classes):
        if c.pool not in sizes:
            raise UserError(
                f"{where} is of a pool whose images are not those of --pool {world.pool}: name the pool that it was made on, or "
                "take classes by their names (--by-name)"
            )
        if not 0 <= c.index < sizes[c.pool]:
            raise UserError(f"{where} has class {c.index} of a pool of {sizes[c.pool]} classes: restore the file")
    tasks = tuple(_task(world, t.classes) for t in s.tasks)
    if any(ours.split != theirs.split for ours, theirs in zip(tasks, s.tasks, strict=True)):
        raise UserError(
            f"{where} was split into training and test images with another --seed than {world.seed}: give that seed, or take "
            "classes by their names (--by-name)"
        )
    return replace(s, tasks=tasks)


def _by_name(
    source: Source, n: NamedSequence, known: TaskSequence | None, world: World, indices: dict[str, int]
) -> TaskSequence:
    missing = [c for task in n.tasks for c in task if c not in indices]
    if missing:
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise UserError(
            f"{source.path}: sequence {n.name!r} has class {brief(missing[0])}{more}, which --pool {world.pool} has not "
            f"(seqsearch pool show lists its classes){nearest(missing[0], indices)}"
        )
    tasks = tuple(_task(world, world.class_ids(indices[c] for c in task)) for task in n.tasks)
    if known is not None:
        return replace(known, tasks=tasks)
    return TaskSequence(n.name, source.kinds.get(n.name, "given"), (), world.seed, tasks, (None,) * len(tasks))


def _task(world: World, classes: Sequence[ClassId]) -> Task:
    return world.task(world.class_index(c) for c in sorted(classes))
