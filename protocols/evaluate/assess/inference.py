"""Passes and latency of prediction: each method learns a found sequence from few images, then predicts test images.

How long a prediction takes does not depend on how well a method has learned; it does depend on what it has added task by task.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch.utils.flop_counter import FlopCounterMode

from protocols.evaluate.assess.world import is_custom, is_custom_backbone, methods_of, world_of
from seqsearch.core.errors import UserError
from seqsearch.core.types import MethodSpec, StateKey, Task
from seqsearch.methods.data import Batch, TaskData
from seqsearch.results.run import FOUND
from seqsearch.results.schema import SEQUENCES
from seqsearch.results.tables import read_sequences
from seqsearch.training.process import seed_generators
from seqsearch.training.trainer import Trainer

if TYPE_CHECKING:
    from seqsearch.methods.base import Method
    from seqsearch.pools.base import Rows
    from seqsearch.training.context import PoolSource

LEARNED = 5
"""Training images of a class that a method learns from."""
BATCH = 32
"""Test images that are predicted at a time, at most."""
REPEATS = 5


@dataclass(frozen=True)
class Inference:
    """Of a method after all tasks of a sequence, on one device.

    Attributes:
        passes: floating-point operations of a prediction, divided by those of one pass of the backbone.
        seconds: for an image in a batch of ``batch``, the fastest of several predictions on one thread; decoding is not counted.
    """

    passes: float | None
    seconds: float
    batch: int


def measure_inference(
    run: Path, pool: str | None, device: str, known: Collection[str], report: Callable[[str], None]
) -> tuple[dict[str, Inference], list[str]]:
    """Of the methods of a run, by label; and what could not be measured.

    Args:
        pool: where its images lie now, if elsewhere.
        known: labels of methods that were measured before.
        report: is given the name of each method before it is measured.

    Raises:
        UserError: the pool is not here or is another one, or the run has no found sequence.
    """
    found, troubles = dict[str, Inference](), list[str]()
    with tempfile.TemporaryDirectory() as scratch:
        trainer = Trainer(world_of(run, pool, scratch, device))
        sequence = next((s for s in read_sequences(run / SEQUENCES.file) if s.kind in FOUND), None)
        if sequence is None:
            raise UserError(f"run {run} has no found sequence that latency could be measured on")
        for item, backbone in methods_of(run):
            if item.text in known:
                continue
            if is_custom(item) or is_custom_backbone(backbone):
                troubles.append(f"{item.text}: custom code of a run is not executed, so its latency was not measured.")
                continue
            report(item.text)
            found[item.text] = _measured(trainer, trainer.world.spec(item, backbone), sequence.tasks)
    return found, troubles


def _measured(trainer: Trainer, spec: MethodSpec, tasks: tuple[Task, ...]) -> Inference:
    """Learn all tasks from few images, then predict images of all classes."""
    method = trainer.fresh(StateKey(spec, 0, 0, ()))
    for n in range(1, len(tasks) + 1):
        key = StateKey(spec, 0, 0, tasks[:n])
        seed_generators(key.home, "learn")
        trainer.scenario.learn(method, key, lambda data: method.fit_task(_few(data)))
    classes = tuple(c for task in tasks for c in task.classes)
    rows, _ = trainer.world.rows(classes, "test")
    return _timed(method, _Deployed(trainer.source(spec.backbone), rows[:: max(1, len(rows) // BATCH)][:BATCH]))


def _few(data: TaskData) -> TaskData:
    """Of each class the first `LEARNED` training images."""
    labels = data.train.targets.cpu().numpy()
    first = np.concatenate([np.flatnonzero(labels == c)[:LEARNED] for c in np.unique(labels)])
    return replace(data, train=data.train.select(np.sort(first)))


def _timed(method: Method, source: _Deployed) -> Inference:
    taken = []
    with _one_thread(), torch.no_grad():
        method.predict(source.batch())  # whatever is built once
        once = _operations(lambda: source.frozen(source.batch().indices))
        passes = _operations(lambda: method.predict(source.batch())) / once if once else None
        for _ in range(REPEATS):
            batch = source.batch()
            begin = time.perf_counter()
            method.predict(batch).cpu()  # waits for the device
            taken.append(time.perf_counter() - begin)
    n = len(source.rows)
    return Inference(passes, min(taken) / n, n)


@contextmanager
def _one_thread() -> Iterator[None]:
    """As workers compute: other threads would wait for each other on a busy machine."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def _operations(compute: Callable[[], object]) -> int:
    """Floating-point operations of products, convolutions and attention."""
    with FlopCounterMode(display=False) as counter:
        compute()
    found: int = counter.get_total_flops()
    return found


class _Deployed:
    """Images as a deployed model gets them: decoded, none seen before, and without features from a cache."""

    def __init__(self, source: PoolSource, rows: Rows) -> None:
        self.rows = rows
        self._source, self._images = source, source.images(rows)
        self._place = {int(row): i for i, row in enumerate(rows)}
        self._frozen: Mapping[int, torch.Tensor] = {}

    def batch(self) -> Batch:
        """All images, as if for the first time."""
        self._frozen = {}
        return Batch(self.rows, self)

    def images(self, rows: Rows) -> torch.Tensor:
        return self._images[[self._place[int(row)] for row in rows]]

    def texts(self, rows: Rows) -> list[str]:
        return self._source.texts(rows)

    def tokens(self, rows: Rows, generator: torch.Generator | None = None) -> dict[str, torch.Tensor]:
        return self._source.tokens(rows, generator)

    def frozen(self, rows: Rows) -> torch.Tensor:
        """One pass for each image of a batch, whoever asks how often."""
        missing = [int(row) for row in rows if int(row) not in self._frozen]
        if missing:
            batch = Batch(np.array(missing), self)
            seen = self._source.features.network.module(batch.inputs)
            self._frozen = {**self._frozen, **dict(zip(missing, seen, strict=True))}
        return torch.stack([self._frozen[int(row)] for row in rows])

    def remembered(self, space: str, rows: Rows, look: Callable[[Batch], torch.Tensor]) -> torch.Tensor:
        return look(Batch(rows, self))
