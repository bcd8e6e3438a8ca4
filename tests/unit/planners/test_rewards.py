"""The joint accuracy that a sequence is held against, and how noisy a candidate's J is."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from seqsearch.core.bits import packed
from seqsearch.core.outcomes import HEAD, ClassifierCounts, EdgeResult, Outcome
from seqsearch.core.types import ClassId, MethodSpec, Rollout, StateKey, Task, Tasks
from seqsearch.engine.search import outcome
from seqsearch.planners.rewards import combined, image_variance, joint_accuracy, joints_by_step
from seqsearch.planners.step import Arm
from seqsearch.stats import accuracy

METHOD = MethodSpec("method", "method", "backbone", (), "digest")
Right = dict[ClassId, NDArray[np.bool_]]
"""Which images of a class are right."""


def tasks_of(*indices: Sequence[int]) -> Tasks:
    return tuple(Task(tuple(ClassId("pool", i) for i in sorted(task)), "split") for task in indices)


def evaluated(tasks: Tasks, right: Right, kept: bool = True) -> EdgeResult:
    counts = tuple(tuple(len(right[c]) for c in t.classes) for t in tasks)
    correct = tuple(tuple(int(right[c].sum()) for c in t.classes) for t in tasks)
    images = packed(np.concatenate([right[c] for t in tasks for c in t.classes])) if kept else ""
    return EdgeResult("edge", "state", "ok", counts, (ClassifierCounts(HEAD, correct, correct, images),))


def rolled(tasks: Tasks, right: Right, kept: bool = True) -> Outcome:
    """A rollout after each of whose tasks the same images are right."""
    rollout = Rollout(StateKey(METHOD, 0, 0, tasks))
    return outcome(rollout, [evaluated(tasks[:t], right, kept) for t in range(1, len(tasks) + 1)])


def at_once(tasks: Tasks, right: Right) -> Outcome:
    return rolled(tasks_of(sorted(c.index for t in tasks for c in t.classes)), right)


def drawn(rng: np.random.Generator, tasks: Tasks, sizes: Sequence[int], chances: Sequence[float]) -> Right:
    return {c: rng.random(sizes[c.index]) < chances[c.index] for t in tasks for c in t.classes}


def test_the_gap_is_0_where_every_class_is_classified_as_well_at_once() -> None:
    """Classes of 3 to 90 images, in tasks that are not in their order: pooled, the joint accuracy would be another."""
    rng, sizes = np.random.default_rng(0), (3, 90, 7, 40, 11, 5)
    tasks = tasks_of((5, 0), (3, 1), (4, 2))
    right = drawn(rng, tasks, sizes, (0.1, 0.9, 0.3, 0.8, 0.5, 0.2))
    whole = rolled(tasks, right)
    pooled = sum(r.sum() for r in right.values()) / sum(sizes)
    for t in (1, 2, 3):
        joint = joint_accuracy(at_once(tasks[:t], right), tasks[:t])
        assert accuracy.reward(whole.accuracy, t, "gap-to-joint", joint) == 0
    assert pooled - accuracy.acc(whole.accuracy) > 0.1


def test_joint_accuracies_are_of_their_steps_and_methods() -> None:
    rng, tasks = np.random.default_rng(1), tasks_of((0, 1), (2, 3), (4, 5))
    rights = [drawn(rng, tasks, [9] * 6, [chance] * 6) for chance in (0.3, 0.8)]
    joints = [at_once(tasks[:t], right) for t in (2, 3) for right in rights]
    found = joints_by_step(joints, tasks, 2)
    assert found == [[joint_accuracy(at_once(tasks[:t], right), tasks[:t]) for right in rights] for t in (2, 3)]
    assert len({value for step in found for value in step}) == 4
    assert joints_by_step([], tasks, 2)[0] == [None, None]


@pytest.mark.parametrize("kind", ["paper", "gap-to-joint"])
def test_image_variance_is_unbiased_for_methods_on_the_same_images(kind: accuracy.RewardKind) -> None:
    """Mean of the estimates over draws of images against the variance of the reward itself; the second method agrees
    with the first on two thirds of the images, the joint training on half."""
    rng, tasks, sizes = np.random.default_rng(2), tasks_of((0, 1), (2, 3)), (400, 400, 3, 12)
    chances = (0.5, 0.5, 0.3, 0.85)
    first = {c: np.ones(400, dtype=bool) for c in tasks[0].classes}
    rewards, estimates = [], []
    for _ in range(1500):
        one = drawn(rng, tasks, sizes, chances)
        other = {
            c: np.where(rng.random(len(r)) < 2 / 3, r, drawn(rng, tasks, sizes, chances)[c]) for c, r in one.items()
        }
        best = {
            c: np.where(rng.random(len(r)) < 1 / 2, r, drawn(rng, tasks, sizes, chances)[c]) for c, r in one.items()
        }
        outcomes = [rolled(tasks, {**right, **first}) for right in (one, other)]
        joints = [at_once(tasks, {**right, **first}) for right in (best, one)] if kind == "gap-to-joint" else []
        [*_, joint] = joints_by_step(joints, tasks, 2)
        pairs = zip(outcomes, joint, strict=True)
        rewards.append(np.mean([accuracy.reward(o.accuracy, 2, kind, j) for o, j in pairs]))
        estimates.append(image_variance(outcomes, joints, tasks, kind))
    assert np.mean(estimates) == pytest.approx(np.var(rewards), rel=0.1)


def test_image_variance_is_unknown_where_it_cannot_be_known_and_0_where_images_do_not_count() -> None:
    rng, tasks = np.random.default_rng(3), tasks_of((0, 1), (2, 3))
    right = drawn(rng, tasks, (5, 5, 5, 5), [0.5] * 4)
    assert image_variance([rolled(tasks, right)], [], tasks, "paper") > 0
    assert math.isnan(image_variance([rolled(tasks, right, kept=False)], [], tasks, "paper"))
    assert image_variance([rolled(tasks, right)], [at_once(tasks, right)], tasks, "gap-to-joint") == 0
    assert image_variance([rolled(tasks, right)], [], tasks, "forgetting") == 0
    single = drawn(rng, tasks, (5, 5, 1, 5), [0.5] * 4)
    assert math.isnan(image_variance([rolled(tasks, single)], [], tasks, "paper"))


def test_noise_adds_simulations_to_images() -> None:
    arm = Arm(tasks_of((0, 1))[0], image_variance=0.03**2)
    assert math.isnan(arm.noise(simulated=True))
    arm.values = [0.5]
    assert arm.noise(simulated=False) == pytest.approx(0.03)
    assert math.isnan(arm.noise(simulated=True)), "one draw does not say how much draws differ"
    arm.values = [0.5, 0.6, 0.4]
    assert arm.noise(simulated=True) == pytest.approx(math.hypot(0.03, 0.1 / math.sqrt(3)))
    arm.invalid = "diverged"
    assert math.isnan(arm.noise(simulated=True))


@pytest.mark.parametrize("kind", ["paper", "gap-to-joint"])
def test_image_variance_of_a_difference_is_unbiased(kind: accuracy.RewardKind) -> None:
    """A minus B on the same images: what they share cancels, so that the mean's variance would be far off."""
    rng, tasks, sizes = np.random.default_rng(4), tasks_of((0, 1), (2, 3)), (400, 400, 3, 12)
    chances = (0.5, 0.5, 0.3, 0.85)
    first = {c: np.ones(400, dtype=bool) for c in tasks[0].classes}
    rewards, estimates, of_mean = [], [], []
    for _ in range(1500):
        one = drawn(rng, tasks, sizes, chances)
        other, best = (
            {c: np.where(rng.random(len(r)) < 2 / 3, r, drawn(rng, tasks, sizes, chances)[c]) for c, r in one.items()}
            for _ in range(2)
        )
        outcomes = [rolled(tasks, {**right, **first}) for right in (one, other)]
        joints = [at_once(tasks, {**right, **first}) for right in (best, one)] if kind == "gap-to-joint" else []
        [*_, joint] = joints_by_step(joints, tasks, 2)
        each = [accuracy.reward(o.accuracy, 2, kind, j) for o, j in zip(outcomes, joint, strict=True)]
        rewards.append(combined(each, (1.0, -1.0)))
        estimates.append(image_variance(outcomes, joints, tasks, kind, (1.0, -1.0)))
        of_mean.append(image_variance(outcomes, joints, tasks, kind))
    assert np.mean(estimates) == pytest.approx(np.var(rewards), rel=0.1)
    assert abs(np.mean(of_mean) / np.var(rewards) - 1) > 0.2


def test_a_difference_is_a_weighted_sum_and_the_mean_stays_the_mean() -> None:
    assert combined([0.5, 0.25], (1.0, -1.0)) == 0.25
    assert combined([0.1, 0.2, 0.4], None) == float(np.mean([0.1, 0.2, 0.4]))
