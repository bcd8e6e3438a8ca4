"""Figures for rewards beyond one rollout's accuracy: joint training on the same classes, and the noise of evaluated
images."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from seqsearch.core.bits import unpacked
from seqsearch.core.outcomes import HEAD, EdgeResult, Outcome
from seqsearch.core.types import ClassId, Tasks
from seqsearch.stats.accuracy import RewardKind, joint_acc


def joints_by_step(joints: Sequence[Outcome], tasks: Tasks, n_methods: int) -> list[list[float | None]]:
    """Joint accuracy by rewarded step and method: of the last steps of ``tasks``, as many as there are joint trainings for.

    ``joints`` are by step and method; none at all where none was asked for: None for each step and method.
    """
    if not joints:
        return [[None] * n_methods for _ in tasks]
    first = len(tasks) + 1 - len(joints) // n_methods
    flat = [joint_accuracy(joint, tasks[: first + i // n_methods]) for i, joint in enumerate(joints)]
    return [list(flat[i : i + n_methods]) for i in range(0, len(flat), n_methods)]


def joint_accuracy(joint: Outcome, tasks: Tasks) -> float:
    """Acc of a method that learned all classes of ``tasks`` as one task, see `metrics.accuracy.joint_acc`."""
    result, order = joint.edges[0], sorted(c for task in tasks for c in task.classes)
    right, evaluated = result.of(HEAD).correct[0], result.judged[0]
    return joint_acc(dict(zip(order, zip(right, evaluated, strict=True), strict=True)), [t.classes for t in tasks])


def combined(values: Sequence[float], weights: Sequence[float] | None) -> float:
    """One number of those of several methods: their mean, or, with ``weights``, the weighted sum."""
    return float(np.mean(values)) if weights is None else float(np.dot(weights, values))


def image_variance(
    outcomes: Sequence[Outcome],
    joints: Sequence[Outcome],
    tasks: Tasks,
    kind: RewardKind,
    weights: Sequence[float] | None = None,
) -> float:
    """Variance of the reward of the last of ``tasks`` over draws of its own evaluated images; NaN where that is unknown.

    Args:
        outcomes: of rollouts over ``tasks``, or longer ones, one for each method.
        joints: trained on all classes of ``tasks`` at once, one for each method; empty unless the reward is a gap to them.
        weights: of the methods, see `combined`.

    The images of a class are a simple random sample, classes and trainings are given. The reward is minus 1/t of the task's
    pooled accuracy (for ``gap-to-joint`` 1/t of what the joint training has more), `combined` over methods; its variance is the
    sum over classes of ``n_c s_c^2 / (t n)^2``, with ``s_c^2`` the sample variance of an image's part, so that it is unbiased and
    holds for methods, and for joint and sequential training, on the same images. Forgetting (``forgetting``) does not look at
    the last task: 0. Unknown with one image of a class, and where it was not kept which images were right.
    """
    if kind == "forgetting":
        return 0.0
    classes = [c for task in tasks for c in task.classes]
    own = [_right(o.edges[len(tasks) - 1], classes) for o in outcomes]
    at_once = [_right(o.edges[0], sorted(classes)) for o in joints]
    if not all((*own, *at_once)):
        return math.nan
    variance, images = 0.0, 0
    signs, divisor = ([1.0] * len(own), len(own)) if weights is None else (weights, 1)
    for c in tasks[-1].classes:
        part = np.dot(signs, [right[c] for right in own])
        if at_once:
            part = part - np.dot(signs, [right[c] for right in at_once])
        if len(part) < 2:
            return math.nan
        variance += len(part) * float((part / divisor).var(ddof=1))
        images += len(part)
    return variance / (len(tasks) * images) ** 2


def _right(result: EdgeResult, classes: Sequence[ClassId]) -> dict[ClassId, NDArray[np.float64]]:
    """Of each class learned, in this order, which evaluated images ``[n]`` the head got right; empty if that was not kept."""
    head, sizes = result.of(HEAD), [n for group in result.judged for n in group]
    if not head.images:
        return {}
    flags = unpacked(head.images, sum(sizes)).astype(np.float64)
    return dict(zip(classes, np.split(flags, np.cumsum(sizes)[:-1]), strict=True))
