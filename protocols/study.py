"""Everything a protocol needs before it starts: pool, classes in play, methods; checked before any compute is spent."""

from __future__ import annotations

import platform
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from seqsearch.digests import seeded_numpy
from seqsearch.errors import UserError
from seqsearch.features import Shard, UnionFeatures, cache_root
from seqsearch.grammar import parse_items
from seqsearch.load import load, versions
from seqsearch.methods.base import Caps, build_config
from seqsearch.planners.given import first_task
from seqsearch.planners.step import PoolView
from seqsearch.settings import CldybSettings
from seqsearch.types import MethodSpec, Prefix, Task
from seqsearch.world import World, capabilities, located, located_text, method_spec, pool_texts


@dataclass(frozen=True)
class Study:
    """A checked study.

    Attributes:
        view: classes in play (``--exclude-groups`` and the classes to tune on taken out).
        first: the first task of every sequence.
        weight_tags: exact backbone weights by backbone name.
        frozen: backbones whose frozen features some method reads.
        tuning: random tasks of classes outside the run to tune hyperparameters on; empty unless asked for.
    """

    settings: CldybSettings
    world: World
    view: PoolView
    methods: tuple[MethodSpec, ...]
    first: Task
    weight_tags: dict[str, str]
    frozen: tuple[str, ...]
    tuning: Prefix = ()

    def missing_features(self, backbone: str) -> list[tuple[int, Shard]]:
        """Shards of frozen features, each with its pool's number, that prototypes need and nobody has computed yet."""
        import torch

        features = UnionFeatures(
            Path(self.world.cache), self.world.images, self.world.backbone(backbone), torch.device(self.world.device)
        )
        return features.missing(self.world.class_index(c) for c in self.view.class_ids)

    def identity(self) -> dict[str, Any]:
        """What the names of the settings stand for; written into ``config.json``."""
        return {
            "pool_digest": self.world.images.digest,
            "split_digest": self.world.split.digest,
            "pools": self.pools(),
            "classes_in_play": len(self.view.class_ids),
            "weights": self.weight_tags,
            "methods": {
                m.label: {"digest": m.digest, "backbone": m.backbone, "params": dict(m.params)} for m in self.methods
            },
            "first_task": self.first.digest,
            "device": f"{self.world.device} ({platform.machine()})",
            "precision": self.world.precision,
            "threads": 1,
            "python": sys.version.split()[0],
            "versions": versions(),
        }

    def pools(self) -> list[dict[str, Any]]:
        """What each pool is, when it comes, how many of its classes are in play, and which of its groups are left out."""
        excluded = _excluded(self.settings)
        in_play = Counter(c.pool for c in self.view.class_ids)
        return [
            {
                "pool": pool.name,
                "digest": pool.digest,
                "from_step": arrival,
                "classes": len(pool.classes),
                "in_play": in_play[pool.digest],
                "images": sum(c.count for c in pool.classes),
                "split": "drawn" if pool.given is None else "given",
                "excluded_groups": sorted(excluded & {c.group for c in pool.classes}),
            }
            for pool, arrival in zip(self.world.images.parts, self.world.arrivals, strict=True)
        ]


def prepare(settings: CldybSettings, states: Path, device: str, directory: Path | None = None) -> Study:
    """Resolve and check all names; files are looked for in ``directory`` (default: the current one).

    Raises:
        UserError: an unknown name, too few classes, a class too small to split, weights that do not load.
    """
    directory = directory or Path.cwd()
    items = [located(item, directory) for item in parse_items(settings.methods, "method")]
    files = {b: str((directory / Path(f).expanduser()).absolute()) for b, f in settings.weight_files().items()}
    world = World(
        ",".join(located_text(text, "pool", directory) for text in pool_texts(settings.pool, directory)),
        settings.seed,
        str(cache_root()),
        str(states.resolve()),
        device,
        tuple((step, located_text(pool, "pool", directory)) for step, pool in settings.growth()),
        tuple(files.items()),
        settings.precision,
    )
    default = located_text(settings.backbone, "backbone", directory)
    used = {i.backbone or default for i in items}
    if idle := next((b for b in files if b not in used), None):
        raise UserError(f"--weights {idle}=...: no method uses backbone {idle!r}; they use {', '.join(sorted(used))}")
    view, tuning = _classes_in_play(world, settings)
    methods = tuple(method_spec(item, default, device, files, settings.precision) for item in items)
    for method in methods:
        room = _capabilities(method).capacity
        if room is not None and room < settings.tasks:
            raise UserError(
                f"method {method.label!r} has room for {room} tasks and the run has {settings.tasks}: enlarge it"
            )
    tags = {m.backbone: world.backbone(m.backbone).tag for m in methods}
    first = first_task(view, settings.classes_per_task, settings.seed)
    return Study(settings, world, view, methods, first, tags, _frozen(methods), tuning)


def with_methods(study: Study, methods: Sequence[MethodSpec]) -> Study:
    """The same study of other methods or settings."""
    return replace(study, methods=tuple(methods), frozen=_frozen(methods))


def _frozen(methods: Sequence[MethodSpec]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(m.backbone for m in methods if _capabilities(m).input == "frozen"))


def _capabilities(method: MethodSpec) -> Caps:
    build = load("method", method.target)
    return capabilities(build, build_config(build, dict(method.params), method.backbone), method.label)


def _excluded(settings: CldybSettings) -> set[str]:
    return {g.strip() for g in settings.exclude_groups.split(",") if g.strip()}


def _classes_in_play(world: World, settings: CldybSettings) -> tuple[PoolView, Prefix]:
    """The classes that may come in the run, and tasks of others to tune on."""
    classes, excluded = world.images.classes, _excluded(settings)
    there = {c.group for c in classes}
    if unknown := sorted(excluded - there):
        raise UserError(
            f"--exclude-groups {unknown[0]!r}: pool {world.pool!r} has no such group; it has {_some(sorted(there))}"
        )
    kept = [i for i, c in enumerate(classes) if c.group not in excluded]
    arrivals = [world.arrivals[world.images.part_of_class(i)[0]] for i in kept]
    drawn = _drawn_to_tune(settings, [i for i, step in zip(kept, arrivals, strict=True) if step == 1])
    out = set(drawn)
    rest = [(i, step) for i, step in zip(kept, arrivals, strict=True) if i not in out]
    view = PoolView(
        world.class_ids(i for i, _ in rest),
        tuple(classes[i].group for i, _ in rest),
        world.split.digests(),
        tuple(step for _, step in rest),
    )
    _enough(world, settings, view, len(drawn))
    for part in world.images.parts:
        if hasattr(part, "check"):  # a folder knows of empty files without decoding anything
            part.check()
    world.split.check([*(i for i, _ in rest), *drawn])
    k = settings.classes_per_task
    tuning = tuple(view.task(world.class_ids(drawn[n : n + k])) for n in range(0, len(drawn), k))
    return view, tuning


def _drawn_to_tune(settings: CldybSettings, classes: list[int]) -> list[int]:
    """Classes for ``--tune-tasks``, in the order of the tasks; too few if there are too few."""
    if settings.tune_on != "outside":
        return []
    number = settings.tune_tasks * settings.classes_per_task
    return [classes[i] for i in seeded_numpy("tuning", settings.seed).permutation(len(classes))[:number]]


def _enough(world: World, settings: CldybSettings, view: PoolView, to_tune: int) -> None:
    """Make sure that no step, look-ahead included, runs out of classes."""
    k, n = settings.classes_per_task, settings.tasks
    for t in range(n, 0, -1):
        tasks = t + settings.lookahead_at(t) if t > 1 else 1
        if view.known(t) < tasks * k:
            tuned = f" beside the {to_tune} to tune on" if to_tune else ""
            when = f" at step {t}" if settings.grow else ""
            raise UserError(
                f"pool {settings.pool!r} has {view.known(t)} classes in play{tuned}{when}, {tasks} tasks of {k} need "
                f"{tasks * k}: lower --tasks or --classes-per-task, or use a larger --pool"
            )


def _some(names: list[str]) -> str:
    """The first names of a long list."""
    more = f" and {len(names) - 12} more (seqsearch pool show)" if len(names) > 12 else ""
    return ", ".join(names[:12]) + more
