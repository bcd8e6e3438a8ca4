"""Images of a run as torch Datasets."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import Dataset

from seqsearch.core.errors import UserError
from seqsearch.core.text import did_you_mean
from seqsearch.pools.base import PARTS, Part, Rows, View
from seqsearch.study.run_images import SplitImages, images_of_run
from seqsearch.training.world import World

SIDE = 224
"""Side in pixels of images whose stored sizes vary."""


class TaskDataset(Dataset[tuple[Tensor, int]]):
    """Images of one part of some classes.

    Attributes:
        classes: names of the classes; a label is a place in this list.
        targets: all labels ``[n]``.
    """

    def __init__(self, world: World, rows: Rows, labels: Rows, classes: list[str]) -> None:
        self._world, self._rows = world, rows
        self.targets, self.classes = labels.tolist(), classes
        side = {pool.native_size for pool in world.images.parts}
        self.view = View(size=side.pop() if len(side) == 1 and min(side) > 0 else SIDE)

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, index: int) -> tuple[Tensor, int]:
        rows = self._rows[[index]]
        return torch.from_numpy(np.ascontiguousarray(self._world.images.images(rows, self.view)[0])), self.targets[
            index
        ]


def task_dataset(run: Path, part: Part, task: int | None, sequence: str | None, pool: str | None) -> TaskDataset:
    """See `protocols.api.run.Run.split`."""
    if part not in get_args(Part):
        raise UserError(f"no part {part!r}; {did_you_mean(str(part), PARTS)}there are {', '.join(PARTS)}")
    found = images_of_run(run, pool)
    world = found.world
    indices = list(found.classes) if task is None else _classes(found, run, task, sequence)
    rows, positions = world.rows(world.class_ids(indices), part)
    return TaskDataset(world, rows, positions, [world.images.classes[i].name for i in indices])


def _classes(found: SplitImages, run: Path, task: int, sequence: str | None) -> list[int]:
    """Indices of the classes of one task, in order of arrival.

    Raises:
        UserError: no such sequence or task.
    """
    there = {s.sequence_id: s for s in found.sequences or ()}
    if not there:
        raise UserError(f"run {run} has no sequences yet")
    name = next(iter(there)) if sequence is None else sequence
    if name not in there:
        raise UserError(
            f"run {run} has no sequence {name!r}; {did_you_mean(name, there)}there are {', '.join(list(there)[:20])}"
        )
    tasks = there[name].tasks
    if not 0 <= task < len(tasks):
        raise UserError(f"sequence {name} has no task {task}: it has {len(tasks)}, counted from 0")
    return [found.world.class_index(c) for c in tasks[task].classes]
