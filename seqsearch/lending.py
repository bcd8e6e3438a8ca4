"""What a worker lends a method: pixels, frozen features, the backbone, seeds, and one task's training data."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from cachetools import LRUCache

from seqsearch.backbones.base import Backbone
from seqsearch.digests import seed_of
from seqsearch.extraction import Network
from seqsearch.features import UnionFeatures
from seqsearch.methods.base import Method
from seqsearch.methods.data import Batch, TaskData
from seqsearch.types import Task
from seqsearch.world import World

if TYPE_CHECKING:
    from seqsearch.pools.base import Rows
    from seqsearch.pools.union import Union

CACHE_BYTES = 256 << 20
"""Room for decoded images, per backbone and worker."""


class PoolSource:
    """Pixels and frozen features of a run's pools for one backbone (`seqsearch.methods.data.Source`)."""

    def __init__(self, pools: Union, backbone: Backbone, features: UnionFeatures, device: torch.device) -> None:
        self.pools, self.backbone, self.features, self.device = pools, backbone, features, device
        self._decoded: LRUCache[int, np.ndarray[Any, np.dtype[np.uint8]]] = LRUCache(
            max(1, CACHE_BYTES // (3 * backbone.view.size**2))
        )

    def images(self, rows: Rows) -> torch.Tensor:
        known = {r: self._decoded[r] for r in rows.tolist() if r in self._decoded}
        missing = [r for r in rows.tolist() if r not in known]
        if missing:
            decoded = self.pools.images(np.array(missing), self.backbone.view)
            known.update(zip(missing, decoded, strict=True))
            self._decoded.update(zip(missing, decoded, strict=True))
        return self.backbone.preprocess(np.stack([known[r] for r in rows.tolist()])).to(self.device)

    def frozen(self, rows: Rows) -> torch.Tensor:
        return torch.tensor(self.features.rows(rows), device=self.device)  # a copy in memory aligned as torch likes it


@dataclass
class WorkerContext:
    """What a worker lends a method (`seqsearch.methods.base.Context`)."""

    device: torch.device
    dim: int
    backbone_id: str
    image_bytes: int
    seed: int
    replicate: int
    network: Network = field(repr=False)

    def fresh_backbone(self) -> torch.nn.Module:
        return copy.deepcopy(self.network.module)

    def generator(self, phase: str) -> torch.Generator:
        return torch.Generator().manual_seed(seed_of("context", self.seed, self.replicate, phase))


def task_data(world: World, source: PoolSource, task: Task, method: Method, seed: int, replicate: int) -> TaskData:
    """One task's training and validation images, labelled by head column."""
    columns = range(method.n_seen, method.n_seen + len(task.classes))
    train_rows, train_at = world.rows(task.classes, "train")
    val_rows, val_at = world.rows(task.classes, "val")
    stored = method.exemplars().tolist() if method.n_tasks else []  # a method that has seen nothing has stored nothing
    readable = frozenset([*train_rows.tolist(), *val_rows.tolist(), *stored])

    def labelled(rows: Rows, at: Rows) -> Batch:
        return Batch(rows, source, torch.from_numpy(at + columns.start).to(source.device))

    return TaskData(
        labelled(train_rows, train_at), labelled(val_rows, val_at), columns, method.n_tasks, seed, replicate, readable
    )
