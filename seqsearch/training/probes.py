"""Answers to probes: class prototypes, kNN negative log-likelihoods and confusions, from one state.

Prototypes are asked for in fixed blocks of classes and kNN features are computed class by class, so that no bit of an answer
depends on how the work was divided among workers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from seqsearch.core.types import ClassId, Probe, Task
from seqsearch.features.geometry import knn_nll

if TYPE_CHECKING:
    import torch

    from seqsearch.pools.base import Rows
    from seqsearch.training.world import World

BLOCK_CLASSES = 128
"""Classes in one prototype probe."""
BLOCK_TASKS = 8
"""Tasks in one kNN probe."""

FeaturesOf = Callable[[int, str, "Rows"], NDArray[np.float32]]
"""``(class index or block, part, rows [n]) -> [n, d]``."""


ScoresOf = Callable[["Rows"], "torch.Tensor"]
"""``rows [n] -> [n, classes seen]``."""


def answer(probe: Probe, world: World, features: FeaturesOf, scores: ScoresOf) -> NDArray[np.float32]:
    """Prototypes ``[C, d]`` or confusion ``[C, seen]`` of ``probe.classes``, or mean kNN NLL ``[n]`` of ``probe.tasks``."""
    options = dict(probe.options)
    if probe.kind == "prototypes":
        images = options["images"]
        return _prototypes(probe.classes, world, features, None if images is None else int(images))
    if probe.kind == "confusion":
        return np.stack([_taken_for(c, world, scores) for c in probe.classes])
    nll = [_nll(task, probe.prefix, world, features, options) for task in probe.tasks]
    return np.array(nll, dtype=np.float32)


def _prototypes(
    classes: tuple[ClassId, ...], world: World, features: FeaturesOf, images: int | None
) -> NDArray[np.float32]:
    rows = [world.split.rows(world.class_index(c), "train")[:images] for c in classes]
    found = features(-1 - world.class_index(classes[0]), "probe", np.concatenate(rows))
    ends = np.cumsum([len(r) for r in rows])
    return np.stack([part.mean(0) for part in np.split(found, ends[:-1])])


def _taken_for(class_id: ClassId, world: World, scores: ScoresOf) -> NDArray[np.float32]:
    """How many reward images of a class are taken for each class seen, in the order in which they were learned ``[seen]``."""
    found = scores(world.split.rows(world.class_index(class_id), "reward"))
    taken: NDArray[np.float32] = np.bincount(found.argmax(1).numpy(), minlength=found.shape[1]).astype(np.float32)
    return taken


def _nll(task: Task, prefix: tuple[Task, ...], world: World, features: FeaturesOf, options: dict[str, Any]) -> float:
    """Algorithm 2, line 4: neighbours from training images, queries from reward images."""
    neighbours = task.classes
    if options["scope"] == "seen":
        neighbours += tuple(c for t in prefix for c in t.classes)
    images = int(options["images"])
    train, train_labels = _of_classes(neighbours, "train", world, features, images)
    queries, query_labels = _of_classes(task.classes, "reward", world, features, images)
    return knn_nll(
        train,
        train_labels,
        queries,
        query_labels,
        k=int(options["k"]),
        temperature=float(options["temperature"]),
        device=world.device,
    )


def _of_classes(
    classes: tuple[ClassId, ...], part: Any, world: World, features: FeaturesOf, images: int
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    indices = [world.class_index(c) for c in classes]
    found = [features(i, part, world.split.rows(i, part)[:images]) for i in indices]
    return np.concatenate(found), np.repeat(np.arange(len(found)), [len(f) for f in found])
