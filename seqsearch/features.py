"""Features of a frozen backbone: computed once per pool, content-addressed, memory-mapped, shared by all methods and workers.

The store is a folder of shards, each the rows of `SHARD_CLASSES` consecutive classes. A missing shard is computed by whoever
needs it and renamed into place; two workers racing write the same bits. Shards are fixed by the pool alone, hence so is every
bit in them, however many workers there are.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from seqsearch.digests import digest_of
from seqsearch.files import atomic_path
from seqsearch.load import versions

if TYPE_CHECKING:
    import torch

    from seqsearch.backbones.base import Backbone
    from seqsearch.pools.base import Pool, Rows

SHARD_CLASSES = 16
BATCH = 256
"""Images per forward pass; part of a shard's identity, since rounding may depend on it."""


class FeatureStore:
    """Frozen features ``[n, d]`` of a pool's rows.

    Args:
        root: cache folder; shards lie in ``root/features/<digest>/``.
        device: where missing shards are computed.
    """

    def __init__(self, root: Path, pool: Pool, backbone: Backbone, device: torch.device) -> None:
        self.pool, self.backbone, self.device = pool, backbone, device
        self.digest = digest_of("features", pool.digest, backbone.digest, device.type, BATCH, SHARD_CLASSES, versions())
        self.folder = root / "features" / self.digest
        counts = np.array([c.count for c in pool.classes], dtype=np.int64)
        self._offsets = np.concatenate([[0], np.cumsum(counts)])
        self.n_shards = -(-len(pool.classes) // SHARD_CLASSES)
        self._open: dict[int, NDArray[np.float32]] = {}
        self._module: torch.nn.Module | None = None

    def missing(self) -> list[int]:
        """Shards that nobody has computed yet."""
        return [s for s in range(self.n_shards) if not self._path(s).exists()]

    def rows(self, rows: Rows) -> NDArray[np.float32]:
        """Features ``[n, d]``; a view where the rows are consecutive and in one shard, else a copy."""
        classes = np.searchsorted(self._offsets, rows, side="right") - 1
        shards = classes // SHARD_CLASSES
        distinct = np.unique(shards)
        if len(distinct) == 1:
            local = rows - self._first_row(int(distinct[0]))
            table = self._shard(int(distinct[0]))
            consecutive = len(local) > 0 and bool(np.all(np.diff(local) == 1))
            return table[local[0] : local[-1] + 1] if consecutive else table[local]
        out = np.empty((len(rows), self.backbone.dim), dtype=np.float32)
        for shard in distinct:
            at = shards == shard
            out[at] = self._shard(int(shard))[rows[at] - self._first_row(int(shard))]
        return out

    def ensure(self, shard: int) -> None:
        """Compute a shard unless it is there."""
        self._shard(shard)

    def _path(self, shard: int) -> Path:
        return self.folder / f"{shard:06d}.npy"

    def _first_row(self, shard: int) -> int:
        return int(self._offsets[shard * SHARD_CLASSES])

    def _shard(self, shard: int) -> NDArray[np.float32]:
        if shard not in self._open:
            try:
                self._open[shard] = np.load(self._path(shard), mmap_mode="r")
            except (FileNotFoundError, ValueError, EOFError):  # nobody has computed it yet, or the file is damaged
                self._compute(shard)
                self._open[shard] = np.load(self._path(shard), mmap_mode="r")
        return self._open[shard]

    def _compute(self, shard: int) -> None:
        import torch

        if self._module is None:
            self._module = self.backbone.module().to(self.device).eval()
        last = min((shard + 1) * SHARD_CLASSES, len(self.pool.classes))
        rows = np.arange(self._first_row(shard), int(self._offsets[last]))
        parts = []
        with torch.inference_mode():
            for start in range(0, len(rows), BATCH):
                images = self.pool.images(rows[start : start + BATCH], self.backbone.view)
                parts.append(self._module(self.backbone.preprocess(images).to(self.device)).float().cpu().numpy())
        self.folder.mkdir(parents=True, exist_ok=True)
        with atomic_path(self._path(shard)) as temporary, open(temporary, "wb") as file:
            np.save(file, np.concatenate(parts))


def cache_root() -> Path:
    """``$SEQSEARCH_CACHE``, else ``~/.cache/seqsearch``."""
    return Path(os.environ.get("SEQSEARCH_CACHE") or Path.home() / ".cache" / "seqsearch").resolve()
