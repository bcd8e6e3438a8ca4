"""Images of a run as torch Datasets."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import Dataset

from protocols.api.choice import one_of
from protocols.api.sequences import sequence_id
from seqsearch.backbones.open import build_backbone
from seqsearch.core.errors import UserError
from seqsearch.core.text import shown
from seqsearch.pools.base import PARTS, Part, Rows, View
from seqsearch.study.run_images import SplitImages, images_of_run
from seqsearch.study.run_settings import refers_to_code, run_settings
from seqsearch.training.world import World


class TaskDataset(Dataset[tuple[Tensor, int]]):
    """Images of one part of some classes.

    Attributes:
        classes: names of the classes; a label is a place in this list.
        targets: all labels ``[n]``.
        view: size and cut of the images, those of the run's backbone.
    """

    def __init__(self, world: World, view: View, rows: Rows, labels: Rows, classes: list[str]) -> None:
        self._world, self.view, self._rows = world, view, rows
        self.targets, self.classes = labels.tolist(), classes

    def __repr__(self) -> str:
        return f"<{len(self)} images of {len(self.classes)} classes, {self.view.size} px>"

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, index: int) -> tuple[Tensor, int]:
        return self.__getitems__([index])[0]

    def __getitems__(self, indices: list[int]) -> list[tuple[Tensor, int]]:
        """A batch of a DataLoader, decoded at once."""
        images = torch.from_numpy(np.ascontiguousarray(self._world.images.images(self._rows[indices], self.view)))
        return [(image, self.targets[i]) for image, i in zip(images, indices, strict=True)]


def task_dataset(
    run: Path, part: Part | Sequence[Part], task: int | None, sequence: Any, pool: str | None, view: View | None
) -> TaskDataset:
    """See `protocols.api.run.Run.split`."""
    parts = [part] if isinstance(part, str) else list(part)
    for name in parts or ("",):
        one_of(name, PARTS, "there is no part")
    if view is not None and not isinstance(view, View):
        raise UserError("view must be a seqsearch.pools.base.View, e.g. View(size=224)")
    found = images_of_run(run, pool)
    world = found.world
    indices = list(found.classes) if task is None else _classes(found, run, task, sequence)
    found_rows = [world.rows(world.class_ids(indices), p) for p in parts]
    rows, positions = (np.concatenate(together) for together in zip(*found_rows, strict=True))
    return TaskDataset(world, view or _view(run), rows, positions, [world.images.classes[i].name for i in indices])


def _view(run: Path) -> View:
    """The view of the run's backbone.

    Raises:
        UserError: its weights are not there, or it is custom code, which is not run unasked.
    """
    said = run_settings(run)
    if refers_to_code(said["backbone"]):
        raise UserError(
            f"{run} names a backbone of custom code, {shown(said['backbone'])[:200]}: say how images are to be cut, e.g. "
            "view=seqsearch.pools.base.View(size=224)"
        )
    weights = dict(text.split("=", 1) for text in said.get("weights", ()))
    return build_backbone(said["backbone"], weights, said.get("precision", "float32")).view


def _classes(found: SplitImages, run: Path, task: int, sequence: Any) -> list[int]:
    """Indices of the classes of one task, in order of arrival.

    Raises:
        UserError: no such sequence or task.
    """
    there = {s.sequence_id: s for s in found.sequences or ()}
    if not there:
        raise UserError(f"run {run} has no sequences yet")
    name = next(iter(there)) if sequence is None else sequence_id(sequence, there, run)
    tasks = there[name].tasks
    if not isinstance(task, int | np.integer) or not 0 <= task < len(tasks):
        raise UserError(f"sequence {name} has no task {task!r}: it has {len(tasks)}, counted from 0")
    return [found.world.class_index(c) for c in tasks[task].classes]
