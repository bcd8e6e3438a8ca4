"""Class orders of both phases: the classes in play and their order, the same for all methods and settings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from protocols.gtep.settings import GtepSettings
from seqsearch.core.digests import digest_of, seeded_numpy
from seqsearch.core.errors import UserError
from seqsearch.core.types import EvaluationSplit, MethodSpec, Rollout, StateKey, Tasks, reported
from seqsearch.extremes.objective import task_sizes
from seqsearch.formats.lamda import shuffled
from seqsearch.planners.replicates import FITTED, SCORING, TUNING
from seqsearch.pools.open import located_pools, pool_texts
from seqsearch.pools.union import Union
from seqsearch.study.classes import world_of
from seqsearch.training.world import World

Phase = Literal["tune", "judge", "fresh"]
"""Orders to choose on; to evaluate on; and others of the pool that was tuned on, which nothing was chosen by."""
FRESH_FROM = 10_000
FIRST_SEED: dict[Phase, int] = {"tune": TUNING, "judge": SCORING, "fresh": FITTED}


def look(settings: GtepSettings, directory: Path) -> None:
    """See `protocols.running.protocol.Protocol.look`."""
    texts = [settings.tune_pool, *settings.pool]
    world = world_of(settings.in_one_world(), Path(), "cpu", directory)
    whole, _ = indices_of(world, texts, directory)
    sizes_of(settings, {text: len(w) for text, w in zip(texts, whole, strict=True)})


@dataclass(frozen=True)
class Side:
    """A pool of one phase: what the user called it, and the indices in the world of its classes in play ``[N]``."""

    text: str
    classes: tuple[int, ...]
    there: int
    """Classes that the pool has."""


@dataclass(frozen=True)
class Scenario:
    """Scenario of both phases.

    Attributes:
        sizes: classes of each task ``[T]``.
        numpy: whether class orders are those of the public toolboxes.
    """

    sizes: tuple[int, ...]
    numpy: bool = False

    def order(self, world: World, side: Side, phase: Phase, seed: int, number: int) -> Tasks:
        """The tasks of one class order: a draw of its own from those in play, by pool and ``number``.

        Orders of the toolboxes are by ``number`` alone; further ones of the pool that was tuned on begin with `FRESH_FROM`.
        """
        if self.numpy:
            taken = shuffled(number + FRESH_FROM * (phase == "fresh"), len(side.classes))
            drawn = np.array(sorted(side.classes))[list(taken)]
        else:
            named = digest_of("gtep-side", [(c.pool, c.index) for c in world.class_ids(side.classes)])
            drawn = seeded_numpy("gtep-order", phase, named, seed, number).permutation(side.classes)
        ends = [sum(self.sizes[: t + 1]) for t in range(len(self.sizes))]
        return tuple(world.task(sorted(drawn[e - n : e].tolist())) for e, n in zip(ends, self.sizes, strict=True))

    def rollouts(
        self, world: World, side: Side, phase: Phase, spec: MethodSpec, orders: int, evaluated: EvaluationSplit
    ) -> tuple[Rollout, ...]:
        """A setting on so many orders, each with the training seed of its number; on ``test`` all other images are learned."""
        found = []
        for number in range(orders):
            tasks = self.order(world, side, phase, world.seed, number)
            key = StateKey(
                spec, world.seed, FIRST_SEED[phase] + number, reported(tasks) if evaluated == "test" else tasks
            )
            found.append(Rollout(key, evaluated, leaf=True))
        return tuple(found)


def sequence_id(phase: Phase, side: int | None, number: int) -> str:
    """Return the id of an order.

    Examples: ``tune-0``, ``tune-on-1-0`` (conventionally, on the second pool), ``judge-1-0``, ``fresh-0``.
    """
    if side is None:
        return f"{phase}-{number}"
    return f"tune-on-{side}-{number}" if phase == "tune" else f"{phase}-{side}-{number}"


def evaluates(sequence: str) -> bool:
    """Whether it is an order of a evaluation pool, by its `sequence_id`."""
    return sequence.startswith("judge-")


def sizes_of(settings: GtepSettings, there: dict[str, int]) -> tuple[int, ...]:
    """Classes of each task ``[T]``; ``there``: classes of each pool by its text.

    Raises:
        UserError: a pool has too few, or pools that would give different scenarios.
    """
    k, first, tasks = settings.classes_per_task, settings.first_task, settings.tasks
    if k:
        needed = (first or k) + (tasks - 1) * k
        if short := next(((p, n) for p, n in there.items() if n < needed), None):
            raise UserError(
                f"{tasks} tasks of {k} classes{f', the first of {first},' * bool(first)} need {needed} classes, and pool "
                f"{short[0]!r} has {short[1]}: lower --tasks, --classes-per-task or --first-task"
            )
        return (first or k,) + (k,) * (tasks - 1)
    if len(set(there.values())) > 1:
        said = ", ".join(f"{p} has {n}" for p, n in there.items())
        raise UserError(f"pools of different class counts are different scenarios ({said}): give --classes-per-task")
    if first and (next(iter(there.values())) - first) < 2 * (tasks - 1):
        raise UserError(
            f"--first-task {first} leaves no {tasks - 1} tasks of two classes or more: lower it, or --tasks"
        )
    sizes = task_sizes(next(iter(there.values())), tasks, first)
    if min(sizes) < 2:
        raise UserError(f"--tasks {tasks} leaves a task with one class, which needs no classifier: lower --tasks")
    return sizes


def indices_of(world: World, texts: Sequence[str], directory: Path) -> tuple[list[list[int]], list[Union]]:
    """Each of these pools, which may be several as one: indices in the world of its classes, and the pool by itself."""
    found, unions, at, part = list[list[int]](), list[Union](), 0, 0
    for text in texts:
        parts = len(pool_texts(located_pools(text, directory)))
        unions.append(Union(world.images.parts[part : part + parts]))
        count = len(unions[-1].classes)
        found.append(list(range(at, at + count)))
        at, part = at + count, part + parts
    return found, unions
