"""A cosine classifier that trains what is below it on one task and is thrown away afterwards; and means of classes.

The loss is ``CE(sigma cos(f(x), w_c), y)`` among the task's own classes, with a factor sigma that may be learned as well.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from seqsearch.methods.base import FitReport
from seqsearch.methods.config import param
from seqsearch.methods.parts.head import new_head
from seqsearch.methods.parts.training import Descent, Group, Training, descend

Draws = Callable[[str], torch.Generator]
"""A generator by phase: ``context.generator`` or ``task.generator``."""


@dataclass(frozen=True)
class CosineTraining(Training):
    """Hyperparameters of a descent with a cosine classifier."""

    lr: float = param(0.05, "learning rate", minimum=0.0, maximum=1e30)


def cosines(features: Tensor, prototypes: Tensor) -> Tensor:
    """Cosine of each of ``features`` ``[n, d]`` with each of ``prototypes`` ``[C, d]``: ``[n, C]``."""
    return functional.normalize(features) @ functional.normalize(prototypes).T


def class_means(features: Tensor, labels: Tensor, classes: int) -> Tensor:
    """Mean of ``features`` ``[n, d]`` of each label ``0 .. classes - 1``: ``[classes, d]``."""
    return torch.stack([features[labels == label].mean(0) for label in range(classes)])


def descend_cosine(
    features_of: Callable[[Tensor], Tensor],
    trained: Sequence[Group],
    labels: Tensor,
    shape: tuple[int, int],
    config: CosineTraining,
    draws: Draws,
    factor: float | None = None,
) -> FitReport:
    """Train what gives features, in place, under a fresh cosine classifier.

    Args:
        features_of: positions ``[b]`` of images -> features ``[b, d]``.
        trained: the parameters behind them.
        labels: of all images, ``[n]``, from 0.
        shape: number of classes and of features.
        config: the descent; the classifier learns at ``config.lr``.
        draws: gives the classifier's start (``head``, as `new_head`; PILOT's is uniform within 1 / sqrt(d)) and the order of
            images (``shuffle``).
        factor: sigma, if it is given; else it is learned, from 1.
    """
    classes, dim = shape
    weight = new_head(classes, dim, draws("head"), labels.device).weight
    sigma = torch.tensor(1.0 if factor is None else factor, device=labels.device, requires_grad=factor is None)

    def loss_of(positions: Tensor) -> Tensor:
        scores = sigma * cosines(features_of(positions), weight)
        return functional.cross_entropy(scores, labels[positions.to(labels.device)])

    groups = [*trained, Group([weight, sigma] if factor is None else [weight], config.lr)]
    return descend(groups, len(labels), Descent.of(config), draws("shuffle"), loss_of)
