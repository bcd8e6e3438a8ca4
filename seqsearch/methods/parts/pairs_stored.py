"""Pairs that methods of image-text pairs store: rows of the pool, with the bytes of their texts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from seqsearch.methods.base import Caps, Context, Footprint
from seqsearch.methods.config import Config as BaseConfig
from seqsearch.methods.data import Batch, TaskData
from seqsearch.methods.parts.network import saved
from seqsearch.methods.parts.pairs_tuned import PairTuned

if TYPE_CHECKING:
    from seqsearch.pools.base import Rows


@dataclass(frozen=True)
class StoredPairs:
    """``rows`` of the pool and their ``columns``, both ``[n]`` int64 on the CPU, and the ``text_bytes`` (UTF-8) of each."""

    rows: Tensor
    columns: Tensor
    text_bytes: Tensor

    def __len__(self) -> int:
        return len(self.rows)

    def joined(self, other: StoredPairs) -> StoredPairs:
        """These, then the others."""
        return StoredPairs(*(torch.cat(both) for both in zip(self._tensors(), other._tensors(), strict=True)))

    def at(self, places: Tensor) -> StoredPairs:
        """Those at ``places`` ``[m]``, in increasing order."""
        wanted = places.sort().values
        return StoredPairs(*(t[wanted] for t in self._tensors()))

    def with_new(self, task: TaskData) -> Batch:
        """Stored pairs and those of the task as one batch."""
        rows = np.concatenate([self.rows.numpy(), task.train.indices])
        targets = torch.cat([self.columns, task.train.targets.cpu()])
        return task.replay(rows, targets.to(task.train.targets.device))

    def state(self) -> dict[str, Any]:
        return saved({"rows": self.rows, "columns": self.columns, "text_bytes": self.text_bytes}, "stored.")

    def _tensors(self) -> tuple[Tensor, Tensor, Tensor]:
        return self.rows, self.columns, self.text_bytes


def none_stored() -> StoredPairs:
    """Before the first experience."""
    return StoredPairs(*(torch.empty(0, dtype=torch.int64) for _ in range(3)))


def of_task(task: TaskData) -> StoredPairs:
    """All pairs of a task."""
    sizes = torch.tensor([len(text.encode()) for text in task.train.texts], dtype=torch.int64)
    return StoredPairs(torch.from_numpy(task.train.indices), task.train.targets.cpu(), sizes)


def load_stored(state: Mapping[str, Any]) -> StoredPairs:
    """Return the pairs that `StoredPairs.state` saved."""
    return StoredPairs(*(state[f"stored.{name}"].clone() for name in ("rows", "columns", "text_bytes")))


class PairsKept(PairTuned):
    """A network of one's own that is trained on stored pairs, too. A subclass says which are stored."""

    caps = Caps(backbones="pairs", needs_exemplars=True, design=("exemplar", "full"))

    def __init__(self, context: Context, config: BaseConfig) -> None:
        super().__init__(context, config)
        self.stored = none_stored()

    def exemplars(self) -> Rows:
        return self.stored.rows.numpy()

    def state_dict(self) -> dict[str, Any]:
        return super().state_dict() | self.stored.state()

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        super().load_state_dict(state)
        self.stored = load_stored(state)

    def memory_footprint(self) -> Footprint:
        texts = int(self.stored.text_bytes.sum())
        images = len(self.stored) * self.context.image_bytes
        return Footprint(params=self.head.bytes, exemplar_images=images, exemplar_texts=texts)
