"""The settings that all processes of a run share: pools, split, backbones, scenario, device. It is a small record that
travels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from seqsearch.backbones.given import check_given
from seqsearch.backbones.open import build_backbone
from seqsearch.core.errors import UserError
from seqsearch.core.grammar import Item
from seqsearch.core.identity import module_file, source_files
from seqsearch.core.registry import load
from seqsearch.core.types import ClassId, MethodSpec, Task
from seqsearch.pools.base import Part, Rows
from seqsearch.pools.image_files import ImageFiles
from seqsearch.pools.open import build_pool, pool_texts
from seqsearch.pools.parts.subset import Subset
from seqsearch.pools.union import Union, UnionSplit, joint_digest
from seqsearch.storage.inside import Inside
from seqsearch.streams.chosen import Chosen
from seqsearch.streams.playing import Played, Playing

if TYPE_CHECKING:
    from seqsearch.backbones.base import Backbone

FEEDS = ("seqsearch.training.trainer", "seqsearch.training.context")
"""Files of the engine through which everything comes that a method is given: with what they import, a part of its identity."""


@dataclass(frozen=True)
class World:
    """Names only, so that it can be sent to a worker and written into ``config.json``; what they name is made when asked for.

    Attributes:
        pool: items, comma-separated: ``glyphs:classes=400``, a folder, a Parquet file; several are one pool.
        seed: of the split and of all training.
        cache: folder of frozen features.
        states: folder of prefix states.
        device: ``cpu`` or ``cuda``.
        grow: (step, pool item): pools whose classes are there from that step on.
        weights: (backbone, file): weights that do not come from timm's hub.
        precision: of the backbones: ``float32`` or ``bf16``.
        scenario: what is learned at a time and how it is evaluated (`seqsearch.training.scenario`).
        augment: whether images are augmented in training: ``none``, ``published`` or ``autoaugment``.
        checkpoint_seconds: of training between two checkpoints; it decides no number.
        playing: of a stream, how it is played; its images are then the pool's.
    """

    pool: str
    seed: int
    cache: str
    states: str
    device: str = "cpu"
    grow: tuple[tuple[int, str], ...] = ()
    weights: tuple[tuple[str, str], ...] = ()
    precision: str = "float32"
    scenario: str = "class_incremental"
    augment: str = "none"
    checkpoint_seconds: float = 300.0
    playing: Playing | None = None

    def __reduce__(self) -> Any:
        # names travel, the pools themselves do not
        return World, tuple(getattr(self, field.name) for field in fields(self))

    @cached_property
    def images(self) -> Union:
        """All pools, those that a run begins with first.

        Raises:
            UserError: a pool cannot be opened, or comes twice.
        """
        if self.playing is not None:
            return Union([self.played.pool])
        texts = [*pool_texts(self.pool), *(text for _, text in self.grow)]
        parts = [build_pool(text) for text in texts]
        digests = [p.digest for p in parts]
        for number, digest in enumerate(digests):
            if digest in digests[:number]:
                raise UserError(
                    f"pools {texts[digests.index(digest)]!r} and {texts[number]!r} are the same: name it once"
                )
        return Union(parts)

    @cached_property
    def played(self) -> Played:
        """The stream, opened and parted.

        Raises:
            UserError: it cannot be opened, or is too short for what is asked.
        """
        if self.playing is None:
            raise ValueError("a world without a stream")
        return Played(self.playing)

    @cached_property
    def image_files(self) -> ImageFiles:
        """Images as files, for programs that read paths; in the cache, once for all runs."""
        return ImageFiles(self.images, Inside(Path(self.cache), ("images",)))

    @property
    def arrivals(self) -> tuple[int, ...]:
        """The step from which the classes of each pool are there ``[pools]``."""
        begins_with = len(self.images.parts) - len(self.grow)
        return (1,) * begins_with + tuple(step for step, _ in self.grow)

    @cached_property
    def split(self) -> UnionSplit:
        return UnionSplit(self.images, self.seed)

    def backbone(self, name: str) -> Backbone:
        """See `seqsearch.backbones.open.build_backbone`.

        Raises:
            UserError: it does not go with the stream, either (`check_given`).
        """
        found = build_backbone(name, dict(self.weights), self.precision)
        if self.playing is not None:
            check_given(found, self.played.stream.pool)
        return found

    def spec(self, item: Item, default_backbone: str) -> MethodSpec:
        """A method, checked, with its identity in this world.

        Raises:
            UserError: unknown method, parameter, value or backbone.
        """
        from seqsearch.methods.spec import method_spec  # imports torch, which pools and classes do without

        name = item.backbone or default_backbone
        learns = load("scenario", self.scenario).learns
        return method_spec(item, name, self.backbone(name), self.device, self._feeding(), self.augment, learns)

    def respecified(self, spec: MethodSpec, params: Mapping[str, Any], label: str) -> MethodSpec:
        """The same method with other parameters."""
        return self.spec(Item(label, spec.target, spec.backbone, tuple(params.items())), spec.backbone)

    def _feeding(self) -> list[Path]:
        """Files that feed a method: the engine's, the scenario's, the pools'."""
        parts = [type(p) for pool in self.images.parts for p in _within(pool)]
        made = [load("scenario", self.scenario), *parts]
        return [*map(module_file, FEEDS), *(file for m in made for file in source_files(m))]

    def class_ids(self, indices: Any) -> tuple[ClassId, ...]:
        places = [self.images.part_of_class(int(i)) for i in indices]
        return tuple(ClassId(self.images.parts[part].digest, own) for part, own in places)

    def task(self, indices: Any) -> Task:
        """The task of these class indices, in this order."""
        ids = self.class_ids(indices)
        splits = self.split.digests()
        return Task(ids, joint_digest(splits[c.pool] for c in ids))

    def class_index(self, class_id: ClassId) -> int:
        """Index among the classes of all pools.

        Raises:
            UserError: the class is of another pool.
        """
        digests = [p.digest for p in self.images.parts]
        if class_id.pool not in digests:
            raise UserError(
                f"class {class_id.index} belongs to pool {class_id.pool[:12]}, not to {self.pool!r}: its content changed"
            )
        return self.images.class_index(digests.index(class_id.pool), class_id.index)

    def names(self, class_ids: tuple[ClassId, ...]) -> tuple[str, ...]:
        """Names of some classes."""
        return tuple(self.images.classes[self.class_index(c)].name for c in class_ids)

    def rows(self, class_ids: tuple[ClassId, ...], *parts: Part) -> tuple[Rows, Rows]:
        """Rows ``[n]`` of all these parts of some classes, and the position ``[n]`` in ``class_ids`` of each one's class.

        They come class by class, increasing within a class; ``n`` is 0 where no part is named.
        """
        found = [self._rows(self.class_index(c), parts) for c in class_ids]
        positions = np.repeat(np.arange(len(found)), [len(rows) for rows in found])
        return np.concatenate(found), positions.astype(np.int64)

    def _rows(self, index: int, parts: tuple[Part, ...]) -> Rows:
        nothing = np.zeros(0, dtype=np.int64)
        return np.sort(np.concatenate([nothing, *(self.split.rows(index, part) for part in parts)]))


def _within(pool: Any) -> list[Any]:
    """A pool, and those that it takes its images from."""
    found = [pool]
    for outer in found:
        if isinstance(outer, Subset | Chosen):
            found += getattr(outer.base, "parts", [outer.base])
    return found
