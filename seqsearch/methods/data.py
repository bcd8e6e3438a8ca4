"""What a method is given to look at: lazy batches, and one task's training data. Indices travel, pixels are decoded on demand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np

from seqsearch.core.digests import depth_seed
from seqsearch.core.errors import AccessError

if TYPE_CHECKING:
    import torch

    from seqsearch.pools.base import Rows


class ImageSource(Protocol):
    """Where a worker gets pixels and frozen features from."""

    def images(self, rows: Rows) -> torch.Tensor:
        """Preprocessed images ``[n, 3, s, s]`` float32 on the worker's device."""
        ...

    def frozen(self, rows: Rows) -> torch.Tensor:
        """Features ``[n, d]`` float32 of the frozen backbone, a view of the memory-mapped store where rows are adjacent."""
        ...

    def remembered(self, space: str, rows: Rows, look: Callable[[Batch], torch.Tensor]) -> torch.Tensor:
        """What ``look`` gives for images ``[n, d]``, remembered under the name ``space``."""
        ...


@dataclass(frozen=True, eq=False)
class Batch:
    """Images by row, decoded when first read; ``labels`` are head columns, present in training only."""

    indices: Rows
    source: ImageSource = field(repr=False)
    labels: torch.Tensor | None = None

    def __len__(self) -> int:
        return len(self.indices)

    @cached_property
    def images(self) -> torch.Tensor:
        """Preprocessed images ``[n, 3, s, s]``."""
        return self.source.images(self.indices)

    @cached_property
    def frozen(self) -> torch.Tensor:
        """Frozen-backbone features ``[n, d]``."""
        return self.source.frozen(self.indices)

    def through(self, space: str, look: Callable[[Batch], torch.Tensor]) -> torch.Tensor:
        """Features ``[n, d]`` by a network that will not change any more, computed once per image and worker.

        ``space`` must name the network's weights: two that differ must have two names. ``look`` is given fixed groups of images
        (of one class and part), whatever this batch is, so that the bits do not depend on what was asked for before.
        """
        return self.source.remembered(space, self.indices, look)

    @property
    def targets(self) -> torch.Tensor:
        """Labels of a training batch ``[n]`` int64.

        Raises:
            AccessError: this batch is for prediction and has none.
        """
        if self.labels is None:
            raise AccessError("this batch is for prediction: labels are only given in training")
        return self.labels

    def select(self, positions: torch.Tensor | Rows) -> Batch:
        """The sub-batch at ``positions`` ``[m]``; what was decoded is not decoded again."""
        import torch

        at = torch.as_tensor(positions, dtype=torch.int64)
        part = Batch(self.indices[at.numpy()], self.source, None if self.labels is None else self.labels[at])
        for name in ("images", "frozen"):
            if name in self.__dict__:
                part.__dict__[name] = self.__dict__[name][at.to(self.__dict__[name].device)]
        return part


@dataclass(frozen=True, eq=False)
class TaskData:
    """One task's training data. Nothing else resolves while it is learned, stored exemplars aside.

    Attributes:
        train: the task's training images with labels.
        val: the method's own validation images of the task (carved out of training), with labels.
        columns: head columns of the task's classes; ``columns.start`` is the number of classes seen before.
        depth: number of tasks learned before, the only thing besides seeds that randomness depends on.
    """

    train: Batch
    val: Batch
    columns: range
    depth: int
    seed: int
    replicate: int
    readable: frozenset[int] = field(repr=False)

    def generator(self, phase: str) -> torch.Generator:
        """A CPU generator for one phase of this training, e.g. ``shuffle``."""
        import torch

        return torch.Generator().manual_seed(depth_seed(self.seed, self.replicate, self.depth, phase))

    def replay(self, rows: Rows, labels: torch.Tensor) -> Batch:
        """Stored exemplars ``rows`` ``[n]`` with their columns.

        Raises:
            AccessError: a row is neither of this task nor among the exemplars stored before it.
        """
        strange = [int(r) for r in np.asarray(rows) if int(r) not in self.readable]
        if strange:
            raise AccessError(f"image {strange[0]} is neither of this task nor a stored exemplar")
        return Batch(np.asarray(rows, dtype=np.int64), self.train.source, labels)
