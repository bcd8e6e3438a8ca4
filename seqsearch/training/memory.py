"""How much memory a training step takes, estimated from steps on two images.

A method is trained for an epoch of two tasks of two images each, in a batch of two, on the CPU. What autograd saves for the
backward pass is counted: it grows with the images of a step, so that a step of ``batch_size`` images saves as many times more.
Networks, gradients and the optimiser's state do not grow. Global generators and all that jobs share are put back; no state is
kept.
"""

from __future__ import annotations

import contextlib
import dataclasses
import gc
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch.autograd.graph import saved_tensors_hooks
from torch.optim.optimizer import register_optimizer_step_post_hook

from seqsearch.core.deadline import ends_session
from seqsearch.core.registry import load
from seqsearch.core.types import ClassId, MethodSpec, StateKey
from seqsearch.methods.config import build_config
from seqsearch.methods.data import Batch, TaskData
from seqsearch.methods.spec import build_of, capabilities_of
from seqsearch.training.context import PoolSource, WorkerContext
from seqsearch.training.process import seed_generators
from seqsearch.training.trainer import Trainer
from seqsearch.training.world import World

if TYPE_CHECKING:
    from seqsearch.pools.base import Rows

IMAGES = 2
"""Of a task, and of a step: batch statistics need two."""
BACKWARD, LARGEST = 1.15, 3
"""Beside what is saved for it, the backward pass holds gradients of activations, a few layers' at a time: a share of all that is
saved, and so many times the largest tensor among it."""


@dataclass(frozen=True)
class StepMemory:
    """Bytes that a training step holds at most.

    Attributes:
        fixed: networks, gradients, state of the optimiser.
        image: for each image of a step.
        batch: images of a step.
    """

    fixed: int
    image: int
    batch: int

    @property
    def total(self) -> int:
        return self.fixed + self.image * self.batch


def step_memory(world: World, spec: MethodSpec, classes: Sequence[ClassId], images: int) -> StepMemory | None:
    """Of a method that trains a network; None for another one, where it fails on two images, or where it does not say its batch.

    Args:
        classes: four or more, to learn two tasks from.
        images: those of the largest task, which no step exceeds.
    """
    kind = load("scenario", world.scenario).learns.kind
    if kind != "method" or spec.command or len(classes) < 2 * IMAGES or capabilities_of(spec).input != "images":
        return None
    build = build_of(kind, spec.target)
    config = build_config(build, dict(spec.params), spec.backbone)
    batch = getattr(config, "batch_size", None)
    if not isinstance(batch, int):
        return None
    epochs = {f.name: 1 for f in dataclasses.fields(config) if f.name.endswith("epochs") and f.type in (int, "int")}
    tiny = {**dict(spec.params), **epochs, "batch_size": IMAGES}
    meter = _Meter()
    with tempfile.TemporaryDirectory() as scratch:
        trainer = Trainer(replace(world, states=scratch, device="cpu"), "memory")
        try:
            with trainer.guard.job(spec.target), meter.measuring():
                _train(trainer, spec, build_config(build, tiny, spec.backbone), classes)
        except BaseException as error:  # on so few images a method may fail that does not on many
            if ends_session(error):
                raise
            return None
    return StepMemory(
        meter.fixed, int((BACKWARD * meter.saved + LARGEST * meter.largest) / IMAGES), max(1, min(batch, images))
    )


def _train(trainer: Trainer, spec: MethodSpec, config: Any, classes: Sequence[ClassId]) -> None:
    """Two tasks of two classes, an image each."""
    world, backbone = trainer.world, trainer.world.backbone(spec.backbone)
    key = StateKey(spec, 0, 0, ())
    seed_generators(key, "make")
    source = _FewImages(world, backbone, trainer.source(spec.backbone).features, trainer.device)
    method = trainer.scenario.made(build_of("method", spec.target), WorkerContext(source, 0, 0, spec.target), config)
    seen: list[int] = []
    for depth in range(2):
        first = depth * IMAGES
        rows = np.concatenate([world.rows((c,), "train")[0][:1] for c in classes[first : first + IMAGES]])
        labels = torch.arange(first, first + len(rows))
        seen += rows.tolist()
        empty = Batch(rows[:0], source, labels[:0])
        val = Batch(rows, source, labels) if method.caps.needs_val else empty
        columns = range(first, first + IMAGES)
        names = world.names(tuple(classes[first : first + IMAGES]))
        method.fit_task(TaskData(Batch(rows, source, labels), val, columns, depth, 0, 0, frozenset(seen), names))
        method.n_seen, method.n_tasks = columns.stop, depth + 1


class _FewImages(PoolSource):
    """Computes frozen features of the images asked for alone: the store would compute, and keep, those of whole classes."""

    def frozen(self, rows: Rows) -> torch.Tensor:
        if getattr(self.pools.parts[0], "given_features", None) is not None:
            return super().frozen(rows)
        tokens = self.tokens(rows)
        return self.features.network.of({"images": self.images(rows), **tokens} if tokens else self.images(rows))


class _Meter:
    """Peak memory of tensors saved for backward passes, and peak memory of all else after steps (bytes)."""

    def __init__(self) -> None:
        self.saved = self.largest = self.fixed = 0
        self._live = Counter[int]()
        self._bytes = 0

    @contextlib.contextmanager
    def measuring(self) -> Iterator[None]:
        """Objects that are there already are not looked at, which saves most of the time."""

        def after_step(optimizer: torch.optim.Optimizer, *_: Any) -> None:
            trained = [p for group in optimizer.param_groups for p in group["params"] if p.grad is not None]
            grads = {p.grad.untyped_storage().data_ptr(): p.grad.untyped_storage().nbytes() for p in trained}
            self.fixed = max(self.fixed, sum((_storages() | grads).values()))

        hook = register_optimizer_step_post_hook(after_step)
        gc.freeze()
        try:
            with saved_tensors_hooks(lambda t: _Saved(self, t), lambda saved: saved.tensor):
                yield
        finally:
            gc.unfreeze()
            hook.remove()

    def add(self, at: int, size: int) -> None:
        self._live[at] += 1
        self.largest = max(self.largest, size)
        if self._live[at] == 1:
            self._bytes += size
            self.saved = max(self.saved, self._bytes)

    def drop(self, at: int, size: int) -> None:
        self._live[at] -= 1
        if not self._live[at]:
            self._bytes -= size


class _Saved:
    """A tensor that autograd saves; what is trained and parameters, and views of them, are there anyhow and not counted."""

    def __init__(self, meter: _Meter, tensor: torch.Tensor) -> None:
        self.tensor = tensor if tensor.is_leaf else tensor.detach()  # not its own output, which would keep it for ever
        storage = tensor.untyped_storage()
        self._at, self._size, self._meter = storage.data_ptr(), storage.nbytes(), meter
        base = tensor if tensor._base is None else tensor._base
        self._counted = not (isinstance(base, torch.nn.Parameter) or (base.is_leaf and base.requires_grad))
        if self._counted:
            meter.add(self._at, self._size)

    def __del__(self) -> None:
        if self._counted:
            self._meter.drop(self._at, self._size)


def _storages() -> dict[int, int]:
    """Bytes of all memory that tensors hold on the CPU, by address; not of tensors from before `gc.freeze`."""
    tensors = [o for o in gc.get_objects() if issubclass(type(o), torch.Tensor)]
    plain = [t.untyped_storage() for t in tensors if t.layout == torch.strided and t.device.type == "cpu"]
    return {s.data_ptr(): s.nbytes() for s in plain}
