"""Data that a method sees: lazy batches, and one task's training data. Indices travel; pixels are decoded on demand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np

from seqsearch.core.digests import depth_seed
from seqsearch.core.errors import AccessError
from seqsearch.pools.loader import prefetched

if TYPE_CHECKING:
    import torch

    from seqsearch.pools.base import Rows


Policy = Callable[["torch.Tensor", "torch.Generator"], "torch.Tensor"]
"""An augmentation: preprocessed images ``[n, 3, s, s]`` -> other images of the same shape, by the generator alone."""


class ImageSource(Protocol):
    """Where a worker gets pixels and frozen features from."""

    def images(self, rows: Rows) -> torch.Tensor:
        """Preprocessed images ``[n, 3, s, s]`` float32 on the worker's device."""
        ...

    def texts(self, rows: Rows) -> list[str]:
        """The text of each image.

        Raises:
            UserError: the pool has none.
        """
        ...

    def tokens(self, rows: Rows, generator: torch.Generator | None = None) -> dict[str, torch.Tensor]:
        """Return the inputs that the backbone reads beside images: tensors ``[n, ...]`` of their texts, by name. They
        are empty if it reads no texts.

        If the pool draws one of an image's several texts, ``generator`` draws it. Without a generator it is the first.
        """
        ...

    def frozen(self, rows: Rows) -> torch.Tensor:
        """Features ``[n, d]`` float32 of the frozen backbone, on the worker's device."""
        ...

    def remembered(self, space: str, rows: Rows, look: Callable[[Batch], torch.Tensor]) -> torch.Tensor:
        """Return ``look`` of the images ``[n, d]``, cached under the name ``space``."""
        ...


@dataclass(frozen=True, eq=False)
class Batch:
    """Images by row, decoded when first read; ``labels`` are head columns, present in training only. Texts are drawn by ``_draw``
    where the pool draws them, and are else those of evaluation."""

    indices: Rows
    _source: ImageSource = field(repr=False)
    labels: torch.Tensor | None = None
    _draw: torch.Generator | None = field(default=None, repr=False)

    def __len__(self) -> int:
        return len(self.indices)

    @cached_property
    def images(self) -> torch.Tensor:
        """Preprocessed images ``[n, 3, s, s]``."""
        return self._source.images(self.indices)

    @cached_property
    def inputs(self) -> torch.Tensor | dict[str, torch.Tensor]:
        """Inputs of the backbone: `images`, or a mapping of tensors ``[n, ...]`` by name if it also reads texts."""
        tokens = self._source.tokens(self.indices, *(() if self._draw is None else (self._draw,)))
        return {"images": self.images, **tokens} if tokens else self.images

    def with_drawn_texts(self, generator: torch.Generator) -> Batch:
        """The same batch with the texts that are learned from: drawn anew where the pool says so (``captions=random``), when its
        `inputs` are first read."""
        part = Batch(self.indices, self._source, self.labels, generator)
        part.__dict__.update({name: self.__dict__[name] for name in ("images", "frozen") if name in self.__dict__})
        return part

    @property
    def texts(self) -> list[str]:
        """The text of each image ``[n]``."""
        return self._source.texts(self.indices)

    @property
    def reads_texts(self) -> bool:
        """Whether the backbone reads texts beside images."""
        return bool(self._source.tokens(self.indices[:1]))

    @property
    def text_bytes(self) -> int:
        """Bytes of the texts as UTF-8; 0 if the backbone reads none."""
        return sum(len(text.encode()) for text in self.texts) if self.reads_texts else 0

    def augmented(self, policy: Policy, generator: torch.Generator) -> Batch:
        """The same batch with other images: what ``policy`` makes of them with the random numbers of ``generator`` alone."""
        part = Batch(self.indices, self._source, self.labels)
        part.__dict__["images"] = policy(self.images, generator)
        return part

    @cached_property
    def frozen(self) -> torch.Tensor:
        """Frozen-backbone features ``[n, d]``."""
        return self._source.frozen(self.indices)

    def loaded(self, field: Literal["images", "inputs", "frozen"]) -> Batch:
        """This batch, with a field computed for all of it: parts that are selected later are cut out of it."""
        getattr(self, field)
        return self

    def decoded(self, size: int) -> Iterator[Batch]:
        """Its parts of ``size`` consecutive images, each decoded while the one before is used."""

        def part(first: int) -> Batch:
            return self.select(np.arange(first, min(first + size, len(self)))).loaded("inputs")

        return prefetched(range(0, len(self), size), part)

    def through(self, space: str, look: Callable[[Batch], torch.Tensor]) -> torch.Tensor:
        """Features ``[n, d]`` by a network that will not change any more, computed once per image and worker.

        They are remembered for this method with this setting of its parameters alone. ``space`` must name the
        network's weights: two that differ must have two names, also where only seed, tasks or replicate differ; other
        methods and settings may use the same names. ``look`` is given fixed groups of images (of one class and part),
        whatever this batch is, so that the bits do not depend on what was asked for before.
        """
        return self._source.remembered(space, self.indices, look)

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
        labels = None if self.labels is None else self.labels[at]
        part = Batch(self.indices[at.numpy()], self._source, labels, self._draw)
        for name in ("images", "inputs", "frozen"):
            if name in self.__dict__:
                part.__dict__[name] = _selected(self.__dict__[name], at)
        return part


def _selected(
    known: torch.Tensor | dict[str, torch.Tensor], at: torch.Tensor
) -> torch.Tensor | dict[str, torch.Tensor]:
    if isinstance(known, dict):
        return {name: tensor[at.to(tensor.device)] for name, tensor in known.items()}
    return known[at.to(known.device)]


class Progress(Protocol):
    """Where a long training leaves what it needs to go on, should it be killed: one place for each of its phases."""

    def found(self, phase: str) -> dict[str, Any] | None:
        """Return the latest state that was left; None if there is none, or it is damaged."""
        ...

    def leave(self, phase: str, state: Callable[[], dict[str, Any]], last: bool = False) -> None:
        """Keep ``state()``, tensors and plain scalars, if it is time to; the ``last`` of a phase is kept if any was before."""
        ...


class NoProgress:
    """A training that is not interrupted, or begins anew (`Progress`)."""

    def found(self, phase: str) -> dict[str, Any] | None:
        """Nothing."""
        return None

    def leave(self, phase: str, state: Callable[[], dict[str, Any]], last: bool = False) -> None:
        """Nothing is kept."""


@dataclass(frozen=True, eq=False)
class TaskData:
    """One task's training data. Nothing else resolves while it is learned, stored exemplars aside.

    Attributes:
        train: the task's training images with labels.
        val: the method's own validation images of the task (carved out of training), with labels; none unless it declares
            `Caps.needs_val`, and then these are training images.
        columns: head columns of the task's classes; ``columns.start`` is the number of classes seen before.
        names: names of the classes, in the order of `columns`, as the pool has them.
        depth: number of tasks learned before, the only thing besides seeds that randomness depends on.
        progress: where a training that takes hours leaves what it needs to go on (`descend` of ``parts/training.py`` uses it).
    """

    train: Batch
    val: Batch
    columns: range
    depth: int
    seed: int
    replicate: int
    readable: frozenset[int] = field(repr=False)
    names: tuple[str, ...] = ()
    progress: Progress = field(default_factory=NoProgress, repr=False)
    _generators: dict[str, torch.Generator] = field(init=False, default_factory=dict, repr=False)

    def generator(self, phase: str) -> torch.Generator:
        """The CPU generator of one phase of this training, e.g. ``shuffle``: the same one however often it is asked for, so that
        each round of a loop draws other numbers. ``clone_state()`` of it is one that draws again what it draws next."""
        import torch

        if phase not in self._generators:
            seed = depth_seed(self.seed, self.replicate, self.depth, phase)
            self._generators[phase] = torch.Generator().manual_seed(seed)
        return self._generators[phase]

    def replay(self, rows: Rows, labels: torch.Tensor) -> Batch:
        """Stored exemplars ``rows`` ``[n]`` with their columns.

        Raises:
            AccessError: a row is neither of this task nor among the exemplars stored before it.
        """
        strange = [int(r) for r in np.asarray(rows) if int(r) not in self.readable]
        if strange:
            raise AccessError(f"image {strange[0]} is neither of this task nor a stored exemplar")
        return Batch(np.asarray(rows, dtype=np.int64), self.train._source, labels)
