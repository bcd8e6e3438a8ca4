"""Checks the inputs of an online study before training: the stream, its order, its learners, and the shift."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import torch

from protocols.online.choice import by_rule, chosen_shift
from protocols.online.settings import OnlineSettings
from seqsearch.core.errors import UserError
from seqsearch.core.grammar import Item, parse_items
from seqsearch.core.notices import notice
from seqsearch.core.once import forget
from seqsearch.core.paths import at_home
from seqsearch.core.registry import load, located, located_text
from seqsearch.core.text import counted
from seqsearch.core.types import MethodSpec, Segment
from seqsearch.features.store import Shard, UnionFeatures
from seqsearch.methods.config import Config, build_config, default_of
from seqsearch.methods.spec import capabilities_of, hyperparameters
from seqsearch.pools.base import Pool
from seqsearch.stats.shift import ShiftChoice
from seqsearch.storage.files import cache_root
from seqsearch.streams.open import located_stream
from seqsearch.streams.playing import Played, Playing
from seqsearch.study.trained_with import trained_with
from seqsearch.training.world import World

GIVEN = "given"
"""Backbone of streams that bring features and no images."""
ORDER = ("labels", "frozen", "images")
"""Kinds of input that a learner reads and a stream has; each kind includes those before it."""


@dataclass(frozen=True)
class OnlineStudy:
    """A checked study.

    Attributes:
        methods: learners, each with the sampler and budget that it is run with.
        choice: how the shift was chosen; None if it was named.
        by_rule: of a shift that was named, what the rule would have given; None without a search part.
        weight_tags: exact backbone weights by backbone name.
        frozen: backbones whose frozen features some learner reads.
    """

    settings: OnlineSettings
    world: World
    methods: tuple[MethodSpec, ...]
    choice: ShiftChoice | None
    by_rule: ShiftChoice | None
    weight_tags: dict[str, str]
    frozen: tuple[str, ...]

    @property
    def played(self) -> Played:
        """The stream as it is played."""
        return self.world.played

    @property
    def shift(self) -> int:
        """S: the shift at which accuracy is near-future accuracy [samples]."""
        return self.settings.shifts[0] if self.choice is None else int(self.choice.shift or 0)

    @property
    def orders(self) -> tuple[int, ...]:
        """Orders that are learned: that of time (0), and shuffled within windows of so many samples."""
        return (0, *self.played.playing.windows)

    @cached_property
    def checkpoint_every(self) -> int:
        """Steps of a segment."""
        return self.settings.checkpoint_every or max(50, -(-self.played.steps // 50))

    def segments(self, window: int) -> tuple[Segment, ...]:
        """The whole main part in the order of ``window``."""
        identity, steps, size = self.played.identity(window), self.played.steps, self.checkpoint_every
        return tuple(Segment(identity, first, min(first + size, steps)) for first in range(0, steps, size))

    def replicates(self, method: MethodSpec) -> tuple[int, ...]:
        """Training seeds: one of a learner that draws nothing."""
        seeded = load("learner", method.target).seeded(_config_of(method))
        return tuple(range(self.settings.seeds if seeded else 1))

    def missing_features(self, backbone: str) -> list[tuple[int, Shard]]:
        """Shards of frozen features, each with its pool's number, that nobody has computed yet."""
        if not self.played.stream.has_images:
            return []
        features = UnionFeatures(
            Path(self.world.cache), self.world.images, self.world.backbone(backbone), torch.device(self.world.device)
        )
        classes = range(len(self.world.images.classes))
        return [(0, shard) for shard in features.stores[0].missing(classes, all_slabs=True)]

    def identity(self) -> dict[str, Any]:
        """Return the meanings of the names in the settings, which are written into ``config.json``."""
        return {
            "stream_digest": self.played.stream.digest,
            "played_digest": self.played.identity(0),
            "stream": self._described(),
            "shift": self.shift,
            **trained_with(self.world, self.methods, self.weight_tags),
        }

    def hyperparameters(self) -> dict[str, dict[str, Any]]:
        """Of all learners, by label; written into ``config.json``."""
        return hyperparameters(self.methods, "learner")

    def _described(self) -> dict[str, Any]:
        p = self.played
        return {
            "name": p.stream.name,
            "samples": len(p.stream),
            "classes": len(p.stream.classes),
            "search": len(p.search),
            "main": len(p.main),
            "holdout": len(p.held_out),
            "steps": p.steps,
            "batch": p.playing.batch,
            "checkpoint_every": self.checkpoint_every,
            "known": dict(p.stream.known),
        }

    def pools(self) -> list[dict[str, Any]]:
        """Return name and digest of the stream, for the journal."""
        return [{"pool": self.played.stream.name, "digest": self.played.stream.digest}]

    def images(self) -> tuple[Pool, ...]:
        """A report shows no image of a stream."""
        return ()


def prepare(settings: OnlineSettings, states: Path, device: str, directory: Path | None = None) -> OnlineStudy:
    """Resolve and check all names; files are looked for in ``directory`` (default: the current one).

    Raises:
        UserError: an unknown name, a stream too short for what is asked, no shift to be found, learners that need what the stream
            has not.
    """
    directory = directory or Path.cwd()
    playing = Playing(
        located_stream(settings.stream, directory),
        settings.batch,
        (0,),
        settings.shuffled,
        settings.search,
        settings.holdout,
        settings.seed,
        settings.trace,
    )
    items = list(variants(settings, directory))
    parted = Played(playing)
    forget("stream", playing.stream)  # with its times, which nobody needs on
    if not settings.shifts:
        notice("choosing the shift S from labels alone ...")
    choice = None if settings.shifts else chosen_shift(parted, settings)
    shifts = settings.shifts if choice is None else (int(choice.shift or 0),)
    played = parted.shifted(tuple(dict.fromkeys((0, *shifts))))
    files = {b: str((directory / at_home(f)).absolute()) for b, f in settings.weight_files().items()}
    world = World(
        "",
        settings.seed,
        str(cache_root()),
        str(states.resolve()),
        device,
        weights=tuple(files.items()),
        precision=settings.precision,
        scenario="stream",
        augment=settings.augment,
        playing=played.playing,
    )
    world.__dict__["played"] = played  # what was opened is not opened again
    default = _default_backbone(settings, world, directory)
    notice(f"reading code and weights of {counted(len(items), 'learner')} ...")
    methods = tuple(world.spec(item, default) for item in items)
    _check_input(methods, world.played)
    used = tuple(dict.fromkeys(m.backbone for m in methods))
    if idle := next((b for b, _ in world.weights if b not in used), None):
        raise UserError(f"--weights {idle}=...: no learner uses backbone {idle!r}; they use {', '.join(used)}")
    frozen = tuple(dict.fromkeys(m.backbone for m in methods if capabilities_of(m, "learner").input == "frozen"))
    rule = by_rule(parted, settings) if choice is None and len(parted.search) else None
    return OnlineStudy(settings, world, methods, choice, rule, {b: world.backbone(b).tag for b in used}, frozen)


def variants(settings: OnlineSettings, directory: Path) -> Iterator[Item]:
    """Learners, each once for every sampler and budget that it is not given already and can be given.

    Raises:
        UserError: unknown learners, two that would be called the same.
    """
    seen = set[str]()
    for named in parse_items(settings.methods, "learner"):
        item = located(named, directory)
        config = getattr(load("learner", item.target), "Config", None)
        fields = {f.name: f for f in dataclasses.fields(config)} if config else {}
        own = [item]
        for name, values in (("sampler", settings.drawn), ("budget", settings.budgets)):
            if name in fields and name not in dict(item.params) and values:
                default = default_of(fields[name], item.backbone or settings.backbone)
                allowed = [v for v in values if v in (fields[name].metadata.get("choices") or values)]
                own = [_given(i, name, v, default) for i in own for v in (allowed or [default])]
        for variant in own:
            if variant.text in seen:
                raise UserError(f"two learners would be called {variant.text!r}: give their files different names")
            seen.add(variant.text)
            yield variant


def _given(item: Item, name: str, value: Any, default: Any) -> Item:
    """The item with a parameter more; as it is if that is its default."""
    if value == default:
        return item
    params = (*item.params, (name, value))
    head = item.text.removesuffix(":" + ",".join(f"{n}={v}" for n, v in item.params)) if item.params else item.text
    return replace(item, text=f"{head}:" + ",".join(f"{n}={v}" for n, v in params), params=params)


def _default_backbone(settings: OnlineSettings, world: World, directory: Path) -> str:
    """``--backbone``; of a stream that has features alone, these."""
    pool = world.played.stream.pool
    width = int(getattr(pool, "dim", 0)) if hasattr(pool, "given_features") else 0
    if width and not settings.backbone.startswith(f"{GIVEN}:"):
        return f"{GIVEN}:dim={width}"
    return located_text(settings.backbone, "backbone", directory)


def _check_input(methods: tuple[MethodSpec, ...], played: Played) -> None:
    """Raises UserError: a learner reads what the stream has not."""
    stream = played.stream
    has = "images" if stream.has_images else "frozen" if getattr(stream.pool, "dim", 0) else "labels"
    for m in methods:
        wants = capabilities_of(m, "learner").input
        if ORDER.index(wants) > ORDER.index(has):
            reads, there = ("features" if what == "frozen" else what for what in (wants, has))
            raise UserError(
                f"learner {m.label!r} reads {reads}, and stream {stream.name!r} has {there} alone: leave it out, or take another "
                "stream"
            )
        _check_sizes(m, played)


def _check_sizes(method: MethodSpec, played: Played) -> None:
    """Raises UserError: it would never make an update, or looks back further than there is a stream."""
    config = _config_of(method)
    budget, k = getattr(config, "budget", None), getattr(config, "k", 0)
    if budget is not None and budget * played.steps < 1:
        raise UserError(
            f"learner {method.label!r}: a budget of {budget:g} updates a step makes none in {played.steps:,} steps: raise it"
        )
    if k > len(played.main):
        raise UserError(
            f"learner {method.label!r}: k={k} is more than the {len(played.main):,} samples that are revealed in the whole stream"
        )


def _config_of(method: MethodSpec) -> Config:
    return build_config(load("learner", method.target), dict(method.params), method.backbone)
