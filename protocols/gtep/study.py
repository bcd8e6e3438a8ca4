"""Checks the inputs of a GTEP study: one scenario, a tuning pool, and evaluation pools.

Evaluation pools share no class and no image with the tuning pool, unless the user allows it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from actors.searching import check_optuna
from protocols.gtep.scenario import Scenario, Side, indices_of, sizes_of
from protocols.gtep.settings import TUNED, GtepSettings
from protocols.gtep.spaces import check_spaces, given_params
from seqsearch.core.digests import digest_of, seeded_numpy
from seqsearch.core.grammar import Value
from seqsearch.core.notices import notice
from seqsearch.core.registry import located_text
from seqsearch.features.store import Shard
from seqsearch.methods.spec import check_memory
from seqsearch.pools.parts.prints import Observe
from seqsearch.pools.union import Union
from seqsearch.study.classes import EVALUATE, TUNE, check_images, view_of
from seqsearch.study.near_duplicates import check_frozen
from seqsearch.study.overlap import Overlap, Shared, overlaps, refused, tenths
from seqsearch.study.study import Study, reads_frozen, resolved
from seqsearch.training.world import World


@dataclass(frozen=True)
class GtepStudy(Study):
    """A checked study. Its world has the pools of both phases; tasks are of one of them each.

    Attributes:
        gtep: settings that the user asked for; ``settings`` are those of the world.
        scenario: classes of each task.
        tuned_on: the pool of the first phase.
        evaluated_on: the pools of the second.
        given: parameters of each method by label, if no settings are tried.
        shared: of each pool of the second phase, the indices in the world of its classes that were allowed to be
            shared.
        look: the backbone that finds near duplicates; empty: they are not looked for.
    """

    gtep: GtepSettings
    scenario: Scenario
    tuned_on: Side
    evaluated_on: tuple[Side, ...]
    given: Mapping[str, Mapping[str, Value]]
    shared: tuple[frozenset[int], ...]
    look: str

    def pools(self) -> list[dict[str, Any]]:
        """As `Study.pools`, with the classes of both phases."""
        in_play = Counter(c.pool for v in self.views.values() for c in v.class_ids)
        return [{**pool, "in_play": in_play[pool["digest"]]} for pool in super().pools()]

    def read(self, *sides: Side) -> ReadBy:
        """Return the features that a phase on these sides reads: all images of their classes in play, and no others."""
        return ReadBy(self, sides)

    def identity(self) -> dict[str, Any]:
        sides = {"tuned_on": self.tuned_on, **{f"judged_on_{n}": s for n, s in enumerate(self.evaluated_on)}}
        said = {
            name: {
                "pool": s.text,
                "classes": len(s.classes),
                "of": s.there,
                "digest": digest_of("side", [(c.pool, c.index) for c in self.world.class_ids(s.classes)]),
            }
            for name, s in sides.items()
        }
        return {
            **super().identity(),
            "sides": said,
            "task_sizes": list(self.scenario.sizes),
            "given": {m: dict(p) for m, p in self.given.items()},
        }

    def hyperparameters(self) -> dict[str, dict[str, Any]]:
        """None yet: what is evaluated is recorded when it is chosen."""
        return {}


@dataclass(frozen=True)
class ReadBy:
    """Frozen features of some sides of a study (`protocols.running.session.FrozenFeatures`)."""

    study: GtepStudy
    sides: tuple[Side, ...]

    @property
    def frozen(self) -> tuple[str, ...]:
        """Backbones."""
        return self.study.frozen

    @property
    def world(self) -> World:
        return self.study.world

    def missing_features(self, backbone: str) -> list[tuple[int, Shard]]:
        """Shards that nobody has computed yet."""
        classes = (c for side in self.sides for c in side.classes)
        return self.study.features_of(backbone).missing(classes, all_slabs=True)


def prepare(settings: GtepSettings, states: Path, device: str, directory: Path) -> GtepStudy:
    """Resolve and check all names; files are looked for in ``directory``.

    Raises:
        UserError: an unknown name, pools that share classes or images, too few classes or images, a memory without room, a
            search space that has no valid setting, weights that do not load, no Optuna where it is to search.
    """
    if settings.searcher == "optuna":
        check_optuna()
    texts = [settings.tune_pool, *settings.pool]
    world, methods, tags = resolved(settings.in_one_world(), states, device, directory, settings.tasks)
    whole, unions = indices_of(world, texts, directory)
    sizes = sizes_of(settings, {text: len(w) for text, w in zip(texts, whole, strict=True)})
    tuned_on, *evaluated_on = (
        _side(world, text, w, sum(sizes), settings.seed) for text, w in zip(texts, whole, strict=True)
    )
    for side in (tuned_on, *evaluated_on):
        check_images(world, side.classes)
    shared = _checked_overlap(settings, (tuned_on, *evaluated_on), whole, unions, tenths(notice))
    look, given = _look(settings, world, directory), given_params(settings, methods, directory)
    tried = [world.respecified(m, {**dict(m.params), **given.get(m.label, {})}, m.label) for m in methods]
    check_memory(tried, sum(sizes))
    if settings.params == TUNED:
        check_spaces(methods, settings.seed)
    views = {
        EVALUATE: view_of(world, [c for side in evaluated_on for c in side.classes]), TUNE: view_of(world, tuned_on.classes),
    }  # fmt: skip
    scenario = Scenario(sizes, settings.class_orders == "numpy")
    return GtepStudy(
        settings.in_one_world(),
        world,
        views,
        methods,
        tags,
        reads_frozen(methods),
        settings,
        scenario,
        tuned_on,
        tuple(evaluated_on),
        given,
        shared,
        look,
    )


def _checked_overlap(
    settings: GtepSettings,
    sides: Sequence[Side],
    whole: Sequence[Sequence[int]],
    unions: Sequence[Union],
    observe: Observe,
) -> tuple[frozenset[int], ...]:
    """That what is evaluated on has no class and no image in common with what is tuned on, but for those that are allowed: which.

    Raises:
        UserError: it has.
    """
    own = [[c - indices[0] for c in side.classes] for side, indices in zip(sides, whole, strict=True)]
    shared, images = list[Shared](), 0
    for number in range(1, len(sides)):
        found = overlaps(unions[0], unions[number], own[0], own[number], observe=observe)
        shared += [replace(s, evaluated_index=s.evaluated_index + whole[number][0]) for s in found.shared]
        images += found.images
    refused(Overlap(sides[0].text, ", ".join(s.text for s in sides[1:]), tuple(shared), images), settings.allow_overlap)
    found_in = {s.evaluated_index for s in shared}
    return tuple(frozenset(side.classes) & found_in for side in sides[1:])


def _look(settings: GtepSettings, world: World, directory: Path) -> str:
    """The backbone of ``--look-alikes``.

    Raises:
        UserError: there is none of that name, or it begins from scratch.
    """
    if not settings.look_alikes:
        return ""
    name = located_text(settings.look_alikes, "backbone", directory)
    check_frozen(settings.look_alikes, world.backbone(name))
    return name


def _side(world: World, text: str, whole: Sequence[int], needed: int, seed: int) -> Side:
    """A pool with the classes in play: all, or a seeded draw, which no other pool and no order has a part in."""
    if needed == len(whole):
        return Side(text, tuple(whole), len(whole))
    named = digest_of("gtep-pool", [(c.pool, c.index) for c in world.class_ids(whole)])
    drawn = seeded_numpy("gtep-classes", named, seed).choice(len(whole), size=needed, replace=False)
    return Side(text, tuple(whole[i] for i in sorted(drawn.tolist())), len(whole))
