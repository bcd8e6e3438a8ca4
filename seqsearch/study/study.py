"""The common start of every protocol: pool, classes in play and methods, checked before any compute is spent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from seqsearch.core import command_line
from seqsearch.core.errors import UserError
from seqsearch.core.grammar import Item, parse_item, parse_items
from seqsearch.core.notices import notice
from seqsearch.core.paths import at_home
from seqsearch.core.registry import located, located_text
from seqsearch.core.settings import StudySettings
from seqsearch.core.text import counted
from seqsearch.core.typed import brief
from seqsearch.core.types import MethodSpec
from seqsearch.features.store import Shard, UnionFeatures
from seqsearch.methods.spec import augments, capabilities_of, hyperparameters
from seqsearch.planners.step import PoolView
from seqsearch.pools.base import PARTS, Pool
from seqsearch.study.class_names import check_names
from seqsearch.study.classes import EVALUATE, world_of
from seqsearch.study.pair_texts import check_texts
from seqsearch.study.trained_with import trained_with
from seqsearch.training.world import World


@dataclass(frozen=True)
class Study:
    """A checked study.

    Attributes:
        views: classes by what they are for, all of one world: `EVALUATE` are those in play (``--exclude-groups`` and the like
            taken out); others, such as those to tune on, are none of them.
        weight_tags: exact backbone weights by backbone name.
        frozen: backbones whose frozen features some method reads.
    """

    settings: StudySettings
    world: World
    views: Mapping[str, PoolView]
    methods: tuple[MethodSpec, ...]
    weight_tags: dict[str, str]
    frozen: tuple[str, ...]

    @property
    def trained(self) -> tuple[MethodSpec, ...]:
        """All that it may train: its methods, and others beside them."""
        return self.methods

    @property
    def view(self) -> PoolView:
        """The classes in play."""
        return self.views[EVALUATE]

    def missing_features(self, backbone: str) -> list[tuple[int, Shard]]:
        """Shards of frozen features, each with its pool's number, that prototypes need and nobody has computed yet."""
        return self.features_of(backbone).missing(self.world.class_index(c) for c in self.view.class_ids)

    def features_of(self, backbone: str) -> UnionFeatures:
        """Frozen features of the world's images, where workers look for them."""
        device = torch.device(self.world.device)
        return UnionFeatures(Path(self.world.cache), self.world.images, self.world.backbone(backbone), device)

    def identity(self) -> dict[str, Any]:
        """Return the identities of the items that the settings name, for ``config.json``."""
        return {
            "pool_digest": self.world.images.digest,
            "split_digest": self.world.split.digest,
            "pools": self.pools(),
            "classes_in_play": len(self.view.class_ids),
            "images": self.images_per_class(),
            "other_views": {name: len(v.class_ids) for name, v in self.views.items() if name != EVALUATE},
            **trained_with(self.world, self.methods, self.weight_tags),
        }

    def hyperparameters(self) -> dict[str, dict[str, Any]]:
        """Of all that it trains, by label; written into ``config.json``."""
        return hyperparameters(self.methods)

    def images_per_class(self) -> dict[str, float]:
        """Images of a class by what they are for, means over the classes in play.

        ``trained`` are learned from where test accuracy is reported, ``searched`` where a search, tuning or a
        similarity trains; ``test`` are evaluated. ``validation``, there if some method declares it, are those of the trained
        and searched ones that such a method validates on.
        """
        counts = [self.world.split.counts(self.world.class_index(c)) for c in self.view.class_ids]
        mean = {part: sum(c[part] for c in counts) / len(counts) for part in PARTS}
        fit = mean["train"] + mean["val"]
        found = {"trained": fit + mean["reward"], "searched": fit, "test": mean["test"]}
        if any(capabilities_of(m).needs_val for m in self.methods):
            found["validation"] = mean["val"]
        return {name: int(value) if value.is_integer() else value for name, value in found.items()}

    def images(self) -> tuple[Pool, ...]:
        """Its pools, for a report that shows images."""
        return self.world.images.parts

    def pools(self) -> list[dict[str, Any]]:
        """Describe each pool: its identity, the step at which it arrives, the number of its classes in play, and the
        groups left out."""
        excluded = self.settings.excluded_groups()
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


def resolved(
    settings: StudySettings, states: Path, device: str, directory: Path, length: int, others: Sequence[Item] = ()
) -> tuple[World, tuple[MethodSpec, ...], dict[str, str]]:
    """The world of a study, its methods, and the tags of their backbones' weights; files are looked for in ``directory``.

    Args:
        length: experiences that a method will learn, at most.
        others: methods beside those of ``--methods``; they come behind them.

    Raises:
        UserError: an unknown name, weights that do not load, a method with room for less.
    """
    world = world_of(settings, states, device, directory)
    named = (*parse_items(settings.methods, "method"), *others)
    items = [_limited(located(item, directory), settings, directory) for item in named]
    _distinct_labels(items)
    default = located_text(settings.backbone, "backbone", directory)
    used = {name for i in items for name in _names_of(i.backbone or default)}
    if idle := next((b for b, _ in world.weights if b not in used), None):
        raise UserError(f"--weights {idle}=...: no method uses backbone {idle!r}; they use {', '.join(sorted(used))}")
    notice(f"reading code and weights of {counted(len(items), 'method')} ...")
    methods = tuple(world.spec(item, default) for item in items)
    for method in methods:
        capacity = capabilities_of(method).capacity
        if capacity is not None and capacity < length:
            raise UserError(
                f"method {method.label!r} has room for {capacity} tasks and the run has {length}: enlarge it"
            )
    if settings.augment != "none":
        _check_augmented(methods, settings.augment)
    backbones = {m.backbone: world.backbone(m.backbone) for m in methods}
    check_texts(backbones.values(), world.images.parts)
    check_names(methods, world.images.parts)
    return world, methods, {name: backbone.tag for name, backbone in backbones.items()}


def _names_of(backbone: str) -> tuple[str, str]:
    """Return the names that ``--weights`` may use for a backbone: its full name, and the name without its options."""
    return backbone, parse_item(backbone, "backbone").target


def _limited(item: Item, settings: StudySettings, directory: Path) -> Item:
    """A command with what it may take and touch; any other item as it is."""
    if not command_line.is_one(item.target):
        return item
    for folder in (writes := [str((directory / at_home(f)).resolve()) for f in settings.command_writes]):
        if ":" in folder or not Path(folder).is_dir():
            raise UserError(f"--command-writes {brief(folder)}: no such folder, or one with a colon in its name")
    return replace(item, params=(("hours", settings.command_hours), ("writes", ":".join(writes))))


def _distinct_labels(items: Sequence[Item]) -> None:
    times = Counter(item.text for item in items)
    if twice := next((item.text for item in items if times[item.text] > 1), None):
        raise UserError(f"two methods would be called {brief(twice)}: give their files different names, or add a word")


def _check_augmented(methods: Sequence[MethodSpec], augment: str) -> None:
    """That what is augmented is decoded: stored features are of images as they are."""
    if not any(augments(capabilities_of(m), augment) for m in methods):
        raise UserError(
            f"--augment {augment}: {', '.join(m.label for m in methods)} learn(s) from stored features or from images as they "
            "are, as published: leave it out"
        )


def reads_frozen(methods: Sequence[MethodSpec]) -> tuple[str, ...]:
    """Backbones whose frozen features some of the methods read."""
    return tuple(dict.fromkeys(m.backbone for m in methods if capabilities_of(m).input == "frozen"))
