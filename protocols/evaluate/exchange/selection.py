"""Which sequences are exported, and of what images: those of a run or a file, checked before anything is written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from protocols.evaluate.common.placed import placed, unique_names, view_of_sequences
from protocols.evaluate.common.source import Source, read_source
from seqsearch.core.digests import digest_of
from seqsearch.core.errors import UserError
from seqsearch.core.paths import at_home
from seqsearch.core.settings import MOST_TASKS, PoolSettings, growth_of
from seqsearch.core.text import nearest, shown
from seqsearch.core.typed import brief, fits
from seqsearch.core.types import Tasks
from seqsearch.pools.open import located_pools
from seqsearch.results.named import NamedSequence
from seqsearch.results.run import FOUND
from seqsearch.storage.files import cache_root
from seqsearch.study.run_settings import refers_to_code, run_settings
from seqsearch.training.sequence_folder import SCHEMA, record_of
from seqsearch.training.world import World

Images = Literal["copy", "paths", "none"]
NAMES_OF_SEQUENCES = "names of the exported sequences, in alphabetical order"
"""Title of the class list of sequences for which the user named neither a pool nor a list of names."""


@dataclass(frozen=True)
class ClassList:
    """Class names, in the order that gives each class its id; ``title`` says in messages and records where they come from."""

    title: str
    names: tuple[str, ...]


@dataclass(frozen=True)
class Wanted:
    """The requested sequences and the images for them.

    Attributes:
        source: the run or file that holds the sequences.
        sequences: ids; empty: all of ``which``.
        which: the kind of sequences; None: the found ones, or all if the source does not mark found ones. Sequences of the kind
            ``heldout``, which score makes of other pools, are never exported.
        pool: the pool of the images; None: that of the run.
        seed: seed of the split of the images; None: that of the run, or 0.
        by_name: whether classes are identified by name.
        names: the class list, for sequences without a pool.
    """

    source: str
    sequences: tuple[str, ...] = ()
    which: Literal["all", "found", "random"] | None = None
    pool: str | None = None
    seed: int | None = None
    by_name: bool = False
    names: ClassList | None = None


@dataclass(frozen=True)
class Chosen:
    """A sequence to export.

    Attributes:
        record: its description for the manifest (`seqsearch.training.sequence_folder.record_of`). Its entry ``tasks`` has names
            and ids of the classes.
        tasks: its tasks with their images; None if the source has class names only.
    """

    record: dict[str, Any]
    tasks: Tasks | None

    @property
    def name(self) -> str:
        return str(self.record["sequence_id"])

    @property
    def named_tasks(self) -> tuple[tuple[str, ...], ...]:
        """Names of the classes, task by task."""
        return tuple(tuple(c["name"] for c in task["classes"]) for task in self.record["tasks"])


def chosen(wanted: Wanted, images: Images) -> tuple[World | None, tuple[Chosen, ...]]:
    """The sequences to export, and the world that has their images; the world is None if the source has class names only.

    Raises:
        UserError: there is no such run, file, sequence or pool; the images of the pool are not those of the run; the pool does
            not have a class.
    """
    source = _selected(
        read_source(at_home(wanted.source), wanted.which or "all", wanted.by_name, one_length=False), wanted
    )
    world = _world(source, wanted)
    if world is None:
        if images != "none":
            raise UserError(f"{source.path} has names alone: give the --pool of their images, or --images none")
        listed = wanted.names or ClassList(NAMES_OF_SEQUENCES, all_class_names(source.named))
        return None, tuple(Chosen(record_of_names(s, listed), None) for s in source.named)
    if wanted.names is not None:
        raise UserError(
            f"--names is for sequences without a pool, and the classes of {world.pool} have names: leave it out"
        )
    sequences = placed(source, world)
    unique_names(source.path, sequences)
    view_of_sequences(world, sequences)
    return world, tuple(Chosen(record_of(world, s.sequence_id, s.tasks, s.seed), s.tasks) for s in sequences)


def _selected(source: Source, wanted: Wanted) -> Source:
    sequences = tuple(s for s in source.sequences if s.kind != "heldout")
    if wanted.which is None and not wanted.sequences:
        sequences = tuple(s for s in sequences if s.kind in FOUND) or sequences
    ids = tuple(s.sequence_id for s in sequences) if source.sequences else tuple(n.name for n in source.named)
    for name in wanted.sequences:
        if name not in ids:
            raise UserError(f"{source.path} has no sequence {brief(name)}; it has {_some(ids)}{nearest(name, ids)}")
    kept = set(wanted.sequences or ids)
    return replace(
        source,
        sequences=tuple(s for s in sequences if s.sequence_id in kept),
        named=tuple(n for n in source.named if n.name in kept),
    )


def _world(source: Source, wanted: Wanted) -> World | None:
    said = run_settings(source.path) if source.data is not None else {}
    if wanted.pool is None and not said:
        if source.sequences:
            raise UserError(f"{source.path} does not say what its images are: give the --pool that it was made on")
        return None
    pool = said.get("pool", "")
    grow = tuple(said.get("grow", ())) if wanted.pool is None else ()
    if wanted.pool is None and (code := next((t for t in (pool, *grow) if refers_to_code(t)), "")):
        raise UserError(f"{source.path} names code of its own, {shown(code)[:200]}: give it as --pool if you trust it")
    seed = said.get("seed", 0) if wanted.seed is None else wanted.seed
    if not fits(seed, int):
        raise UserError(f"{source.path}/config.json: seed is {brief(seed)}: restore it")
    checked = PoolSettings(pool=pool if wanted.pool is None else located_pools(wanted.pool, Path.cwd()), seed=seed)
    try:
        growth = tuple(growth_of(grow, MOST_TASKS))
    except UserError as error:
        raise UserError(f"{source.path}/config.json: {error}") from None
    return World(checked.pool, checked.seed, str(cache_root()), str(cache_root() / "states"), "cpu", growth)


def _some(ids: Sequence[str]) -> str:
    return ", ".join(map(repr, ids[:8])) + (f" and {len(ids) - 8} more" if len(ids) > 8 else "")


def all_class_names(sequences: Iterable[NamedSequence]) -> tuple[str, ...]:
    """The names of all classes of the sequences, in alphabetical order."""
    return tuple(sorted({c for s in sequences for task in s.tasks for c in task}))


def record_of_names(sequence: NamedSequence, listed: ClassList) -> dict[str, Any]:
    """A record like that of `seqsearch.training.sequence_folder.record_of`; ``class_id`` is the position in the class list.

    Raises:
        UserError: a class is not in the list.
    """
    ids = {name: i for i, name in enumerate(listed.names)}
    flat = [c for task in sequence.tasks for c in task]
    if missing := next((c for c in flat if c not in ids), None):
        raise UserError(
            f"sequence {brief(sequence.name)}: {listed.title} has no class {brief(missing)}{nearest(missing, listed.names)}"
        )
    label = {c: at for at, c in enumerate(flat)}
    return {
        "schema": SCHEMA,
        "sequence_id": sequence.name,
        "seed": None,
        "pool": {
            "name": listed.title,
            "digest": digest_of("names", list(listed.names)),
            "classes": len(listed.names),
        },
        "split_digest": None,
        "task_sizes": [len(task) for task in sequence.tasks],
        "tasks": [
            {"classes": [{"label": label[c], "class_id": ids[c], "name": c, "group": ""} for c in task]}
            for task in sequence.tasks
        ],
        "class_order": [ids[c] for c in flat],
    }
