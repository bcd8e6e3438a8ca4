"""Features of a frozen backbone: computed once per pool, content-addressed, memory-mapped, shared by all methods and workers.

A pool's features are a folder of shards. A missing one is computed by whoever needs it first and renamed into place. Shards are
fixed by the pool alone, hence so is every bit in them, however many workers there are and whatever was asked first. Each has a
hash of itself, which a process checks when it maps it: what was torn, damaged or is none of ours is computed again. The hash does
not detect forgery: whoever can write into the cache can write a matching hash.

The rows of a class are cut into slabs, each longer than the one before. A shard is one slab of a class, or the first of some:
prototypes and nearest neighbours need the first images of very many classes, training needs all images of a few. So of a pool
of millions of images only what a search looks at is ever computed.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING

import numpy as np
from cachetools import LRUCache
from numpy.typing import NDArray

from seqsearch.backbones.base import Backbone, ReadsTexts
from seqsearch.core.digests import digest_of
from seqsearch.core.errors import UserError
from seqsearch.core.identity import versions
from seqsearch.features.extraction import Network
from seqsearch.features.shard import mapped_shard, write_shard
from seqsearch.pools.base import Pool, Rows, row_offsets
from seqsearch.storage.files import atomic_file
from seqsearch.storage.inside import Inside
from seqsearch.storage.locks import lock_in
from seqsearch.storage.unfinished import sweep

if TYPE_CHECKING:
    import torch

    from seqsearch.pools.union import Union

SLABS = (0, 64, 256, 1024, 4096)
"""Where the slabs of a class begin; from the last on they are all as long as the one before it."""
CLASSES = 16
"""Classes in a shard of the first slab; one in those of later slabs, which few classes are looked at for."""
BATCH = {"cpu": 64, "cuda": 256}
"""Images per forward pass, at most."""
PIXELS = 8 * 224**2
"""Pixels per forward pass on a CPU. A larger pass has activations of over 32 MB, which the C library takes from the system and
gives back in each layer: a network with wide early layers then spends most of its time on that (`benchmarks.speed.features`)."""
OPEN = 128
"""Shards that are kept mapped: each holds a file descriptor, of which a process often has 1,024."""

Shard = tuple[int, int]
"""Number of the slab, number of the block of classes."""


class FeatureStore:
    """Frozen features ``[n, d]`` of one pool's rows.

    Args:
        root: cache folder; shards lie in ``root/features/<digest>/``.
        device: where missing shards are computed.
        network: the backbone's, if it is at hand: several pools share it.
    """

    def __init__(
        self, root: Path, pool: Pool, backbone: Backbone, device: torch.device, network: Network | None = None
    ) -> None:
        self.pool, self.backbone, self.device = pool, backbone, device
        self.network = network or Network(backbone, device)
        self.space = feature_space(backbone, device)
        self._here = Inside(root).at("features", digest_of("features", pool.digest, self.space, SLABS, CLASSES))
        self.folder = self._here.path
        self._offsets = row_offsets(pool.classes)
        self._starts = _slab_starts(int(np.diff(self._offsets).max(initial=0)))
        self._ends = [  # for each slab, rows before each class [C + 1]
            np.concatenate([[0], np.cumsum(np.clip(np.diff(self._offsets) - low, 0, high - low))])
            for low, high in zip(self._starts[:-1], self._starts[1:], strict=True)
        ]
        self._open: LRUCache[Shard, NDArray[np.float32]] = LRUCache(OPEN)

    def missing(self, classes: Iterable[int], all_slabs: bool = False) -> list[Shard]:
        """Shards of the first slab of these classes, or of all slabs, that nobody has computed yet."""
        wanted = sorted(set(classes))
        slabs = range(len(self._ends) if all_slabs else 1)
        shards = sorted({(slab, c // _classes(slab)) for slab in slabs for c in wanted if self._length(slab, c)})
        sweep(self._here)
        return [s for s in shards if not self._here.has(_name(s))]

    def rows(self, rows: Rows) -> NDArray[np.float32]:
        """Features ``[n, d]``; a view where the rows are consecutive and in one shard, else a copy.

        Raises:
            UserError: an image cannot be read.
        """
        rows = np.asarray(rows, dtype=np.int64)
        classes = np.searchsorted(self._offsets, rows, side="right") - 1
        within = rows - self._offsets[classes]
        slabs = np.searchsorted(self._starts, within, side="right") - 1
        out = np.empty((len(rows), self.backbone.dim), dtype=np.float32)
        blocks = classes // np.array([_classes(s) for s in range(len(self._ends))])[slabs]
        for slab, block in sorted(set(zip(slabs.tolist(), blocks.tolist(), strict=True))):
            at = np.flatnonzero((slabs == slab) & (blocks == block))
            table, ends = self._shard((slab, block)), self._ends[slab]
            place = ends[classes[at]] - ends[block * _classes(slab)] + within[at] - self._starts[slab]
            if len(at) == len(rows) and np.all(np.diff(place) == 1):
                return table[place[0] : place[-1] + 1]
            out[at] = table[place]
        return out

    def ensure(self, shard: Shard) -> None:
        """Compute a shard unless it is there."""
        self._shard(shard)

    def _length(self, slab: int, class_index: int) -> int:
        return int(self._ends[slab][class_index + 1] - self._ends[slab][class_index])

    def _shard(self, shard: Shard) -> NDArray[np.float32]:
        """
        Raises:
            UserError: an image cannot be read, the shard cannot be written, or is not as it was written right after that.
        """
        found = self._open.get(shard)
        if found is None:
            found = self._mapped(shard)
            if found is None:
                with self._alone(shard):
                    found = self._mapped(shard)
                    if found is None:
                        self._compute(shard)
                        found = self._mapped(shard)
            if found is None:
                raise UserError(f"{self.folder / _name(shard)} cannot be read as it was written: look after that disk")
            self._open[shard] = found
        return found

    def _mapped(self, shard: Shard) -> NDArray[np.float32] | None:
        """None if nobody has computed it yet, or the file is damaged, or none."""
        return mapped_shard(self._here, _name(shard), (self._rows_of(shard).size, self.backbone.dim))

    @contextlib.contextmanager
    def _alone(self, shard: Shard) -> Iterator[None]:
        """Workers that need the same shard wait for the first of them. Without locks (some network disks) all compute it."""
        locks = self._here.at("locks")
        held: IO[bytes] | None = None
        with contextlib.suppress(OSError):
            locks.make()
            held = lock_in(locks, _name(shard), wait=True)
        with held or contextlib.nullcontext():
            yield

    def _rows_of(self, shard: Shard) -> Rows:
        slab, block = shard
        first, last = block * _classes(slab), min((block + 1) * _classes(slab), len(self.pool.classes))
        begins = self._offsets[first:last] + self._starts[slab]
        lengths = np.diff(self._ends[slab][first : last + 1])
        return np.concatenate([np.arange(b, b + n) for b, n in zip(begins, lengths, strict=True)]).astype(np.int64)

    def _compute(self, shard: Shard) -> None:
        rows = self._rows_of(shard)
        size = images_per_pass(self.backbone, self.device)
        batches = [rows[i : i + size] for i in range(0, len(rows), size)]
        features = np.concatenate(list(self.network.features(self.pool, batches)))
        sweep(self._here)
        with atomic_file(self._here, _name(shard), durable=True) as file:
            write_shard(file, features)


class UnionFeatures:
    """Frozen features ``[n, d]`` of the rows of several pools: a store for each."""

    def __init__(self, root: Path, union: Union, backbone: Backbone, device: torch.device) -> None:
        self.union = union
        self.dim = backbone.dim
        self.network = Network(backbone, device)
        """Shared by all stores, and to methods that train copies of it."""
        self.stores = [FeatureStore(root, pool, backbone, device, self.network) for pool in union.parts]
        self.space = feature_space(backbone, device)

    def rows(self, rows: Rows) -> NDArray[np.float32]:
        """See `FeatureStore.rows`."""
        return self.union.gathered(rows, lambda part, own: self.stores[part].rows(own), (self.dim,), np.float32)

    def missing(self, classes: Iterable[int], all_slabs: bool = False) -> list[tuple[int, Shard]]:
        """Shards that nobody has computed yet, each with the number of its pool: see `FeatureStore.missing`."""
        by_part: dict[int, list[int]] = {}
        for index in classes:
            part, own = self.union.part_of_class(index)
            by_part.setdefault(part, []).append(own)
        return [(part, shard) for part, own in by_part.items() for shard in self.stores[part].missing(own, all_slabs)]

    def ensure(self, part: int, shard: Shard) -> None:
        """See `FeatureStore.ensure`."""
        self.stores[part].ensure(shard)


def feature_space(backbone: Backbone, device: torch.device) -> str:
    """Identity of the space that the features lie in, whatever the pool."""
    libraries = versions(texts=isinstance(backbone, ReadsTexts))
    return digest_of("space", backbone.digest, device.type, images_per_pass(backbone, device), libraries)


def images_per_pass(backbone: Backbone, device: torch.device) -> int:
    """Part of the identity of a feature space, since rounding may depend on it."""
    most = BATCH[device.type]
    return max(1, min(most, PIXELS // backbone.view.size**2)) if device.type == "cpu" else most


def _slab_starts(longest: int) -> NDArray[np.int64]:
    """Beginnings of the slabs of a class of ``longest`` images, and the end of the last one."""
    starts = [s for s in SLABS if s < longest] or [0]
    while (end := _slab_end(starts)) < longest:
        starts.append(end)
    return np.array([*starts, end], dtype=np.int64)


def _slab_end(starts: list[int]) -> int:
    return SLABS[len(starts)] if len(starts) < len(SLABS) else starts[-1] + SLABS[-1] - SLABS[-2]


def _name(shard: Shard) -> str:
    return f"{shard[0]}-{shard[1]:06d}.npy"


def _classes(slab: int) -> int:
    return 1 if slab else CLASSES
