"""The resources that a worker gives to a method: pixels, frozen features, the backbone, seeds, and one task's training data."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import torch
from cachetools import LRUCache

from seqsearch.backbones.base import Backbone, FromScratch, ReadsNames, ReadsTexts
from seqsearch.core.digests import seed_of
from seqsearch.core.errors import AccessError, UserError
from seqsearch.core.types import Experience, Task
from seqsearch.features.store import UnionFeatures
from seqsearch.methods.base import Method
from seqsearch.methods.data import Batch, TaskData
from seqsearch.pools.base import PARTS, Part, Rows
from seqsearch.training.cache_budget import MOST, CacheBudget
from seqsearch.training.world import World

UNIT_ENDS = (8, 32, 128, *range(384, 1 << 20, 256))
"""Where the units of a part of a class end: small units at the beginning, which probes read, large ones behind, which training
reads."""

OF_TEXTS = 256 << 20
"""Bytes of text features that are remembered: those of 1600 classes with 80 texts each, of width 512."""

_Unit = tuple[int, ...]
"""Rows, in increasing order, whose features are always computed together, so that a row's features are bit-identical whatever
else is requested."""


class PoolSource:
    """Pixels and features of a run's pools for one backbone (`seqsearch.methods.data.ImageSource`)."""

    def __init__(
        self,
        world: World,
        backbone: Backbone,
        features: UnionFeatures,
        device: torch.device,
        caches: CacheBudget = MOST,
    ) -> None:
        self.world, self.pools = world, world.images
        self.backbone, self.features, self.device = backbone, features, device
        self.asker = ""
        """Config digest of the method that asks for features (`MethodSpec.digest`). Part of the cache key, so that equal
        ``space`` names of different methods do not collide."""
        self._units: dict[int, _Unit] = {}
        """The unit of each row, for classes that were asked for."""
        self._seen: LRUCache[tuple[str, str, _Unit], torch.Tensor] = LRUCache(
            caches.features, getsizeof=lambda seen: seen.nbytes
        )
        self._of_texts: LRUCache[tuple[str, ...], torch.Tensor] = LRUCache(OF_TEXTS, getsizeof=lambda seen: seen.nbytes)
        self._decoded: LRUCache[int, np.ndarray[Any, np.dtype[np.uint8]]] = LRUCache(
            max(1, caches.images // (3 * backbone.view.size**2))
        )

    def images(self, rows: Rows) -> torch.Tensor:
        known = {r: self._decoded[r] for r in rows.tolist() if r in self._decoded}
        missing = [r for r in rows.tolist() if r not in known]
        if missing:
            decoded = self.pools.images(np.array(missing), self.backbone.view)
            known.update(zip(missing, decoded, strict=True))
            self._decoded.update((row, image.copy()) for row, image in zip(missing, decoded, strict=True))
        side = self.backbone.view.size
        found = np.empty((len(rows), 3, side, side), dtype=np.uint8)
        for place, row in enumerate(rows.tolist()):
            found[place] = known[row]
        return self.backbone.preprocess(found).to(self.device)

    @cached_property
    def levels(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Preprocessed values of black and of white, each ``[3]`` on the CPU."""
        side = self.backbone.view.size
        ends = np.stack([np.zeros((3, side, side), np.uint8), np.full((3, side, side), 255, np.uint8)])
        black, white = self.backbone.preprocess(ends)[:, :, 0, 0].cpu()
        return black, white

    @cached_property
    def parameter_bytes(self) -> int:
        """Size of the backbone's parameters as 32-bit floats; 0 for a stream of precomputed features."""
        if getattr(self.pools.parts[0], "given_features", None) is not None:
            return 0
        return self.features.network.parameter_bytes

    def texts(self, rows: Rows) -> list[str]:
        return self.pools.texts(rows)

    def tokens(self, rows: Rows, generator: torch.Generator | None = None) -> dict[str, torch.Tensor]:
        if not isinstance(self.backbone, ReadsTexts):
            return {}
        return self.tokens_of(self.texts(rows) if generator is None else self.pools.drawn_texts(rows, generator))

    def tokens_of(self, texts: list[str]) -> dict[str, torch.Tensor]:
        """The backbone's inputs for texts, by name; empty if it reads no texts."""
        found = self.backbone.tokenise(texts) if isinstance(self.backbone, ReadsTexts) else {}
        return {n: t.to(self.device) for n, t in found.items()}

    def text_features(self, texts: tuple[str, ...]) -> torch.Tensor:
        """See `seqsearch.methods.base.Context.text_features`."""
        if texts not in self._of_texts:
            backbone, tower = self._reading_names(), self._text_tower
            with torch.inference_mode(False), torch.no_grad(), torch.autocast(self.device.type, enabled=False):
                self._of_texts[texts] = tower(backbone.text_tokens(texts).to(self.device)).float()
        return self._of_texts[texts].clone()

    @cached_property
    def _text_tower(self) -> torch.nn.Module:
        with torch.inference_mode(False), torch.random.fork_rng(devices=[]):
            return self._reading_names().text_tower().to(self.device).eval().requires_grad_(False)

    def _reading_names(self) -> ReadsNames:
        """Raises UserError: the backbone has no text tower."""
        if not isinstance(self.backbone, ReadsNames):
            raise UserError(f"backbone {self.backbone.name!r} has no text tower that reads class names: take clip")
        return self.backbone

    def frozen(self, rows: Rows) -> torch.Tensor:
        """Features ``[n, d]`` of the frozen backbone, read from the store and copied to the device; those of a stream of
        precomputed features are its own."""
        given = getattr(self.pools.parts[0], "given_features", None)  # of a stream that has no images (`Stream`)
        if given is not None:
            return torch.tensor(given(rows), device=self.device)
        return torch.tensor(self.features.rows(rows), device=self.device)  # a copy in memory aligned as torch likes it

    def remembered(self, space: str, rows: Rows, look: Callable[[Batch], torch.Tensor]) -> torch.Tensor:
        if not len(rows):
            return look(Batch(rows, self))
        places: dict[_Unit, list[int]] = {}
        for place, row in enumerate(rows.tolist()):
            places.setdefault(self._unit(row), []).append(place)
        selected = [_selected(unit, self._features_of(space, unit, look), rows[at]) for unit, at in places.items()]
        order = np.argsort(np.concatenate([*places.values()]))
        return torch.cat(selected)[torch.from_numpy(order).to(selected[0].device)]

    def forget(self) -> None:
        """Drop all caches of images and features."""
        self._seen.clear()
        self._decoded.clear()

    def _features_of(self, space: str, unit: _Unit, look: Callable[[Batch], torch.Tensor]) -> torch.Tensor:
        """Features ``[m, d]`` of all rows of a unit, from the cache or computed."""
        known = (self.asker, space, unit)
        seen = self._seen.get(known)
        if seen is None:
            seen = (
                look(Batch(np.array(unit), self)).detach().clone()
            )  # it may be memory that the method writes to again
            with contextlib.suppress(ValueError):  # larger than the whole cache
                self._seen[known] = seen
        return seen

    def _unit(self, row: int) -> _Unit:
        """The unit of a row."""
        if row not in self._units:
            index = int(np.searchsorted(self.pools.offsets, row, side="right") - 1)
            for part in PARTS:
                own = np.sort(self.world.split.rows(index, part))
                for unit in np.split(own, [end for end in UNIT_ENDS if end < len(own)]):
                    self._units.update(dict.fromkeys(unit.tolist(), tuple(unit.tolist())))
        return self._units[row]


def _selected(unit: _Unit, features: torch.Tensor, wanted: Rows) -> torch.Tensor:
    """The ``features`` ``[m, d]`` of the ``wanted`` rows ``[m]`` of a unit."""
    return features[torch.from_numpy(np.searchsorted(unit, wanted)).to(features.device)]


class WorkerContext:
    """The resources that a worker gives to a method (`seqsearch.methods.base.Context`).

    ``method_target``: recorded when the method gets the shared frozen backbone, to blame it for a change of the weights.
    """

    def __init__(self, source: PoolSource, seed: int, replicate: int, method_target: str = "") -> None:
        self._source, self._method_target, self.seed, self.replicate = source, method_target, seed, replicate
        self.device, self.dim = source.device, source.backbone.dim
        self.backbone_id = source.features.space
        self.image_bytes = 3 * source.backbone.view.size**2
        self.n_classes = len(source.pools.classes)
        self.augment, self.from_scratch = source.world.augment, isinstance(source.backbone, FromScratch)
        self.levels = source.levels
        self.logit_scale: float = getattr(source.backbone, "logit_scale", 1.0)

    def fresh_backbone(self) -> torch.nn.Module:
        backbone = self._source.backbone
        if isinstance(backbone, FromScratch):
            return backbone.initialised(self.generator("backbone")).to(self.device).requires_grad_(True)
        return self._source.features.network.copy().requires_grad_(True)

    def frozen_backbone(self) -> torch.nn.Module:
        return self._source.features.network.give(self._method_target)

    def text_features(self, texts: Sequence[str]) -> torch.Tensor:
        return self._source.text_features(tuple(texts))

    def generator(self, phase: str) -> torch.Generator:
        return torch.Generator().manual_seed(seed_of("context", self.seed, self.replicate, phase))


def task_data(world: World, source: PoolSource, task: Task, method: Method, seed: int, replicate: int) -> TaskData:
    """One task's images to learn from, labelled by head column.

    Only methods that declare it (`Caps.needs_val`) get validation images apart from training images; for all others they are
    training images. Reward images are training images if the task says so (`Task.reward_learned`).
    """
    columns = range(method.n_seen, method.n_seen + len(task.classes))
    val: tuple[Part, ...] = ("val",)
    as_val, as_train = (val, ()) if method.caps.needs_val else ((), val)
    reward: tuple[Part, ...] = ("reward",) if task.reward_learned else ()
    train_rows, train_at = world.rows(task.classes, "train", *as_train, *reward)
    val_rows, val_at = world.rows(task.classes, *as_val)
    stored = method.exemplars().tolist() if method.n_tasks else []  # a method that has seen nothing has stored nothing
    readable = frozenset([*train_rows.tolist(), *val_rows.tolist(), *stored])

    def labelled(rows: Rows, at: Rows) -> Batch:
        return Batch(rows, source, torch.from_numpy(at + columns.start).to(source.device))

    return TaskData(
        labelled(train_rows, train_at),
        labelled(val_rows, val_at),
        columns,
        method.n_tasks,
        seed,
        replicate,
        readable,
        world.names(task.classes),
    )


def check_unseen(learned: Experience, evaluated: Part) -> None:
    """Check that a state that has learned this experience may be evaluated on a part of its classes.

    Raises:
        AccessError: it has learned from these images.
    """
    if evaluated == "reward" and isinstance(learned, Task) and learned.reward_learned:
        raise AccessError("reward images cannot be evaluated: this state has learned from them (evaluate it on test)")
