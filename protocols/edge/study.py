"""What an EDGE study needs beyond any other: shares of classes, where their similarity comes from, own orders."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from protocols.edge.plan import objective_of
from protocols.edge.plan_settings import EdgePlanSettings, ExtremesSettings
from protocols.edge.settings import EdgeSettings
from seqsearch.backbones.base import FromScratch
from seqsearch.core.digests import digest_of, seeded_numpy
from seqsearch.core.errors import UserError
from seqsearch.core.grammar import parse_item
from seqsearch.core.paths import at_home
from seqsearch.core.registry import located, located_text
from seqsearch.core.types import ClassId, MethodSpec
from seqsearch.distribution.sampling import number_of_sequences
from seqsearch.extremes.objective import Problem, task_sizes
from seqsearch.methods.command import refuse
from seqsearch.methods.spec import check_memory
from seqsearch.pools.union import class_names
from seqsearch.results.frozen import source_path
from seqsearch.results.orders import Order, read_orders
from seqsearch.similarity.files import read
from seqsearch.similarity.matrix import Similarity
from seqsearch.similarity.names import from_names
from seqsearch.study.study import EVALUATE, Study, check_images, kept_classes, reads_frozen, resolved, view_of, world_of
from seqsearch.training.world import World

SUFFIXES = (".npy", ".csv", ".parquet")
"""Of files that hold a similarity matrix."""


@dataclass(frozen=True)
class SimilaritySource:
    """Where a similarity comes from: known already, or to be asked of a method that learns all classes at once.

    ``label`` is what the user called it.
    """

    label: str
    known: Similarity | None = None
    probe: Literal["prototypes", "confusion"] = "prototypes"


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
    """

    settings: EdgeSettings
    sizes: tuple[int, ...]
    names: tuple[str, ...]
    similarity: SimilaritySource
    others: tuple[SimilaritySource, ...]
    similarity_method: MethodSpec | None
    orders: tuple[Order, ...]

    def identity(self) -> dict[str, Any]:
        sources = (self.similarity, *self.others)
        said = {
            s.label: s.known.digest if s.known else f"{s.probe} of {self._similarity_method_digest()}" for s in sources
        }
        orders = digest_of("orders", [(o.name, o.tasks) for o in self.orders]) if self.orders else None
        return {**super().identity(), "similarity": said, "orders": orders, "task_sizes": list(self.sizes)}

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
            f"{len(indices)} classes in {settings.tasks} tasks leave a task with one class, in which nothing is told apart: "
            "lower --tasks, or have more classes in play (plans alone may have such tasks: --plan-only)"
        )
    if not Problem(np.zeros((len(indices),) * 2), sizes, objective_of(settings)).defined:
        raise UserError(
            f"--objective {settings.objective} says nothing of {settings.tasks} task(s) of {sizes[0]} classes: more --tasks, or "
            "another objective"
        )
    there = number_of_sequences(sizes) if settings.enumerate else 0
    if there > settings.enumerate_limit:
        raise UserError(
            f"--enumerate: {len(indices)} classes in {settings.tasks} tasks have {there:,} sequences, more than "
            f"--enumerate-limit {settings.enumerate_limit:,}: have fewer classes in play (--classes), or raise the limit"
        )
    check_memory(methods, len(indices))
    check_images(world, indices)
    all_names = class_names(world.images)
    names = tuple(all_names[i] for i in indices)
    similarity = source_of(settings.similarity, settings, names, directory)
    others = _others(settings, names, directory)
    similarity_method = None
    if any(s.known is None for s in (similarity, *others)):
        similarity_method = _looked_with(settings, world, directory)
        refuse(similarity_method, "--similarity-method")
        tags = {**tags, similarity_method.backbone: world.backbone(similarity_method.backbone).tag}
    elif settings.similarity_method:
        raise UserError(
            "--similarity-method is for --similarity prototypes or confusion: leave it out, or choose one of them"
        )
    orders = read_orders(source_path(directory, settings.orders), names, sizes) if settings.orders else ()
    return EdgeStudy(
        settings, world, {EVALUATE: view_of(world, indices)}, methods, tags, reads_frozen(methods), sizes, names, similarity,
        others, similarity_method, orders,
    )  # fmt: skip


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
    """What ``--similarity`` stands for.

    Raises:
        UserError: no such source, an encoder or a matrix that cannot be read.
    """
    if s.encoder and text != "names":
        raise UserError("--encoder encodes class names: leave it out, or ask for --similarity names")
    if text == "names":
        return SimilaritySource(text, from_names(names, s.encoder, template=s.template))
    if text in ("prototypes", "confusion"):
        return SimilaritySource(text, probe="prototypes" if text == "prototypes" else "confusion")
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


def _others(s: EdgeSettings, names: Sequence[str], directory: Path) -> tuple[SimilaritySource, ...]:
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


def planned_on(s: EdgePlanSettings, directory: Path) -> tuple[Similarity, dict[ClassId, tuple[str, str]]]:
    """The matrix to plan on, and id, name and group of its classes, in its order.

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
        found = read(directory / at_home(s.similarity))
        return found, {ClassId(found.digest, i): (name, "") for i, name in enumerate(found.names)}
    world = world_of(s, Path("."), "cpu", directory)
    indices, names = classes_in_play(world, s), class_names(world.images)
    known = source_of("names", s, [names[i] for i in indices], directory).known
    assert known is not None
    classes = [world.images.classes[i] for i in indices]
    return known, {c: (i.name, i.group) for c, i in zip(world.class_ids(indices), classes, strict=True)}
