"""Checks the inputs of an EDGE study: task sizes, the source of the class similarity, the user's own class orders."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from protocols.edge.partition import Partition, partition_of
from protocols.edge.plan import objective_of
from protocols.edge.settings import FEWEST_ORDERS, EdgeSettings
from protocols.edge.sources import SimilaritySource, classes_in_play, others_of, source_of
from seqsearch.backbones.base import FromScratch
from seqsearch.core.digests import digest_of
from seqsearch.core.errors import UserError
from seqsearch.core.grammar import parse_item
from seqsearch.core.registry import located, located_text
from seqsearch.core.text import counted
from seqsearch.core.types import MethodSpec
from seqsearch.extremes.heuristics import is_flat
from seqsearch.extremes.objective import Problem, task_sizes
from seqsearch.methods.command import refuse
from seqsearch.methods.spec import check_memory
from seqsearch.pools.union import class_names
from seqsearch.results.frozen import source_path
from seqsearch.results.orders import Order, read_orders
from seqsearch.stats.sampling import number_of_sequences
from seqsearch.study.classes import EVALUATE, check_images, view_of
from seqsearch.study.study import Study, reads_frozen, resolved
from seqsearch.training.world import World


@dataclass(frozen=True)
class EdgeStudy(Study):
    """A checked study.

    Attributes:
        sizes: classes of each task ``[K]``.
        names: of the classes in play ``[N]``, all different.
        similarity: where it comes from.
        others: further similarities, whose extremes are compared (``--encoders``).
        similarity_method: the method behind prototypes and confusion; None where all similarities are known.
        orders: own class orders.
        partition: whether tasks are the same in all sequences, and which.
    """

    settings: EdgeSettings
    sizes: tuple[int, ...]
    names: tuple[str, ...]
    similarity: SimilaritySource
    others: tuple[SimilaritySource, ...]
    similarity_method: MethodSpec | None
    orders: tuple[Order, ...]
    partition: Partition

    def identity(self) -> dict[str, Any]:
        sources = (self.similarity, *self.others)
        said = {
            s.label: s.known.digest if s.known else f"{s.probe} of {self._similarity_method_digest()}" for s in sources
        }
        orders = digest_of("orders", [(o.name, o.tasks) for o in self.orders]) if self.orders else None
        fixed = {"tasks": [list(task) for task in self.partition.given]} if self.partition.given else {}
        return {**super().identity(), "similarity": said, "orders": orders, "task_sizes": list(self.sizes), **fixed}

    def _similarity_method_digest(self) -> str:
        return self.similarity_method.digest if self.similarity_method else ""


def prepare(settings: EdgeSettings, states: Path, device: str, directory: Path | None = None) -> EdgeStudy:
    """Resolve and check all names; files are looked for in ``directory`` (default: the current one).

    Raises:
        UserError: an unknown name, too few classes, a class too small to split, weights that do not load, a similarity that
            cannot be read, orders of other classes.
    """
    directory = directory or Path.cwd()
    world, methods, tags = resolved(settings, states, device, directory, settings.tasks)
    indices = classes_in_play(world, settings)
    sizes = task_sizes(len(indices), settings.tasks, settings.initial_classes)
    if min(sizes) < 2:
        raise UserError(
            f"{len(indices)} classes in {settings.tasks} tasks leave a task with one class, which needs no classifier: "
            "lower --tasks, or have more classes in play (plans alone may have such tasks: --plan-only)"
        )
    all_names = class_names(world.images)
    names = tuple(all_names[i] for i in indices)
    orders = read_orders(source_path(directory, settings.orders), names, sizes) if settings.orders else ()
    partition = partition_of(settings.partition == "fixed", sizes, settings.seed, [o.tasks for o in orders])
    _check_objective(settings, partition)
    there = number_of_sequences(partition.units) if settings.enumerate else 0
    if there > settings.enumerate_limit:
        raise UserError(
            f"--enumerate: {len(indices)} classes in {settings.tasks} tasks have {there:,} sequences, more than "
            f"--enumerate-limit {settings.enumerate_limit:,}: have fewer classes in play (--classes), or raise the limit"
        )
    if settings.robust_within:
        _check_different(settings, partition)
    check_memory(methods, len(indices))
    check_images(world, indices)
    similarity = source_of(settings.similarity, settings, names, directory)
    others = others_of(settings, names, directory)
    similarity_method = None
    if any(s.known is None for s in (similarity, *others)):
        similarity_method = _looked_with(settings, world, directory)
        refuse(similarity_method, "--similarity-method")
        tags = {**tags, similarity_method.backbone: world.backbone(similarity_method.backbone).tag}
    elif settings.similarity_method:
        raise UserError(
            "--similarity-method is for --similarity prototypes or confusion: leave it out, or choose one of them"
        )
    _check_heuristics(settings, partition, similarity)
    return EdgeStudy(
        settings,
        world,
        {EVALUATE: view_of(world, indices)},
        methods,
        tags,
        reads_frozen(methods),
        sizes,
        names,
        similarity,
        others,
        similarity_method,
        orders,
        partition,
    )


def _check_different(settings: EdgeSettings, partition: Partition) -> None:
    """Raises UserError: too few of the random orders differ for a bound of the spread over orders."""
    different = len({partition.random(settings.seed, number) for number in range(settings.crossed)})
    if different < FEWEST_ORDERS:
        possible = number_of_sequences(partition.units)
        few = possible < FEWEST_ORDERS
        raise UserError(
            f"--robust-within takes {FEWEST_ORDERS} or more different orders: {settings.crossed} random ones have {different}, "
            f"of {possible:,} that there are: "
            + ("have more tasks" if few else "raise --crossed-orders and --random-sequences, or have more tasks")
        )


def _check_objective(settings: EdgeSettings, partition: Partition) -> None:
    """Raises UserError: the objective has no value for sequences of this shape."""
    if not Problem(np.zeros((sum(partition.units),) * 2), partition.units, objective_of(settings)).defined:
        of = "in a fixed partition" if partition.given else f"of {partition.sizes[0]} classes"
        raise UserError(
            f"--objective {settings.objective} says nothing of {counted(settings.tasks, 'task')} {of}: more "
            "--tasks, or another objective"
        )


def _check_heuristics(settings: EdgeSettings, partition: Partition, similarity: SimilaritySource) -> None:
    """Raises UserError: no order follows from a similarity that is known already."""
    if settings.heuristics and similarity.known and is_flat(np.asarray(partition.similarity(similarity.known).values)):
        raise UserError(
            f"--heuristics {settings.heuristics[:60]}: the similarity is the same for all pairs, so no order follows from it: "
            "give another --similarity, or leave --heuristics out"
        )


def _looked_with(settings: EdgeSettings, world: World, directory: Path) -> MethodSpec:
    """The method behind prototypes and confusion.

    Raises:
        UserError: unknown, or features of a network that begins from scratch.
    """
    item = parse_item(settings.similarity_method or "simplecil", "method")
    default = located_text(settings.backbone, "backbone", directory)
    if not settings.similarity_method and isinstance(world.backbone(default), FromScratch):
        raise UserError(
            f"--similarity {settings.similarity}: backbone {settings.backbone!r} begins from scratch, its features say "
            "nothing of classes: give --similarity names, or --similarity-method METHOD, one that trains or has another "
            "@BACKBONE"
        )
    return world.spec(located(item, directory), default)
