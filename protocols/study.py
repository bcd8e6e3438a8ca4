"""Everything a protocol needs before it starts: pool, classes in play, methods; checked before any compute is spent."""

from __future__ import annotations

import platform
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seqsearch.errors import UserError
from seqsearch.features import FeatureStore, cache_root
from seqsearch.grammar import parse_items
from seqsearch.load import load, versions
from seqsearch.methods.base import Caps, build_config
from seqsearch.planners.given import first_task
from seqsearch.planners.step import PoolView
from seqsearch.settings import CldybSettings
from seqsearch.types import MethodSpec, Task
from seqsearch.world import World, build_backbone, located, method_spec


@dataclass(frozen=True)
class Study:
    """A checked study.

    Attributes:
        view: classes in play (``--exclude-groups`` taken out).
        first: the first task of every sequence.
        weight_tags: exact backbone weights by backbone name.
        frozen: backbones whose frozen features some method reads.
    """

    settings: CldybSettings
    world: World
    view: PoolView
    methods: tuple[MethodSpec, ...]
    first: Task
    weight_tags: dict[str, str]
    frozen: tuple[str, ...]

    def missing_features(self, backbone: str) -> list[int]:
        """Shards of frozen features that nobody has computed yet."""
        import torch

        store = FeatureStore(
            Path(self.world.cache), self.world.images, build_backbone(backbone), torch.device(self.world.device)
        )
        return store.missing()

    def identity(self) -> dict[str, Any]:
        """What the names of the settings stand for; written into ``config.json``."""
        return {
            "pool_digest": self.world.images.digest,
            "split_digest": self.world.split.digest,
            "classes_in_play": len(self.view.class_ids),
            "weights": self.weight_tags,
            "methods": {
                m.label: {"digest": m.digest, "backbone": m.backbone, "params": dict(m.params)} for m in self.methods
            },
            "first_task": self.first.digest,
            "device": f"{self.world.device} ({platform.machine()})",
            "precision": "float32",
            "threads": 1,
            "python": sys.version.split()[0],
            "versions": versions(),
        }


def prepare(settings: CldybSettings, states: Path, device: str, directory: Path | None = None) -> Study:
    """Resolve and check all names; files of own methods are looked for in ``directory`` (default: the current one).

    Raises:
        UserError: an unknown name, too few classes, a class too small to split.
    """
    items = [located(item, directory or Path.cwd()) for item in parse_items(settings.methods, "method")]
    world = World(settings.pool, settings.seed, str(cache_root()), str(states.resolve()), device)
    view = _classes_in_play(world, settings)
    methods = tuple(method_spec(item, settings.backbone, device) for item in items)
    tags = {m.backbone: build_backbone(m.backbone).tag for m in methods}
    frozen = tuple(dict.fromkeys(m.backbone for m in methods if _capabilities(m).input == "frozen"))
    first = first_task(view.class_ids, settings.classes_per_task, view.split, settings.seed)
    return Study(settings, world, view, methods, first, tags, frozen)


def _capabilities(method: MethodSpec) -> Caps:
    build = load("method", method.target)
    try:
        caps: Caps = build.capabilities(build_config(build, dict(method.params)))
    except UserError:
        raise
    except Exception as error:
        raise UserError(f"method {method.label!r} failed in capabilities(): {type(error).__name__}: {error}") from None
    return caps


def _classes_in_play(world: World, settings: CldybSettings) -> PoolView:
    classes = world.images.classes
    excluded = {g.strip() for g in settings.exclude_groups.split(",") if g.strip()}
    there = {c.group for c in classes}
    if unknown := sorted(excluded - there):
        raise UserError(
            f"--exclude-groups {unknown[0]!r}: pool {world.pool!r} has no such group; it has {', '.join(sorted(there))}"
        )
    kept = [i for i, c in enumerate(classes) if c.group not in excluded]
    need = settings.tasks * settings.classes_per_task
    if len(kept) < need:
        raise UserError(
            f"pool {world.pool!r} has {len(kept)} classes in play, {settings.tasks} tasks of {settings.classes_per_task} need "
            f"{need}: lower --tasks or --classes-per-task, or use a larger --pool"
        )
    world.split.check(kept)
    return PoolView(world.class_ids(kept), tuple(classes[i].group for i in kept), world.split.digest)
