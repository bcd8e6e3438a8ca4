"""Features of the images of found sequences: similarity of tasks, and points for a map of each sequence.

Fig. 4(b) and Figs. 14 to 17 of "CLDyB: Towards Dynamic Benchmarking for Continual Learning with Pre-trained Models".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import torch
from numpy.typing import NDArray

from protocols.evaluate.assess.world import is_custom_backbone, methods_of, world_of
from protocols.evaluate.compare.runs import ComparedRun
from seqsearch.backbones.base import FromScratch
from seqsearch.core.errors import UserError
from seqsearch.core.types import ClassId
from seqsearch.features.geometry import unit_rows
from seqsearch.features.store import UnionFeatures
from seqsearch.results.rows import TaskSequence
from seqsearch.results.run import FOUND
from seqsearch.storage.files import cache_root
from seqsearch.training.world import World

Float64 = NDArray[np.float64]
ON_MAP = 5
"""Images of a class on a map, at most."""
NEIGHBOURS = 30.0
"""Perplexity of t-SNE, or a quarter of the points where these are few."""


@dataclass(frozen=True)
class Unavailable:
    """Why there are no features."""

    because: str


@dataclass(frozen=True, eq=False)
class ImageFeatures:
    """Features of the frozen ``backbone``: of each class up to ``images`` training images, as unit vectors ``[n, d]``."""

    backbone: str
    images: int
    of_class: Mapping[ClassId, NDArray[np.float32]]


@dataclass(frozen=True, eq=False)
class Similarities:
    """Similarity of tasks ``[T, T]`` by method, mean over its own sequences, as cosines; pairs of one task are NaN.

    ``vectors``: of all pairs of different tasks, rescaled to [0, 1] by the lowest and the highest of all methods (s of Eq. 5).
    """

    matrices: Mapping[str, Float64]
    vectors: Mapping[str, Float64]


@dataclass(frozen=True, eq=False)
class TaskMap:
    """Images of a sequence as points ``[n, 2]`` of t-SNE, and the task of each ``[n]``, from 0."""

    sequence: str
    points: Float64
    tasks: NDArray[np.int64]


def image_features(runs: Sequence[ComparedRun], pool: str | None, images: int, device: str) -> ImageFeatures:
    """Of all classes of found sequences, by the first pre-trained backbone of the runs; cached where runs cache theirs.

    Args:
        pool: where the images of the runs lie now, if elsewhere.
        images: of a class.

    Raises:
        UserError: the pool is not here or is another one, an image cannot be read, or no backbone is pre-trained.
    """
    world, name = _pretrained(runs, pool, device)
    found = (s for run in runs for s in run.data.sequences if s.kind in FOUND)
    classes = dict.fromkeys(c for s in found for t in s.tasks for c in t.classes)
    features = UnionFeatures(cache_root(), world.images, world.backbone(name), torch.device(device))
    rows = {c: world.rows((c,), "train")[0][:images] for c in classes}
    return ImageFeatures(name, images, {c: unit_rows(features.rows(own)) for c, own in rows.items()})


def _pretrained(runs: Sequence[ComparedRun], pool: str | None, device: str) -> tuple[World, str]:
    """The world of the first run that has such a backbone, and its name."""
    for run in runs:
        world = world_of(run.path, pool, "", device)
        for name in dict.fromkeys(name for _, name in methods_of(run.path) if name and not is_custom_backbone(name)):
            if not isinstance(world.backbone(name), FromScratch):
                return world, name
    raise UserError("all backbones begin from scratch, or are custom code of the runs, which is not executed")


def task_similarity(features: ImageFeatures, sequence: TaskSequence) -> Float64:
    """Mean cosine over all pairs of an image of one task and one of another ``[T, T]``; the diagonal is NaN."""
    means = np.stack(
        [
            np.concatenate([features.of_class[c] for c in task.classes]).mean(axis=0, dtype=np.float64)
            for task in sequence.tasks
        ]
    )
    cosines: Float64 = means @ means.T  # the mean of all products is the product of the means
    np.fill_diagonal(cosines, np.nan)
    return cosines


def similarities(features: ImageFeatures, own: Mapping[str, Sequence[TaskSequence]]) -> Similarities:
    """Of the sequences that were found for each method alone."""
    matrices = {m: np.mean([task_similarity(features, s) for s in sequences], axis=0) for m, sequences in own.items()}
    tasks = len(next(iter(matrices.values())))
    pairs = tuple(zip(*combinations(range(tasks), 2), strict=True)) or ((), ())
    flat = {m: matrix[pairs] for m, matrix in matrices.items()}
    values = np.concatenate([*flat.values()])
    low, high = (values.min(), values.max()) if len(values) else (0.0, 0.0)
    span = high - low if high > low else 1.0
    return Similarities(matrices, {m: (v - low) / span for m, v in flat.items()})


def task_map(features: ImageFeatures, sequence: TaskSequence) -> TaskMap | None:
    """t-SNE of a few images of each class, from a fixed seed, begun at their principal components; None for fewer than four."""
    from sklearn.manifold import TSNE

    parts = [np.concatenate([features.of_class[c][:ON_MAP] for c in task.classes]) for task in sequence.tasks]
    points = np.concatenate(parts)
    if len(points) < 4:
        return None
    embed = TSNE(perplexity=min(NEIGHBOURS, len(points) / 4), init="pca", random_state=0)
    tasks = np.repeat(np.arange(len(parts)), [len(p) for p in parts])
    return TaskMap(sequence.sequence_id, embed.fit_transform(points).astype(np.float64), tasks)
